"""Functions from rule to rule: ``lookahead(Adam)`` is a rule class like any other.

The files of this folder are the registry: each holds the function of its name. They compose in any
order, ``cautious(lookahead(Adam))``: the outer one sees what the inner one makes of a step. One
call gives one class, so that ``compile_rule(lookahead(Adam))`` is compiled once.
"""

import importlib
import pkgutil

_names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))

# A submodule would hide the function of its name if it were first imported later.
for _name in _names:
    globals()[_name] = getattr(importlib.import_module("%s.%s" % (__name__, _name)), _name)

__all__ = list(_names)


def names():
    """The names of the transforms, sorted."""
    return list(_names)
