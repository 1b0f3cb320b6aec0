"""What an update rule is: declarations and the base class. Imports no framework."""

from compat_opt.spec import checks
from compat_opt.spec.declarations import Hyper, Shared, Slot
from compat_opt.spec.group import Group
from compat_opt.spec.rule import UpdateRule

__all__ = ["Group", "Hyper", "Shared", "Slot", "UpdateRule", "checks"]
