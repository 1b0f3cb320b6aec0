"""Reports on learning rates: schedules, variables, and changes while training goes on."""

import warnings

import numpy as np
import pytest

from compat_opt import schedules
from compat_opt.errors import HyperError
from compat_opt.rules import SGD
from on_target import assert_weights, reference_fit, regression


def halving(on, start=0.5):
    return on.keras.optimizers.schedules.ExponentialDecay(start, 1, 0.5)


def test_learning_rate_reads_as_the_present_value_of_a_schedule(on):
    """tensorflow#59751: the schedule object, its first value or the present one, by version."""
    optimizer = on.optimizer(SGD, halving(on))
    on.assert_value(optimizer.learning_rate, 0.5)
    on.step(optimizer, (0.0, on.variable(1.0)))
    on.assert_value(optimizer.learning_rate, 0.25)


def test_a_variable_as_learning_rate_is_kept_by_reference(on):
    """keras#19760, ray#45050: a frozen copy, or refused."""
    rate, w = on.variable(0.25), on.variable(1.0)
    optimizer = on.optimizer(SGD, rate)
    on.step(optimizer, (1.0, w))
    rate.assign(0.5)
    on.step(optimizer, (1.0, w))
    on.assert_value(w, 0.25)


def test_a_variable_as_learning_rate_acts_in_a_compiled_fit(on):
    """keras#19760: an assignment between two fits is seen by the compiled train step."""
    x, y = regression()
    rate, model = on.variable(0.1), on.linear()
    first = model.get_weights()
    on.compile(model, on.optimizer(SGD, rate))
    on.fit(model, x, y)
    rate.assign(0.01)
    on.fit(model, x, y)
    rates = [0.1, 0.01]
    assert_weights(model, reference_fit(SGD, first, [(x, y)] * 2, learning_rate=lambda step: rates[step]))


def test_a_schedule_can_replace_the_rate_of_a_live_optimizer(on):
    """tensorflow#51399: the state is kept."""
    w = on.variable(1.0)
    optimizer = on.optimizer(SGD, 0.5, momentum=0.5)
    on.step(optimizer, (1.0, w))
    optimizer.learning_rate = on.keras.optimizers.schedules.PiecewiseConstantDecay([0], [0.5, 0.25])
    on.step(optimizer, (1.0, w))
    on.assert_value(w, 0.5 - 0.25 * 1.5 if _rate_outside(optimizer, w, on) else 1 - 0.5 - (0.25 + 0.25))


def _rate_outside(optimizer, w, on):
    """Whether the rule multiplies by the rate outside of the momentum buffer."""
    return abs(float(on.value(optimizer.get_slot(w, "velocity")))) > 1.0


def test_a_change_of_momentum_acts_in_a_traced_step(on):
    """keras#9861 (one-cycle momentum): a momentum set after tracing had no effect from 2.11 on."""
    w = on.variable(0.0)
    optimizer = on.optimizer(SGD, 1.0, momentum=0.9)
    step = on.harness.step(optimizer, [w], compiled="graph" in on.harness.offers)
    step([on.gradient(1.0)])
    optimizer.momentum = 0.0
    step([on.gradient(1.0)])
    on.assert_value(w, -2.0)


def test_a_number_over_a_schedule_replaces_it_from_the_next_step_on(on):
    """tensorflow#36612, tensorflow#51399: the number is taken, with a warning that says so."""
    w = on.variable(0.0)
    optimizer = on.optimizer(SGD, halving(on))
    step = on.harness.step(optimizer, [w], compiled="graph" in on.harness.offers)
    step([on.gradient(1.0)])
    step([on.gradient(1.0)])
    with pytest.warns(UserWarning, match="followed a schedule"):
        optimizer.learning_rate = 0.1
    step([on.gradient(1.0)])
    on.assert_value(w, -(0.5 + 0.25 + 0.1))


def test_reduce_lr_on_plateau_works_with_a_schedule(on):
    """tensorflow#36612, tensorflow#51399: the callback crashed in the second epoch."""
    x, y = regression()
    model = on.linear()
    first = model.get_weights()
    on.compile(model, on.optimizer(SGD, halving(on, 0.1)))
    plateau = on.keras.callbacks.ReduceLROnPlateau(
        monitor="loss", mode="max", patience=1, factor=0.5, min_delta=0.0
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(x, y, epochs=4, batch_size=8, shuffle=False, verbose=0, callbacks=[plateau])
    assert any("followed a schedule" in str(w.message) for w in caught)
    # The loss falls, so in mode "max" each epoch but the first is a plateau: halved after the
    # second (the schedule then says 0.025 for the next step) and after the third.
    rates = [0.1, 0.05, 0.0125, 0.00625]
    assert_weights(model, reference_fit(SGD, first, [(x, y)] * 4, learning_rate=lambda step: rates[step]))
    on.assert_value(np.asarray(float(on.value(model.optimizer.learning_rate))), 0.003125)


def test_an_array_or_a_class_is_no_learning_rate(on):
    """An array of one number per element of the variable would be taken, and broadcast."""
    for value in (np.ones(1), on.gradient([0.1, 0.2])):
        with pytest.raises(HyperError, match=r"SGD.learning_rate is one number. Expected: a scalar"):
            on.optimizer(SGD, value)
    with pytest.raises(HyperError, match="learning_rate is a class. Expected: an instance"):
        on.optimizer(SGD, schedules.Cosine)
    optimizer = on.optimizer(SGD, 0.1)
    with pytest.raises(HyperError, match="is one number"):
        optimizer.learning_rate = np.ones(3)
    assert on.optimizer(SGD, np.float32(0.5)).get_config()["learning_rate"] == 0.5
