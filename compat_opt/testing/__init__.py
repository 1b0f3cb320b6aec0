"""The laws as a kit: for this package's own tests, for `compat-opt check`, and for your rules."""

from compat_opt.testing.compare import assert_close, assert_trajectories_close

__all__ = ["LAWS", "LawBroken", "Subject", "applicable", "assert_close", "assert_matches_reference", "assert_trajectories_close", "run_law"]

_FROM_LAWS = ("LAWS", "LawBroken", "Subject", "applicable", "run_law")


def __getattr__(name):
    if name in _FROM_LAWS:
        from compat_opt.testing import laws

        return getattr(laws, name)
    raise AttributeError("module %r has no attribute %r" % (__name__, name))


def assert_matches_reference(rule, target=None, **hypers):
    """Assert that a rule, compiled for a target, follows its NumPy reference.

    Args:
        rule: an `UpdateRule` class.
        target: as for `compile_rule`.
        **hypers: hyperparameters.

    Raises:
        LawBroken: with step, variable and values.
    """
    from compat_opt.env import find_target
    from compat_opt.testing.laws import Subject, run_law

    subject = Subject(rule, find_target(target), **hypers)
    for name in ("dense", "dense_compiled"):
        from compat_opt.testing.laws import LAWS

        if subject.offers(LAWS[name].needs):
            run_law(name, subject)
