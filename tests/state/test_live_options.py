"""What options keep beside the slots, in the middle of it: averages, accumulators, loss scales, schedules."""

import numpy as np
import pytest
from actors import FIRST, actors, gradients

import compat_opt as co
from compat_opt import state
from compat_opt.errors import StateError
from compat_opt.testing.compare import assert_close

ROWS = gradients(12, seed=3)
NAMES = list(FIRST)


def going_on(source, goal, hypers, steps, more=None):
    """Move after `steps` calls; both trajectories' ends must agree. Returns the report and the record."""
    optimizer, variables = source.make(**hypers), source.variables()
    middle = source.run(optimizer, variables, ROWS[:steps])
    record = state.read(optimizer, variables)
    expected = source.run(optimizer, variables, ROWS[steps:])
    other, moved = goal.make(**dict(hypers, **more or {})), goal.variables(middle)
    report = state.write(other, record, moved)
    actual = goal.run(other, moved, ROWS[steps:])
    for name, one, two in zip(NAMES, actual, expected):
        assert_close(one, two, 2e-6, "%s to %s, %s" % (source, goal, name), smallest=1.0)
    return report, record


def having(option, name="Adam"):
    """Actors whose classes have an option."""
    found = []
    for actor in actors(name):
        try:
            actor.make(**{option: {"use_ema": True, "gradient_accumulation_steps": 3}[option]})
        except (TypeError, ValueError):
            continue
        found.append(actor)
    return found


def neighbours(found):
    return [(a, found[(i + 1) % len(found)]) for i, a in enumerate(found)]


def test_moving_averages_go_on():
    hypers = dict(learning_rate=0.05, use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=4)
    for source, goal in neighbours(having("use_ema")):
        _, record = going_on(source, goal, hypers, 6)
        assert set(record.averages) == set(record.slots) and len(record.averages) == 3


def test_in_the_middle_of_an_accumulation():
    hypers = dict(learning_rate=0.05, gradient_accumulation_steps=3)
    for source, goal in neighbours(having("gradient_accumulation_steps")):
        optimizer = source.make(**hypers)
        if source.native and not hasattr(optimizer, "_accumulated_gradients") and optimizer.iterations is optimizer._iterations:
            continue  # this Keras 3 corrects its bias by calls, not by updates: it is another formula
        _, record = going_on(source, goal, hypers, 5)
        assert (record.iterations, record.micro_step) == (1, 2)
        total = ROWS[3][1].astype("float64") + ROWS[4][1]
        assert_close(list(record.accumulators.values())[1], total, 1e-6, "the sum of two calls")


def test_a_sum_that_has_no_place_is_refused():
    actor = [a for a in actors("Adam") if not a.native][0]
    optimizer, variables = actor.make(gradient_accumulation_steps=3), actor.variables()
    actor.run(optimizer, variables, ROWS[:2])
    record = state.read(optimizer)
    with pytest.raises(StateError, match="dropped accumulator of .*kernel"):
        state.write(actor.make(), record, variables)
    with pytest.raises(StateError, match="Expected: fewer than 2 calls since the last update. Received: micro_step=2"):
        state.write(actor.make(gradient_accumulation_steps=2), record, variables)
    actor.run(optimizer, variables, ROWS[2:3])
    assert not state.write(actor.make(), state.read(optimizer), variables).of_kind("refused")


def test_an_average_that_the_record_lacks_starts_at_the_weights():
    """Keras 3 starts its averages at 0 and replaces them at the very first step only."""
    for goal in having("use_ema"):
        source = [a for a in actors("Adam") if a.target == goal.target and not a.native][0]
        optimizer, variables = source.make(learning_rate=0.05), source.variables()
        middle = source.run(optimizer, variables, ROWS[:4])
        moved = goal.variables(middle)
        other = goal.make(learning_rate=0.05, use_ema=True, ema_momentum=0.5)
        report = state.write(other, state.read(optimizer, variables), moved)
        assert len(report.of_kind("defaulted")) == 3
        after = goal.run(other, moved, ROWS[4:5])
        averages = list(state.read(other, moved).averages.values())
        for average, before, now in zip(averages, middle, after):
            assert_close(average, 0.5 * before + 0.5 * now, 1e-6, str(goal))


def test_a_schedule_is_named_and_stays():
    actor = [a for a in actors("Adam") if not a.native][0]
    schedules = actor_schedules(actor)
    optimizer = actor.make(learning_rate=schedules.ExponentialDecay(0.1, 2, 0.5))
    variables = actor.variables()
    actor.run(optimizer, variables, ROWS[:3])
    record = state.read(optimizer)
    assert record.hypers["learning_rate"]["class_name"] == "ExponentialDecay"
    report = state.write(actor.make(learning_rate=schedules.ExponentialDecay(0.2, 2, 0.5)), record, variables)
    assert [line.what for line in report.of_kind("kept")] == ["learning_rate"]
    with pytest.raises(StateError) as caught:
        state.write(actor.make(learning_rate=0.1), record, variables)
    assert "kept learning_rate: the schedule ExponentialDecay in the record, 0.1 here" in str(caught.value)
    state.write(actor.make(learning_rate=0.1), record, variables, hypers=False)


def actor_schedules(actor):
    if actor.target.namespace.startswith("tf.keras"):
        import tensorflow as tf

        return tf.keras.optimizers.schedules
    import importlib

    return importlib.import_module(actor.target.namespace.split(".")[0]).optimizers.schedules


def test_hyperparameters_come_along():
    for actor in actors("Adam"):
        optimizer, variables = actor.make(learning_rate=0.25, beta_1=0.5), actor.variables()
        actor.run(optimizer, variables, ROWS[:2])
        other = actor.make()
        report = state.write(other, state.read(optimizer, variables), variables)
        assert [line.what for line in report.of_kind("set")] == ["learning_rate", "beta_1"], str(actor)
        record = state.read(other, variables)
        assert (record.hypers["learning_rate"], record.hypers["beta_1"]) == (0.25, 0.5), str(actor)


def test_options_stay_and_are_named():
    for actor in actors("Adam"):
        try:
            optimizer, variables = actor.make(clipnorm=0.5), actor.variables()
        except TypeError:
            continue
        actor.run(optimizer, variables, ROWS[:1])
        report = state.write(actor.make(), state.read(optimizer, variables), variables)
        assert [line.what for line in report.of_kind("kept")] == ["clipnorm"], str(actor)


def test_a_static_hyperparameter_is_not_changed_in_silence():
    actor = [a for a in actors("SGD") if not a.native][0]
    optimizer, variables = actor.make(momentum=0.9, nesterov=True), actor.variables()
    actor.run(optimizer, variables, ROWS[:1])
    with pytest.raises(StateError, match="kept nesterov: True in the record, False here"):
        state.write(actor.make(momentum=0.9), state.read(optimizer), variables)


def test_classes_with_another_formula_say_so():
    """Nadam's product of momenta is made anew where the class has another schedule of them."""
    found = {a.target.generation: a for a in actors("Nadam") if a.native}
    if "optimizer_v2" not in found or len(found) == 1:
        pytest.skip("one generation of native Nadams only: no other formula here")
    source = found.pop("optimizer_v2")
    optimizer, variables = source.make(learning_rate=0.01), source.variables()
    middle = source.run(optimizer, variables, ROWS[:4])
    record = state.read(optimizer)
    product = np.prod([0.9 * (1 - 0.5 * 0.96 ** (0.004 * t)) for t in range(1, 5)])
    assert_close(record.shared["momentum_product"], product, 1e-5, "the product as OptimizerV2 has it")
    for goal in found.values():
        moved = goal.variables(middle)
        other = goal.make(learning_rate=0.01)
        report = state.write(other, record, moved)
        assert [line.what for line in report.of_kind("differs")] == ["schedule_decay"]
        product = np.prod([0.9 * (1 - 0.5 * 0.96 ** t) for t in range(1, 5)])
        assert_close(state.read(other).shared["momentum_product"], product, 1e-5, str(goal))


def wrapped(actor, optimizer):
    """A LossScaleOptimizer around an optimizer, or None where the target's Keras has none for it."""
    import importlib

    if actor.target.namespace.startswith("tf.keras"):
        import tensorflow as tf

        keras = tf.keras
    else:
        keras = importlib.import_module(actor.target.namespace.split(".")[0])
    if actor.target.namespace == "keras":
        return keras.optimizers.LossScaleOptimizer(optimizer, initial_scale=256.0)
    if hasattr(keras.mixed_precision, "LossScaleOptimizer"):
        return keras.mixed_precision.LossScaleOptimizer(optimizer, initial_scale=256.0)
    return keras.mixed_precision.experimental.LossScaleOptimizer(optimizer, "dynamic")


def test_loss_scale_wrappers_are_seen_through():
    for actor in actors("Adam"):
        inner, variables = actor.make(learning_rate=0.01), actor.variables()
        actor.run(inner, variables, ROWS[:2])
        plain = state.read(inner, variables)
        outer = wrapped(actor, actor.make(learning_rate=0.01))
        report = state.write(outer, plain, variables)
        assert report.of_kind("moved") or report.of_kind("renamed")
        record = state.read(outer, variables)
        assert record.loss_scale is not None and record.loss_scale["good_steps"] == 0, str(actor)
        assert not [d for d in record.diff(plain) if d.where not in ("loss_scale", "options")], str(actor)
        record.loss_scale = {"scale": 64.0, "good_steps": 5}
        state.write(outer, record, variables)
        assert state.read(outer, variables).loss_scale == {"scale": 64.0, "good_steps": 5}, str(actor)
        report = state.write(inner, record, variables)
        assert [line.what for line in report.of_kind("dropped")] == ["loss scale"]
