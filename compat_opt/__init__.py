"""compat_opt: write an optimizer's update rule once; run it on every TensorFlow 2.x and Keras 3.

Importing this package imports no TensorFlow, Keras or NumPy; names are loaded when first used.
"""

import importlib

from compat_opt._version import __version__

_NAMES = {
    "UpdateRule": "compat_opt.spec",
    "Group": "compat_opt.spec",
    "Hyper": "compat_opt.spec",
    "Slot": "compat_opt.spec",
    "Shared": "compat_opt.spec",
    "checks": "compat_opt.spec",
    "Target": "compat_opt.env",
    "targets": "compat_opt.env",
    "default_target": "compat_opt.env",
    "compile_rule": "compat_opt.adapters",
    "compile_schedule": "compat_opt.adapters.schedules",
    "retarget": "compat_opt.adapters",
    "is_optimizer": "compat_opt.adapters",
    "generation_of": "compat_opt.adapters",
    "run_reference": "compat_opt.adapters.reference",
    "scale_loss": "compat_opt.adapters.loss_scaling",
    "unscale_gradients": "compat_opt.adapters.loss_scaling",
}

_MODULES = ("bridge", "errors", "ops", "optimizers", "rules", "schedules", "spec", "state", "testing", "transforms")

__all__ = sorted(list(_NAMES) + list(_MODULES) + ["__version__"])


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module("compat_opt." + name)
    if name in _NAMES:
        value = getattr(importlib.import_module(_NAMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError("module 'compat_opt' has no attribute %r" % name)


def __dir__():
    return __all__
