"""Values that a rule or a transform can't use are refused when they are given, with what was expected."""

import numpy as np
import pytest

from compat_opt import rules, schedules, transforms
from compat_opt.adapters.reference import run_reference
from compat_opt.errors import ArgumentError, HyperError, RuleError
from compat_opt.spec import Shared, Slot

STATIC = [
    (record.name, name, default)
    for record in rules.catalogue()
    for name, default in record.hypers.items()
    if getattr(rules, record.name).hypers()[name].static and default is not None
]


@pytest.mark.parametrize("name, hyper, default", STATIC)
def test_a_static_hyper_takes_no_schedule_and_no_other_kind(name, hyper, default):
    rule = getattr(rules, name)
    assert getattr(rule(**{hyper: default}), hyper) == default
    with pytest.raises(HyperError, match="%s.%s is fixed when the optimizer is made" % (name, hyper)):
        rule(**{hyper: schedules.Linear(1.0, 0.0, 10)})
    if isinstance(default, (bool, str)):
        with pytest.raises(HyperError, match="%s.%s.*Expected: (True or False|one of .*%r)" % (name, hyper, default)):
            rule(**{hyper: "unknown"})


def test_a_check_sees_static_values_of_every_type():
    with pytest.raises(HyperError, match="Expected: a number > 0. Received: update_period='ten'"):
        rules.Sophia(update_period="ten")
    assert rules.Muon(rms_rate=None).rms_rate is None


#: Where a number far from the default makes the iteration diverge, which is what was asked for.
DIVERGE = {("Muon", "muon_a"), ("Muon", "muon_b"), ("Muon", "muon_c"), ("Padam", "partial")}

NUMBERS = [
    (record.name, name)
    for record in rules.catalogue()
    for name, default in record.hypers.items()
    if not isinstance(default, (bool, str)) and (record.name, name) not in DIVERGE
]


@pytest.mark.long
@pytest.mark.parametrize("name, hyper", NUMBERS)
def test_a_number_is_refused_or_gives_numbers(name, hyper):
    """A root of something negative, or 0 / 0, is no answer to a value that was taken."""
    random = np.random.RandomState(0)
    values = [random.normal(size=shape) for shape in [(4, 3), (5,), ()]]
    rows = [[random.normal(size=np.shape(value)) for value in values] for _ in range(6)]
    whole = type(getattr(rules, name).hypers()[hyper].default) is int
    for value in (-1, 0, 1, 3, 100) if whole else (-1.0, 0.0, 0.5, 1.0, 3.0, 100.0):
        try:
            last = run_reference(getattr(rules, name), values, rows, **{hyper: value})[-1]
        except HyperError:
            continue
        assert all(np.all(np.isfinite(each)) for each in last), "%s=%r" % (hyper, value)


@pytest.mark.parametrize("name, hyper", [("ScheduleFreeSGD", "momentum"), ("ScheduleFreeAdamW", "beta_1")])
def test_schedule_free_needs_a_share_of_the_average(name, hyper):
    """At 0 the average could not be computed from what is kept."""
    with pytest.raises(HyperError, match=r"a number in \(0, 1\]. Received: %s=0" % hyper):
        getattr(rules, name)(**{hyper: 0.0})


@pytest.mark.parametrize(
    "value, words",
    [
        ("x", "can't be a str"),
        ([0.1], "can't be a list"),
        (np.ones(1), r"is one number.*shape \(1,\)"),
        (schedules.Cosine, "is a class"),
        (-1.0, "is out of range"),
    ],
)
def test_the_reference_checks_hypers(value, words):
    with pytest.raises(HyperError, match="Adam.learning_rate " + words):
        run_reference(rules.Adam, [[1.0]], [[[1.0]]], learning_rate=value)


@pytest.mark.parametrize(
    "arguments, keywords, kind, words",
    [
        ((), {"period": 3}, ArgumentError, r"keyword argument 'period'.*Did you mean 'sync_period'\?"),
        ((1, 2, 3), {}, ArgumentError, r"Expected: lookahead\(rule, sync_period=6, slow_step_size=0.5\)"),
        ((-1,), {}, HyperError, "lookahead.sync_period is out of range. Expected: a number > 0"),
        (("6",), {}, HyperError, "sync_period of lookahead can't be a str"),
        ((), {"slow_step_size": schedules.Linear(0.5, 1, 10)}, HyperError, r"compile_rule\(lookahead\(Rule\)\)"),
        ((6, 1.5), {}, HyperError, r"slow_step_size is out of range. Expected: a number in \[0, 1\]"),
    ],
)
def test_arguments_of_transforms(arguments, keywords, kind, words):
    with pytest.raises(kind, match=words):
        transforms.lookahead(rules.SGD, *arguments, **keywords)


def test_declarations_start_at_numbers():
    with pytest.raises(RuleError, match="init=None"):
        Slot(None)
    with pytest.raises(RuleError, match="a number. Received: init='zeros'"):
        Shared("zeros")


def test_a_centered_rmsprop_stays_finite_where_gradients_stay_the_same():
    """mean_square - mean_gradient^2 is rounded to less than 0: NaN in TensorFlow, Keras and torch."""
    gradient = 1000 * np.random.RandomState(1).normal(size=500)
    for outside in (False, True):
        hypers = dict(dtype="float32", centered=True, epsilon_outside=outside)
        assert np.all(np.isfinite(run_reference(rules.RMSprop, [np.zeros(500)], [[gradient]] * 150, **hypers)[-1][0]))
