"""Runs a rule beside its oracle. Used by the tests here and by ci/mutate_rules.py.

An oracle is a file tests/oracles/<rule's name in lower case>.py with

    trajectory(variables, gradients, **hypers) -> list over steps of lists of float64 arrays
    CASES: a list of dicts of hyperparameters
    final_slots(variables, gradients, **hypers) -> {slot: list of arrays}, optional: state that does
        not act on the variables, after the last step
    final_evaluation(variables, gradients, **hypers) -> list of arrays: the values to evaluate with
        after the last step, where the rule has its own `evaluate`
    TOLERANCE: optional, where the formula itself loses digits, with the reason

written from the paper without looking at the rule.
"""

import importlib.util
import os
import sys

import numpy as np

from compat_opt.adapters.namespace import Namespace
from compat_opt.adapters.reference import run_reference
from compat_opt.ops import Value, numpy_ops
from compat_opt.testing.compare import assert_trajectories_close

ORACLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "oracles")
SHAPES = [(), (5,), (4, 3), (2, 3, 2), (3, 5), (2, 1, 1, 2, 1, 2)]
STEPS = 14
TOLERANCE = 1e-10


def oracle_names():
    """The oracle files, without extension, sorted."""
    files = os.listdir(ORACLES)
    return sorted(f[:-3] for f in files if f.endswith(".py") and not f.startswith("_"))


def load_oracle(name):
    """The module tests/oracles/<name>.py."""
    if ORACLES not in sys.path:
        sys.path.insert(0, ORACLES)
    path = os.path.join(ORACLES, name + ".py")
    spec = importlib.util.spec_from_file_location("oracle_" + name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _random(seed, scale=1.0):
    generator = np.random.RandomState(seed)
    variables = [scale * generator.normal(size=shape) for shape in SHAPES]
    gradients = [[scale * generator.normal(size=shape) for shape in SHAPES] for _ in range(STEPS)]
    return variables, gradients


def _with_zeros(seed):
    """Zero gradients at the start and in between, zero rows, and a variable that starts at 0."""
    variables, gradients = _random(seed)
    variables[1] = np.zeros_like(variables[1])
    for step in (0, 5, 6):
        gradients[step] = [np.zeros_like(gradient) for gradient in gradients[step]]
    for step in (2, 3, 4, 9):
        gradients[step][2][1:3] = 0.0
        gradients[step][1][2] = 0.0
        gradients[step][0] = np.zeros(())
    for step in (10, 12):
        gradients[step][2][1, 1:] = 0.0
        gradients[step][3][0, :, 1] = 0.0
    return variables, gradients


def _only_zeros(seed):
    variables, gradients = _random(seed)
    return variables, [[np.zeros_like(gradient) for gradient in row] for row in gradients]


def _steady(seed):
    """Gradients that keep their direction, so that step sizes that learn have something to learn."""
    variables, gradients = _random(seed)
    return variables, [[g + 0.3 * h for g, h in zip(gradients[0], row)] for row in gradients]


def _uneven(seed):
    """Gradients whose size changes from step to step by up to a thousand."""
    variables, gradients = _random(seed)
    generator = np.random.RandomState(seed + 1)
    sizes = 10.0 ** generator.uniform(-1.5, 1.5, STEPS)
    return variables, [[size * gradient for gradient in row] for size, row in zip(sizes, gradients)]


PROBLEMS = {
    "ordinary": lambda: _random(0),
    "zeros among others": lambda: _with_zeros(1),
    "only zeros": lambda: _only_zeros(2),
    "steady": lambda: _steady(6),
    "uneven": lambda: _uneven(3),
    "huge": lambda: _random(4, 1e6),
    "small": lambda: _random(5, 1e-5),
}


def tolerance_of(oracle):
    """The largest relative difference from this oracle that passes."""
    return getattr(oracle, "TOLERANCE", TOLERANCE)


def compare(rule, oracle, case, problem):
    """Assert that the rule's trajectory is finite and is the oracle's."""
    variables, gradients = PROBLEMS[problem]()
    with np.errstate(all="ignore"):
        expected = oracle.trajectory(
            [value.copy() for value in variables], [[g.copy() for g in row] for row in gradients], **case
        )
        actual = run_reference(rule, variables, gradients, **case)
    for step, row in enumerate(expected):
        for index, value in enumerate(row):
            assert np.all(np.isfinite(value)), "the oracle is not finite at step %d, variable %d" % (step, index)
    what = "%s(%s) on %r" % (rule.__name__, case, problem)
    assert_trajectories_close(actual, expected, tolerance_of(oracle), what)
    compare_slots(oracle, case, variables, gradients, actual, what)
    compare_evaluation(rule, oracle, case, variables, gradients, actual, what)


def compare_slots(oracle, case, variables, gradients, actual, what="slots"):
    """Compare what an oracle has on state that never acts on the variables."""
    if hasattr(oracle, "final_slots") and len(actual) == len(gradients):
        for name, values in oracle.final_slots(variables, gradients, **case).items():
            found = [slots[name] for slots in actual.slots]
            assert_trajectories_close([found], [values], tolerance_of(oracle), what + ", slot " + name)


def compare_evaluation(rule, oracle, case, variables, gradients, actual, what="evaluation"):
    """Compare the values to evaluate with; a rule that has its own needs an oracle for them."""
    assert rule.overrides("evaluate") == hasattr(oracle, "final_evaluation"), "final_evaluation or evaluate is missing"
    if not rule.overrides("evaluate") or len(actual) != len(gradients):
        return
    ops = numpy_ops()
    numbers = {name: number for name, number in case.items() if not callable(number)}
    instance = rule(**numbers)
    hyper = {name: getattr(instance, name) for name in rule.hypers()}
    found = []
    for value, slots in zip(actual[-1], actual.slots):
        own = Namespace(rule.__name__, "slots", {name: Value(slot, ops) for name, slot in slots.items()})
        made = instance.for_step().evaluate(Value(value, ops), own, Namespace(rule.__name__, "hyper", hyper), ops)
        found.append(np.asarray(made.raw))
    wanted = oracle.final_evaluation(variables, gradients, **case)
    assert_trajectories_close([found], [wanted], max(tolerance_of(oracle), 1e-9), what + ", evaluation")
