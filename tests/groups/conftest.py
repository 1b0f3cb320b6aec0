"""Fixtures of the tests of groups."""

from on_target import on  # noqa: F401
