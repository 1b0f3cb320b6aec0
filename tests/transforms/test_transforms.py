"""Every transform, and every pair of them in both orders, against nested NumPy steppers."""

import functools
import inspect
import itertools
import os

import numpy as np
import pytest

import transform_oracles
from compat_opt import rules, transforms
from compat_opt.adapters.reference import run_reference
from compat_opt.errors import RuleError
from compat_opt.testing.compare import assert_close, assert_trajectories_close
from transform_oracles import BASES, trajectory

NAMES = transforms.names()
PAIRS = list(itertools.permutations(NAMES, 2))
SHAPES = [(), (5,), (4, 3), (2, 3, 2)]


def problem(seed=0, steps=13):
    """Random gradients, with zero rows and zero gradients among them."""
    generator = np.random.RandomState(seed)
    variables = [generator.normal(size=shape) for shape in SHAPES]
    gradients = [[generator.normal(size=shape) for shape in SHAPES] for _ in range(steps)]
    for step in (3, 6, 7):
        gradients[step][1][1:3] = 0.0
        gradients[step][2][2] = 0.0
        gradients[step][3][1] = 0.0
    gradients[5] = [np.zeros(shape) for shape in SHAPES]
    return variables, gradients


def hypers_of(names):
    merged = {}
    for name in names:
        merged.update(getattr(transform_oracles, name).hypers)
    return merged


def check(base, names):
    """`names` from the inside out."""
    rule, (maker, hypers) = getattr(rules, base), BASES[base]
    for name in names:
        rule = getattr(transforms, name)(rule)
        maker = functools.partial(getattr(transform_oracles, name), maker)
    variables, gradients = problem()
    actual = run_reference(rule, variables, gradients, **dict(hypers, **hypers_of(names)))
    expected, steppers = trajectory(maker, variables, gradients)
    # Noise is made in float32.
    tolerance = 1e-5 if "noisy_gradient" in names else 1e-10
    assert_trajectories_close(actual, expected, tolerance, rule.__name__)
    for index, stepper in enumerate(steppers):
        while hasattr(stepper, "inner"):
            for slot, value in stepper.slots.items():
                assert_close(actual.slots[index][slot], value, tolerance, "slot %s, variable %d" % (slot, index))
            stepper = stepper.inner


@pytest.mark.parametrize("base", sorted(BASES))
@pytest.mark.parametrize("name", NAMES)
def test_one(base, name):
    check(base, [name])


@pytest.mark.parametrize("base", sorted(BASES))
@pytest.mark.parametrize("inner, outer", PAIRS)
def test_pairs(base, inner, outer):
    check(base, [inner, outer])


@pytest.mark.parametrize("name", [name for name in NAMES if getattr(transform_oracles, name).hypers])
def test_defaults_are_arguments(name):
    """lookahead(Adam, sync_period=4) is lookahead(Adam) with that default."""
    hypers = getattr(transform_oracles, name).hypers
    transform = getattr(transforms, name)
    variables, gradients = problem()
    by_default = run_reference(transform(rules.SGD, **hypers), variables, gradients)
    given = run_reference(transform(rules.SGD), variables, gradients, **hypers)
    assert_trajectories_close(by_default, given, 0)
    signature = inspect.signature(transform).parameters
    declared = transform(rules.SGD).hypers()
    for key in hypers:
        assert declared[key].default == signature[key].default


@pytest.mark.parametrize("name", ["centralize_gradient", "normalize_gradient", "adaptive_clip"])
def test_gradients_are_changed_before_they_are_measured(name):
    """A rule that measures all variables sees the changed gradients in its sums."""
    variables, gradients = problem()
    rule = getattr(transforms, name)(rules.DoG)

    class Plain:
        def __init__(self, w, variable):
            pass

        def step(self, t, w, g):
            self.seen = g
            return w

    hypers, w = getattr(transform_oracles, name).hypers, variables
    actual = run_reference(rule, variables, gradients, initial_distance=0.1, **hypers)
    changed = []
    for t, row in enumerate(gradients, start=1):
        w = variables if t == 1 else actual[t - 2]
        steppers = [getattr(transform_oracles, name)(Plain, v, i) for i, v in enumerate(w)]
        for stepper, value, g in zip(steppers, w, row):
            stepper.step(t, value, g)
        changed.append([stepper.inner.seen for stepper in steppers])
    expected = run_reference(rules.DoG, variables, changed, initial_distance=0.1)
    assert_trajectories_close(actual, expected, 1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_class(name):
    transform = getattr(transforms, name)
    rule = transform(rules.Adam)
    assert issubclass(rule, rules.Adam) and rule is transform(rules.Adam)
    assert rule.__name__ == name.title().replace("_", "") + "Adam"
    assert rule.transforms == (name,)
    assert rule.__doc__ and "Source:" in rule.__doc__
    with pytest.raises(RuleError):
        transform(rules.Adam())
    with pytest.raises(RuleError):
        transform("Adam")
    if getattr(transform_oracles, name).hypers:
        with pytest.raises(RuleError):
            transform(rule)
        with pytest.raises(TypeError):
            transform(rules.Adam, no_such_argument=1)


def test_three_deep():
    check("Adam", ["noisy_gradient", "cautious", "lookahead"])
    check("SGD", ["lookahead", "moving_average", "centralize_gradient"])


def test_files_functions_and_oracles_agree():
    folder = os.path.dirname(transforms.__file__)
    files = sorted(f[:-3] for f in os.listdir(folder) if f.endswith(".py") and not f.startswith("_"))
    assert files == NAMES == sorted(transforms.__all__)
    for name in NAMES:
        assert callable(getattr(transforms, name)) and hasattr(transform_oracles, name)
        text = inspect.getdoc(getattr(transforms, name))
        assert "Args:" in text and "Source:" in text and "Differs from:" in text
