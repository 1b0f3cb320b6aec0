"""Runs unmodified optimizer classes of one Keras optimizer API on another.

The class runs on its real base; a true optimizer of the target holds it, see docs/bridge.md.
Importing this package imports no framework.
"""

from compat_opt.bridge.adapting import adapt, load
from compat_opt.bridge.running import run_script

__all__ = ["adapt", "load", "run_script"]
