"""Checks for ``Hyper(check=...)``: each returns whether a Python value is in range.

The docstring of a check is what an error message calls the expected value.
"""


def non_negative(value):
    """a number >= 0"""
    return value >= 0


def non_positive(value):
    """a number <= 0"""
    return value <= 0


def positive(value):
    """a number > 0"""
    return value > 0


def positive_unit_interval(value):
    """a number in (0, 1]"""
    return 0 < value <= 1


def unit_interval(value):
    """a number in [0, 1)"""
    return 0 <= value < 1


def closed_unit_interval(value):
    """a number in [0, 1]"""
    return 0 <= value <= 1


def at_least(lowest):
    """A check that a number is not below `lowest`."""

    def check(value):
        return value >= lowest

    check.__doc__ = "a number >= %r" % lowest
    return check


def one_of(*values):
    """A check that a static hyperparameter is one of `values`."""

    def check(value):
        return value in values

    check.__doc__ = "one of %s" % ", ".join(map(repr, values))
    return check
