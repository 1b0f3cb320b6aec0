"""Weights for evaluation against averages that are kept by hand, and their exchange in fit and evaluate."""

import numpy as np
import pytest

import compat_opt as co
from compat_opt import rules, schedules, transforms
from compat_opt.errors import UnsupportedError
from compat_opt.testing.compare import assert_close
from on_target import mse_gradients, own_weights, regression

GRADIENTS = [1.0, -2.0, 0.5, 3.0]


def sgd_path(rate=0.1):
    return np.cumsum([1.0] + [-rate * g for g in GRADIENTS])[1:]


def schedule_free(adam):
    """x after each step, from the three sequences x, y, z of the paper; the weights of the mean are equal."""
    x = z = y = 1.0
    v = 0.0
    for t, g in enumerate(GRADIENTS, start=1):
        v = 0.999 * v + 0.001 * g * g
        z -= 0.1 * (g / (np.sqrt(v / (1 - 0.999**t)) + 1e-8) if adam else g)
        x += (z - x) / t
        y = 0.1 * z + 0.9 * x
    return x, y


def asgd():
    w, mean = 1.0, 0.0
    for t, g in enumerate(GRADIENTS, start=1):
        rate = 0.1 / (1 + 1e-4 * 0.1 * (t - 1)) ** 0.75
        w = w * (1 - 1e-4 * rate) - rate * g
        mean += (w - mean) / max(1, t - 2)
    return mean, w


def averages():
    path, mean, ema = sgd_path(), 1.0, 1.0
    for w in path:
        ema = 0.6 * ema + 0.4 * w
    mean = (path[0] + path[2]) / 2
    return ema, mean, path[-1]


EMA, SWA, LAST = averages()
CASES = [
    ("use_ema", rules.SGD, dict(learning_rate=0.1, use_ema=True, ema_momentum=0.6), (EMA, LAST)),
    ("moving_average", transforms.moving_average(rules.SGD), dict(learning_rate=0.1, average_decay=0.6), (EMA, LAST)),
    ("swa", transforms.swa(rules.SGD), dict(learning_rate=0.1, average_period=2), (SWA, LAST)),
    ("ASGD", rules.ASGD, dict(learning_rate=0.1, t0=1), asgd()),
    ("ScheduleFreeSGD", rules.ScheduleFreeSGD, dict(learning_rate=0.1), schedule_free(False)),
    ("ScheduleFreeAdamW", rules.ScheduleFreeAdamW, dict(learning_rate=0.1), schedule_free(True)),
    ("SGD", rules.SGD, dict(learning_rate=0.1), (LAST, LAST)),
]


@pytest.mark.parametrize("name, rule, hypers, expected", CASES, ids=[case[0] for case in CASES])
def test_values_and_their_exchange(on, name, rule, hypers, expected):
    optimizer, variable = on.optimizer(rule, **hypers), on.variable([1.0])
    for gradient in GRADIENTS:
        on.step(optimizer, ([gradient], variable))
    on.assert_value(variable, [expected[1]], 1e-5)
    with optimizer.evaluation_weights():
        on.assert_value(variable, [expected[0]], 1e-5)
        with optimizer.evaluation_weights():
            on.assert_value(variable, [expected[0]], 1e-5)
        with pytest.raises(UnsupportedError, match="use_training_weights"):
            on.step(optimizer, ([1.0], variable))
        on.assert_value(variable, [expected[0]], 1e-5)
    on.assert_value(variable, [expected[1]], 1e-5)
    with pytest.raises(ZeroDivisionError):
        with optimizer.evaluation_weights():
            1 / 0
    on.assert_value(variable, [expected[1]], 1e-5)


def test_every_averaging_rule_has_a_case():
    shipped = {record.name for record in rules.catalogue() if "averaged" in record.capabilities}
    assert shipped == {name for name, _, _, _ in CASES if hasattr(rules, name)} - {"SGD"}
    for name in shipped:
        assert getattr(rules, name).overrides("evaluate")


def test_a_group_and_a_scheduled_beta(on):
    """Each variable by its own rule; the beta is that of the last step."""
    groups = [co.Group("free", rule=rules.ScheduleFreeSGD, learning_rate=0.1, momentum=schedules.Linear(0.9, 0.5, 4))]
    optimizer = on.optimizer(rules.SGD, 0.1, groups=groups)
    free, plain = on.variable([1.0], name="free"), on.variable([1.0], name="plain")
    y = z = x = 1.0
    for t, g in enumerate(GRADIENTS, start=1):
        on.step(optimizer, ([g], free), ([g], plain))
        beta = 0.9 - 0.1 * (t - 1)
        z_new, c = z - 0.1 * g, 1.0 / t
        y, z = (1 - c) * y + c * z - 0.1 * (1 - beta * (1 - c)) * g, z_new
        x = (y - (1 - beta) * z) / beta
    with optimizer.evaluation_weights():
        on.assert_value(free, [x], 1e-5)
        on.assert_value(plain, [LAST], 1e-5)
    on.assert_value(free, [y], 1e-5)


@pytest.mark.parametrize("finalize", [False, True])
def test_fit_validates_with_the_average(on, finalize):
    """Two epochs of one batch; the validation loss is the average's, the training goes on from the weights."""
    (x, y), rate = regression(), 0.05
    rule = transforms.moving_average(rules.SGD, average_decay=0.5)
    optimizer = on.optimizer(rule, rate)
    model = on.compile(on.linear(), optimizer)
    weights = [np.array(w, "float64") for w in own_weights(model)]
    average, losses = list(weights), []
    for _ in range(2):
        weights = [w - rate * g for w, g in zip(weights, mse_gradients(weights, x, y))]
        average = [0.5 * a + 0.5 * w for a, w in zip(average, weights)]
        losses.append(np.mean((x @ average[0] + average[1] - y) ** 2))
    callback = optimizer.evaluation_callback(finalize=finalize)
    history = on.fit(model, x, y, epochs=2, validation_data=(x, y), callbacks=[callback])
    assert_close(history.history["val_loss"], losses, 1e-4, "validation")
    for found, expected in zip(own_weights(model), average if finalize else weights):
        assert_close(found, expected, 1e-4)
    if not finalize:
        assert_close(model.evaluate(x, y, verbose=0, callbacks=[callback]), losses[-1], 1e-4, "evaluate")
