"""On torch, a step in which kernels update every variable keeps their tensors from one step to the next."""

import numpy as np
import pytest

from compat_opt import Group, compile_rule, rules, run_reference
from compat_opt.testing.compare import assert_close
from compat_opt.testing.harness import harness_for

SHAPES = [(300, 250), (7,), (), (3, 2)]


@pytest.fixture
def harness(compat_opt_target):
    if compat_opt_target.backend != "torch":
        pytest.skip("the %s backend has no kernel steps" % compat_opt_target.backend)
    return harness_for(compat_opt_target)


@pytest.fixture
def start():
    """Values of four variables, and gradients of five steps."""
    random = np.random.RandomState(0)
    draw = lambda: [np.asarray(random.normal(size=shape)) for shape in SHAPES]  # noqa: E731
    return draw(), [draw() for _ in range(5)]


def make(harness, target, rule, values, **hypers):
    variables = [harness.variable(value, "float32", "v%d" % i) for i, value in enumerate(values)]
    return compile_rule(rule, target)(**hypers), variables


def apply(harness, optimizer, variables, row):
    optimizer.apply_gradients([(harness.gradient(g, "float32"), v) for g, v in zip(row, variables) if g is not None])


def kernel_steps(optimizer):
    return [step for step in optimizer._core.steps.values() if step is not None]


def assert_values(harness, variables, expected, first):
    for number, variable in enumerate(variables):
        moved = expected[number] - first[number]
        size = float(np.max(np.abs(moved)))
        assert_close(harness.numpy(variable) - first[number], moved, 1e-5, "variable %d" % number, smallest=size)


def test_a_gradient_may_be_missing_and_the_rate_may_be_set(harness, compat_opt_target, start):
    values, rows = start
    rows[2][1] = rows[3][0] = None
    rates = [0.1, 0.1, 0.05, 0.05, 0.2]
    expected = run_reference(rules.Adam, values, rows, learning_rate=lambda step: rates[int(step)])
    optimizer, variables = make(harness, compat_opt_target, rules.Adam, values, learning_rate=0.1)
    for rate, row in zip(rates, rows):
        optimizer.learning_rate = rate
        apply(harness, optimizer, variables, row)
    assert_values(harness, variables, expected[-1], values)
    assert len(kernel_steps(optimizer)) == 3  # all variables, all but one, all but another


def test_decay_leaves_excluded_variables_alone(harness, compat_opt_target, start):
    values, rows = start
    hypers = {"learning_rate": 0.1, "weight_decay": 0.3}
    expected = run_reference(rules.AdamW, values, rows, exclude_from_weight_decay=[0, 2], **hypers)
    optimizer, variables = make(harness, compat_opt_target, rules.AdamW, values, **hypers)
    optimizer.exclude_from_weight_decay(var_names=["v0", "v2"])
    for row in rows:
        apply(harness, optimizer, variables, row)
    assert_values(harness, variables, expected[-1], values)
    assert len(kernel_steps(optimizer)) == 1


def test_each_group_has_its_own_hyperparameters(harness, compat_opt_target, start):
    values, rows = start
    own = {"learning_rate": 0.02, "beta_1": 0.5}
    plain = run_reference(rules.Adam, values, rows, learning_rate=0.1)[-1]
    grouped = run_reference(rules.Adam, values, rows, **own)[-1]
    optimizer, variables = make(
        harness, compat_opt_target, rules.Adam, values, learning_rate=0.1, groups=[Group("v[01]", **own)]
    )
    for row in rows:
        apply(harness, optimizer, variables, row)
    assert_values(harness, variables, grouped[:2] + plain[2:], values)
    assert len(kernel_steps(optimizer)) == 1


def test_tensors_that_a_variable_no_longer_has_are_not_written(harness, compat_opt_target, start):
    values, rows = start
    expected = run_reference(rules.SGD, values, rows, learning_rate=0.1, momentum=0.9)
    optimizer, variables = make(harness, compat_opt_target, rules.SGD, values, learning_rate=0.1, momentum=0.9)
    for number, row in enumerate(rows):
        if number == 2:  # as torch's Module.to() does
            for variable in variables + list(optimizer.variables)[2:]:
                variable.value.data = variable.value.data.clone()
        apply(harness, optimizer, variables, row)
    assert_values(harness, variables, expected[-1], values)


@pytest.mark.parametrize("clipping", ["clipvalue", "clipnorm", "global_clipnorm"])
def test_clipped_gradients_take_the_other_way(harness, compat_opt_target, start, clipping):
    values, rows = start
    hypers = {"learning_rate": 0.1, clipping: 0.5}
    expected = run_reference(rules.Adam, values, rows, **hypers)
    optimizer, variables = make(harness, compat_opt_target, rules.Adam, values, **hypers)
    for row in rows:
        apply(harness, optimizer, variables, row)
    assert_values(harness, variables, expected[-1], values)
    assert kernel_steps(optimizer) == []


def test_a_float64_gradient_of_a_float32_variable(harness, compat_opt_target, start):
    values, rows = start
    expected = run_reference(rules.Adam, values, rows, learning_rate=0.1)
    optimizer, variables = make(harness, compat_opt_target, rules.Adam, values, learning_rate=0.1)
    for row in rows:
        optimizer.apply_gradients([(harness.gradient(g, "float64"), v) for g, v in zip(row, variables)])
    assert_values(harness, variables, expected[-1], values)
