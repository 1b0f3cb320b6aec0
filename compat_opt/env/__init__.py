"""What is installed, and which optimizer APIs that offers. Imports no framework."""

from compat_opt.env.detect import Detection, Target, detect
from compat_opt.env.record import EnvironmentRecord, read_environment
from compat_opt.env.select import default_target, describe_environment, find_target, targets

__all__ = [
    "Detection",
    "EnvironmentRecord",
    "Target",
    "default_target",
    "describe_environment",
    "detect",
    "find_target",
    "read_environment",
    "targets",
]
