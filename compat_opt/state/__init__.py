"""Optimizer state without a framework: read it, write it, save it, and move it between generations."""

import importlib

_NAMES = {
    "StateRecord": "compat_opt.state.record",
    "RawState": "compat_opt.state.raw",
    "RawEntry": "compat_opt.state.raw",
    "read": "compat_opt.state.live",
    "write": "compat_opt.state.live",
    "register_names": "compat_opt.state.natives",
    "save": "compat_opt.state.storage",
    "load": "compat_opt.state.storage",
    "read_file": "compat_opt.state.files",
}

__all__ = sorted(_NAMES)


def __getattr__(name):
    if name in _NAMES:
        value = getattr(importlib.import_module(_NAMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError("module 'compat_opt.state' has no attribute %r" % name)


def __dir__():
    return __all__
