"""Fixtures of the tests of public reports."""

from on_target import on  # noqa: F401
