"""Schedules of this package in compiled and native optimizers, in configs and in files."""

import copy
import json
import os
import pickle

import numpy as np
import pytest

import compat_opt as co
from compat_opt import rules, schedules
from compat_opt.adapters import compile_rule
from compat_opt.adapters.reference import run_reference
from compat_opt.testing.compare import assert_close
from on_target import OnTarget, other_targets, regression

CASES = [
    schedules.Linear(0.3, 0.1, 3),
    schedules.Cosine(0.3, 5, final=0.1),
    schedules.WarmRestarts(0.3, 2, growth=2.0, shrink=0.5, final=0.1),
    schedules.OneCycle(0.3, 5),
    schedules.InverseSquareRoot(0.3, 3),
    schedules.LinearWarmup(schedules.Cosine(0.3, 5), 3, start=0.1),
    schedules.Product(schedules.Cosine(0.3, 5, final=0.1), 0.5),
]


def steps(on, optimizer, variables, rows):
    for row in rows:
        on.step(optimizer, *[(gradient, variable) for gradient, variable in zip(row, variables)])


@pytest.mark.parametrize("schedule", CASES, ids=lambda schedule: type(schedule).__name__)
def test_values_on_the_target(on, schedule):
    assert {type(case).__name__ for case in CASES} == set(schedules.names())
    compiled = co.compile_schedule(schedule, on.target)
    assert isinstance(compiled, on.keras.optimizers.schedules.LearningRateSchedule)
    precise = 1e-12 if on.target.backend != "jax" else 1e-5
    for t in range(8):
        expected = schedule(t)
        assert_close(float(np.asarray(on.harness.numpy(compiled(t)))), expected, 1e-5, "float32, step %d" % t)
        assert_close(float(np.asarray(compiled.exact(t))), expected, precise, "exact, step %d" % t)
    again = pickle.loads(pickle.dumps(compiled))
    assert type(again) is type(compiled) and again.get_config() == compiled.get_config()


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_any_hyper_follows_a_schedule(on, compiled):
    hypers = {
        "learning_rate": schedules.OneCycle(0.1, 4),
        "momentum": schedules.OneCycle(0.85, 4, start=0.95, end=0.95),
        "weight_decay": schedules.LinearWarmup(schedules.Cosine(0.5, 3), 2),
    }
    random = np.random.RandomState(0)
    value, rows = random.normal(size=4), [[random.normal(size=4)] for _ in range(6)]
    variable, optimizer = on.variable(value), on.optimizer(rules.SGD, **hypers)
    step = on.harness.step(optimizer, [variable], compiled and "graph" in on.harness.offers)
    for row in rows:
        step([on.gradient(row[0])])
    assert_close(on.value(variable), run_reference(rules.SGD, [value], rows, **hypers)[-1][0], 1e-5)


def test_betas_near_one_keep_their_digits(on):
    """1 - beta_2 would be off by 5e-5 from a float32 schedule."""
    if on.target.backend == "jax":
        pytest.skip("no float64 scalars on the jax backend without x64")
    optimizer = on.optimizer(rules.Adam, beta_2=schedules.Linear(0.999, 0.9999, 100))
    assert_close(float(np.asarray(optimizer._core.hypers.evaluate(on.tf.constant(0) if on.tf else 0)["beta_2"])), 0.999, 1e-15)


def test_a_config_of_one_target_is_read_on_the_others(on):
    schedule = schedules.LinearWarmup(schedules.WarmRestarts(0.3, 3, growth=2.0), 2)
    optimizer = on.optimizer(rules.Adam, schedule, beta_1=schedules.Linear(0.9, 0.5, 10))
    config = json.loads(json.dumps(optimizer.get_config()))
    assert config["learning_rate"]["module"] == "compat_opt.schedules"
    assert config["learning_rate"]["config"]["after"]["class_name"] == "WarmRestarts"
    value, rows = np.ones(3), [[np.arange(3.0) - 1]] * 5
    expected = run_reference(rules.Adam, [value], rows, learning_rate=schedule, beta_1=schedules.Linear(0.9, 0.5, 10))
    for target in [on.target] + other_targets(on.target):
        other = OnTarget(target)
        again, variable = compile_rule(rules.Adam, target).from_config(config), other.variable(value)
        assert again.get_config() == config
        steps(other, again, [variable], rows)
        assert_close(other.value(variable), expected[-1][0], 2e-5, str(target))


def test_copies_and_setting_live(on):
    optimizer, variable = on.optimizer(rules.SGD, schedules.Linear(0.4, 0.0, 4)), on.variable([0.0])
    steps(on, optimizer, [variable], [[[1.0]]])
    twin = copy.deepcopy(optimizer)
    assert twin.get_config() == optimizer.get_config()
    optimizer.learning_rate = schedules.Linear(1.0, 0.0, 4)
    steps(on, optimizer, [variable], [[[1.0]]])
    on.assert_value(variable, [-0.4 - 0.75])


def test_in_a_native_optimizer(on):
    """compile_schedule gives what every optimizer of this Keras takes."""
    native = on.target.namespace in ("tf.keras", "keras", "tf_keras")
    if not native:
        pytest.skip("no other optimizer classes to find: the target's natives live in %s" % on.target.namespace)
    optimizer = on.keras.optimizers.SGD(learning_rate=co.compile_schedule(schedules.Linear(0.4, 0.0, 4), on.target))
    variable = on.variable([0.0])
    for _ in range(3):
        optimizer.apply_gradients([(on.gradient([1.0]), variable)])
    on.assert_value(variable, [-(0.4 + 0.3 + 0.2)])


def test_a_saved_model_keeps_its_schedule(on, tmp_path):
    x, y = regression()
    model = on.compile(on.linear(), on.optimizer(rules.SGD, schedules.Cosine(0.1, 10)))
    on.fit(model, x, y)
    path = os.path.join(str(tmp_path), "model.keras" if on.is_keras3 else "model.h5")
    model.save(path)
    loaded = on.keras.models.load_model(path)
    assert loaded.optimizer.get_config()["learning_rate"] == model.optimizer.get_config()["learning_rate"]
