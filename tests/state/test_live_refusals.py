"""What can't be moved is refused before anything has changed, and says what and why."""

import numpy as np
import pytest
from actors import FIRST, actors, gradients

import compat_opt as co
from compat_opt import state
from compat_opt.adapters import compile_rule
from compat_opt.errors import StateError

ROWS = gradients(6, seed=5)


def trained(actor, steps=3, **hypers):
    optimizer, variables = actor.make(**hypers), actor.variables()
    actor.run(optimizer, variables, ROWS[:steps])
    return optimizer, variables


def snapshot(optimizer, variables):
    return state.read(optimizer, variables)


@pytest.mark.parametrize("native", [False, True])
def test_nothing_changes_when_a_piece_does_not_fit(native):
    for actor in actors("Adam"):
        if actor.native != native:
            continue
        optimizer, variables = trained(actor, learning_rate=0.5)
        record = snapshot(optimizer, variables)
        record.hypers["learning_rate"] = 0.25
        last = list(record.slots)[-1]
        record.slots[last]["velocity"] = np.zeros((7,), "float32")
        before = snapshot(optimizer, variables)
        with pytest.raises(StateError, match=r"velocity of .* does not fit. Expected: shape \(3, 2\). Received: shape \(7,\)"):
            state.write(optimizer, record, variables)
        assert snapshot(optimizer, variables) == before, str(actor)


def test_layers_that_came_or_went_are_a_report_and_no_shift():
    values, names = list(FIRST.values()), list(FIRST)
    for actor in actors("Adam"):
        source = actor.make()
        variables = actor.variables(values[:1] + values[2:], names[:1] + names[2:])
        actor.run(source, variables, [row[:1] + row[2:] for row in ROWS[:3]])
        record = state.read(source, variables)
        more = actor.variables()
        goal = actor.make()
        report = state.write(goal, record, more)
        assert sorted(line.what for line in report.of_kind("defaulted")) == ["momentum of d1/bias", "velocity of d1/bias"]
        moved = state.read(goal, more)
        for path in ("d1/kernel", "d2/kernel"):
            assert np.array_equal(moved.slots[path]["momentum"], record.slots[path]["momentum"]), str(actor)
        assert not np.any(moved.slots["d1/bias"]["momentum"])
        fewer = actor.variables(values[:1], names[:1])
        with pytest.raises(StateError, match="dropped momentum of d2/kernel: the optimizer has no such variable"):
            state.write(actor.make(), record, fewer)
        goal = actor.make()
        report = state.write(goal, record, fewer, strict=False)
        assert len(report.of_kind("dropped")) == 2
        assert np.array_equal(state.read(goal, fewer).slots["d1/kernel"]["velocity"], record.slots["d1/kernel"]["velocity"])


def test_another_algorithm_is_refused():
    for actor in actors("Adam"):
        optimizer, variables = trained(actor)
        record = snapshot(optimizer, variables)
        for other in actors("Adagrad"):
            if other.target == actor.target:
                with pytest.raises(StateError, match="another algorithm. Expected: Adagrad. Received: a record of Adam"):
                    state.write(other.make(), record, variables)


def test_adam_goes_on_as_adamw():
    actor = [a for a in actors("Adam") if not a.native][0]
    optimizer, variables = trained(actor)
    goal = compile_rule(co.rules.AdamW, actor.target)(weight_decay=0.1)
    report = state.write(goal, snapshot(optimizer, variables), variables)
    assert [line.what for line in report.of_kind("differs")] == ["algorithm"] and not report.of_kind("dropped")
    assert [line.what for line in report.of_kind("kept")] == ["weight_decay"]
    assert state.read(goal).hypers["weight_decay"] == 0.1


def test_without_variables_an_unbuilt_optimizer_is_refused():
    for actor in actors("Adam"):
        optimizer, variables = trained(actor)
        record = snapshot(optimizer, variables)
        with pytest.raises(StateError, match="has not met its variables yet. Expected: variables=model.trainable_variables"):
            state.write(actor.make(), record)


def test_variables_without_a_namesake_are_named_with_the_way_out():
    actor = next(a for a in actors("Adam") if not a.native)
    record = snapshot(*trained(actor))
    other = actor.make()
    with pytest.raises(StateError, match=r"Without a namesake: d2/kernel in the record, d9/kernel in the optimizer. Say which is which with renames="):
        state.write(other, record, actor.variables(names=["d1/kernel", "d1/bias", "d9/kernel"]))


def test_the_decay_of_optimizer_v2_is_the_same_number_in_float32():
    actor = next(a for a in actors("Adam") if not a.native)
    record = snapshot(*trained(actor, decay=0.1))
    record.hypers["decay"] = float(np.float32(0.1))
    other, variables = actor.make(decay=0.1), actor.variables()
    state.write(other, record, variables)
    assert state.read(other, variables).hypers["decay"] == 0.1
    record.hypers["decay"] = 0.2
    with pytest.raises(StateError, match="decay: 0.2 in the record, 0.1 here"):
        state.write(other, record, variables)


def test_amsgrad_has_no_place_without_it():
    for actor in actors("Adam"):
        optimizer, variables = trained(actor, amsgrad=True)
        with pytest.raises(StateError) as caught:
            state.write(actor.make(), snapshot(optimizer, variables), variables)
        assert "amsgrad: True in the record, False here" in str(caught.value)
        assert "dropped velocity_hat of d1/kernel" in str(caught.value)


def test_a_count_that_is_too_large_is_not_wrapped_around():
    for actor in actors("SGD"):
        optimizer, variables = trained(actor, momentum=0.5)
        record = snapshot(optimizer, variables)
        record.iterations = 2 ** 40
        if actor.target.backend == "tensorflow":
            state.write(optimizer, record, variables)
            assert snapshot(optimizer, variables).iterations == 2 ** 40
        else:
            with pytest.raises(StateError, match="iterations is too large for the optimizer"):
                state.write(optimizer, record, variables)


def test_state_that_waits_for_variables_is_named():
    actor = [a for a in actors("Adam") if not a.native][0]
    optimizer, variables = trained(actor)
    waiting = actor.make()
    waiting.set_weights(optimizer.get_weights())
    with pytest.raises(StateError, match="waits for them"):
        state.read(waiting)


@pytest.mark.parametrize("built", [False, True], ids=["before the first step", "after it"])
def test_weights_that_do_not_fit_change_nothing(built):
    """set_weights of a wrong count, a wrong shape, or of another optimizer: nothing has changed then."""
    actor = [a for a in actors("Adam") if not a.native][0]
    optimizer, variables = trained(actor)
    good = optimizer.get_weights()
    foreign = compile_rule(co.rules.SGD, actor.target)(momentum=0.9)
    actor.run(foreign, actor.variables(), ROWS[:3])
    spoiled = {
        "one too few": good[:-1],
        "one too many": good + [good[-1]],
        "another shape": good[:-1] + [np.zeros((7,), "float32")],
        "two exchanged": good[:-3] + [good[-1], good[-2], good[-3]],
        "another optimizer's": foreign.get_weights(),
    }
    for what, weights in spoiled.items():
        goal = trained(actor, steps=1)[0] if built else actor.make()
        own = actor.variables()
        before = snapshot(goal, own) if built else None
        with pytest.raises(StateError):
            goal.set_weights(weights)
            actor.run(goal, own, ROWS[:1])  # what waits is compared with the variables at the first step
            pytest.fail(what)
        if built:
            assert snapshot(goal, own) == before, what


def test_a_class_that_no_table_knows():
    natives = [a for a in actors("SGD") if a.native]
    if not natives:
        pytest.skip("no native optimizers without a framework")
    base = natives[0].native_class().__mro__[1]

    class Unknown(base):
        def get_config(self):
            return {}

    unknown = Unknown.__new__(Unknown)
    with pytest.raises(StateError, match="register_names.*Unknown"):
        state.read(unknown)


@pytest.mark.parametrize("actor", [a for a in actors("SGD") if a.native and a.target.generation != "optimizer_v2"], ids=str)
def test_a_class_is_of_its_generation_whatever_it_calls_its_arguments(actor):
    class Short(actor.native_class()):
        def update_step(self, g, v):
            return super().update_step(g, v)

    class Named(actor.native_class()):
        def update_step(self, g, v, lr):
            return super().update_step(g, v, lr)

    assert co.generation_of(Named if actor.target.generation == "keras3" else Short) == actor.target.generation


def test_names_can_be_registered(monkeypatch):
    from compat_opt.state import natives

    monkeypatch.setattr(natives, "_REGISTERED", {})
    with pytest.raises(StateError, match="The rule Adam has no slot 'mean'. Expected: one of momentum"):
        state.register_names("Mine", "Adam", {"m": "mean"})
    with pytest.raises(StateError, match="There is no generation 'keras4'"):
        state.register_names("Mine", "Adam", {"m": "momentum"}, generation="keras4")
    state.register_names("Mine", "Lion", {"m": "momentum"})
    assert natives.find("optimizer_v2", "Mine").rule_class() is co.rules.Lion


def test_what_is_no_record():
    for actor in actors("Adam"):
        with pytest.raises(StateError, match="That is no record of state.*a str. read_file"):
            state.write(actor.make(), "adam.state", actor.variables())


def test_what_is_no_optimizer():
    with pytest.raises(StateError, match="That is no Keras optimizer. Expected: .*Received: a int"):
        state.read(3)
