"""Schedules against closed forms and loops written from the papers, in float64."""

import math

import pytest

from compat_opt import rules, schedules
from compat_opt.adapters.reference import run_reference
from compat_opt.errors import HyperError
from compat_opt.testing.compare import assert_close

STEPS = list(range(0, 80)) + [1000]


def linear(t):
    return 0.5 if t >= 20 else 3.0 * (20 - t) / 20 + 0.5 * t / 20


def cosine(t):
    return 0.5 if t >= 20 else 0.5 + 2.5 * math.cos(math.pi * t / 40) ** 2


def restarts(growth, shrink, shortened=0):
    def value(t):
        top, length = 3.0, 7.0
        while t >= length:
            t, length, top = t - length, length * growth, top * shrink
        return 0.1 + (top - 0.1) * math.cos(math.pi * t / (length - shortened) / 2) ** 2

    return value


def one_cycle(t):
    if t < 6:
        return 0.95 - 0.1 * math.sin(math.pi * t / 12) ** 2
    return 0.85 + 0.05 * math.sin(math.pi * min(t - 6, 14) / 28) ** 2


def noam(t):
    return 512**-0.5 * min((t + 1) ** -0.5, (t + 1) * 30**-1.5)


def warm(t):
    return 0.6 + (3.0 - 0.6) * t / 10 if t < 10 else cosine(t - 10)


CASES = [
    (schedules.Linear(3.0, 0.5, 20), linear),
    (schedules.Cosine(3.0, 20, final=0.5), cosine),
    (schedules.WarmRestarts(3.0, 7, final=0.1), restarts(1.0, 1.0)),
    (schedules.WarmRestarts(3.0, 7, growth=2.0, shrink=0.5, final=0.1), restarts(2.0, 0.5)),
    (schedules.WarmRestarts(3.0, 7, growth=3, shrink=0.9, final=0.1), restarts(3.0, 0.9)),
    (schedules.WarmRestarts(3.0, 7, final=0.1, shortened=1), restarts(1.0, 1.0, 1)),
    (schedules.WarmRestarts(3.0, 7, growth=2.0, final=0.1, shortened=1), restarts(2.0, 1.0, 1)),
    (schedules.OneCycle(0.85, 20, start=0.95, end=0.9), one_cycle),
    (schedules.InverseSquareRoot(512**-0.5 * 30**-0.5, 30), noam),
    (schedules.LinearWarmup(schedules.Cosine(3.0, 20, final=0.5), 10, start=0.6), warm),
    (schedules.LinearWarmup(2.0, 10), lambda t: min(t / 10, 1.0) * 2.0),
    (schedules.Product(schedules.Cosine(3.0, 20, final=0.5), 0.25), lambda t: cosine(t) / 4),
]


def test_every_schedule_has_a_case():
    assert {type(schedule).__name__ for schedule, _ in CASES} == set(schedules.names())


@pytest.mark.parametrize("schedule, oracle", CASES, ids=lambda x: repr(x) if hasattr(x, "parameters") else "")
def test_the_formula(schedule, oracle):
    assert_close([schedule(t) for t in STEPS], [oracle(t) for t in STEPS], 1e-12, repr(schedule))


def test_defaults_of_one_cycle_are_pytorchs():
    schedule = schedules.OneCycle(1.0, 100)
    assert_close([schedule(0), schedule(30), schedule(100), schedule(500)], [0.04, 1.0, 4e-6, 4e-6], 1e-9)


def test_in_the_reference_for_any_hyper():
    """momentum 0.5, then 0.25; weight decay 0, then 0.2."""
    hypers = {"momentum": schedules.Linear(0.5, 0.25, 1), "weight_decay": schedules.Linear(0.0, 0.2, 1)}
    found = run_reference(rules.SGD, [[1.0]], [[[1.0]], [[1.0]]], learning_rate=0.5, **hypers)
    assert_close(found[-1][0], [0.5 - 0.5 * 0.2 * 0.5 - 0.5 * 0.25 - 0.5], 1e-15)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: schedules.Cosine(0.1, 0), "steps=0"),
        (lambda: schedules.Cosine("a", 5), "initial='a'"),
        (lambda: schedules.Cosine(float("nan"), 5), "a number"),
        (lambda: schedules.Cosine(schedules.Linear(1, 0, 5), 5), "Cosine.initial .*Expected: a number. "),
        (lambda: schedules.Linear(1, 0, schedules.Linear(1, 0, 5)), "Linear.steps .*Expected: a number > 0. "),
        (lambda: schedules.LinearWarmup(0.1, 5, start=schedules.Linear(1, 0, 5)), "LinearWarmup.start"),
        (lambda: schedules.OneCycle(schedules.Linear(1, 0, 5), 5), "OneCycle.peak"),
        (lambda: schedules.OneCycle(1.0, 5, rise=2), "0 <= rise <= 1. Received: rise=2"),
        (lambda: schedules.WarmRestarts(0.1, 5, shrink=-1.0), "a number > 0. Received: shrink=-1.0"),
        (lambda: schedules.WarmRestarts(0.1, 5, growth=0.5), "growth >= 1"),
        (lambda: schedules.WarmRestarts(0.1, 5, shortened=5), "shortened < steps"),
    ],
)
def test_wrong_parameters(make, words):
    with pytest.raises(HyperError, match=words):
        make()
