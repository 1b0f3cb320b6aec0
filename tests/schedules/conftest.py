"""Fixtures of the tests of schedules."""

from on_target import on  # noqa: F401
