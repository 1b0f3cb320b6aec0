"""Marks the time in which a host makes a legacy optimizer: what legacy code makes meanwhile is legacy too."""

import threading

_STATE = threading.local()


class legacy_code:
    """A context in which calls of legacy classes give legacy optimizers, in this thread."""

    def __enter__(self):
        _STATE.depth = getattr(_STATE, "depth", 0) + 1

    def __exit__(self, *exception):
        _STATE.depth -= 1

    @staticmethod
    def is_running():
        """Whether this thread is inside of one."""
        return getattr(_STATE, "depth", 0) > 0
