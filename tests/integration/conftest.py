"""Fixtures of the integration tests."""

from on_target import on  # noqa: F401
