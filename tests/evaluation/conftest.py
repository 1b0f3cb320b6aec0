"""Fixtures of the tests of evaluation."""

from on_target import on  # noqa: F401
