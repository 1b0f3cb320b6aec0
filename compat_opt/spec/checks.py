"""Checks for ``Hyper(check=...)``: each returns whether a Python number is in range.

The docstring of a check is what an error message calls the expected value.
"""


def non_negative(value):
    """a number >= 0"""
    return value >= 0


def positive(value):
    """a number > 0"""
    return value > 0


def unit_interval(value):
    """a number in [0, 1)"""
    return 0 <= value < 1


def closed_unit_interval(value):
    """a number in [0, 1]"""
    return 0 <= value <= 1
