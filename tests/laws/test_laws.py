"""Every shipped rule keeps every law on every target: the list that users have as compat_opt.testing.LAWS."""

import functools

import pytest

import compat_opt
from compat_opt import rules
from compat_opt.testing.laws import LAWS, run_law
from compat_opt.testing.subject import Subject

#: Rules that between them need every part of the interface: flags, shared scalars, norms, shape-dependent slots and
#: matrix products. Every cell runs all laws on them: {label: (rule, hyperparameters)}.
CORE = {
    "SGD": ("SGD", {"momentum": 0.9}),
    "Adam": ("Adam", {}),
    "Nadam": ("Nadam", {}),
    "LAMB": ("LAMB", {}),
    "Muon": ("Muon", {}),
}

#: Other formulas on the same parts: every cell runs the laws that see the formula, the exhaustive suite all.
BRANCHES = {
    "SGD_plain": ("SGD", {}),
    "SGD_nesterov": ("SGD", {"momentum": 0.9, "nesterov": True}),
    "Adam_amsgrad": ("Adam", {"amsgrad": True}),
    "AdamW": ("AdamW", {}),
    "RMSprop": ("RMSprop", {}),
    "RMSprop_centered": ("RMSprop", {"momentum": 0.9, "centered": True}),
    "Adagrad": ("Adagrad", {}),
    "Lion": ("Lion", {}),
}
#: For the many other rules: eager calls and sparse gradients go through the same update.
REDUCED_LAWS = ("dense_compiled", "half_precision", "complex_variables", "save_and_continue")
FORMULA_LAWS = ("dense", "dense_compiled", "sparse", "half_precision", "complex_variables", "save_and_continue")

OTHERS = {name: (name, {}) for name in rules.names() if name not in CORE and name not in BRANCHES}

TARGETS = compat_opt.targets()


def cases(listed, laws=tuple(LAWS)):
    return [
        pytest.param(label, target, law, id="%s-%s-%s" % (label, target.key, law))
        for label in listed
        for target in TARGETS
        for law in laws
    ]


needs_target = pytest.mark.skipif(not TARGETS, reason="no framework is installed here, so there is no target")


@functools.lru_cache(maxsize=None)
def subject_of(label, target):
    name, hypers = dict(CORE, **dict(BRANCHES, **OTHERS))[label]
    return Subject(getattr(rules, name), target, **hypers)


def check(label, target, law):
    subject = subject_of(label, target)
    reason = subject.lacking(LAWS[law].needs)
    if reason:
        pytest.skip("does not apply: " + reason)
    run_law(law, subject)


@needs_target
@pytest.mark.parametrize("label, target, law", cases(CORE) + cases(BRANCHES, FORMULA_LAWS))
def test_core(label, target, law):
    check(label, target, law)


@pytest.mark.long
@needs_target
@pytest.mark.parametrize("label, target, law", cases(OTHERS, REDUCED_LAWS))
def test_all_formulas(label, target, law):
    check(label, target, law)


def others(than):
    return [law for law in LAWS if law not in than]


@pytest.mark.exhaustive
@needs_target
@pytest.mark.parametrize("label, target, law", cases(BRANCHES, others(FORMULA_LAWS)) + cases(OTHERS, others(REDUCED_LAWS)))
def test_all_laws(label, target, law):
    check(label, target, law)
