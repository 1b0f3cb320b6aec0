"""Checks of what a rule's methods return, before anything is made of it."""

from compat_opt.errors import RuleError
from compat_opt.ops import Value


def check_scalars(rule, method, returned):
    """Raise unless `returned` is a dict."""
    if not isinstance(returned, dict):
        raise RuleError(
            "%s.%s() returned no dict." % (type(rule).__name__, method),
            "{name: scalar}",
            "a %s" % type(returned).__name__,
        )


def checked_update(rule, name_of_variable, value, slots, returned, ops):
    """What update() returned, after checking it against the contract."""
    where = "%s.update() for variable %s" % (type(rule).__name__, name_of_variable)
    if not (isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], dict)):
        raise RuleError(
            "%s returned something else than a pair." % where,
            "(new_var, {slot name: new value})",
            "a %s" % type(returned).__name__
            + (" of %d" % len(returned) if isinstance(returned, (tuple, list)) else ""),
            "Without slots, return new_var, {}.",
        )
    new_value, new_slots = returned
    for name in new_slots:
        if name not in slots:
            declared = name in rule.slots()
            raise RuleError(
                "%s returned the slot %r, which %s."
                % (where, name, "this variable does not have" if declared else "is not declared"),
                "some of %s" % (", ".join(slots) or "no slots"),
                "{%r: ...}" % name,
                "Test with `%r in slots` first." % name
                if declared
                else "Declare it in the class: %s = Slot()." % name,
            )
    for name, new, old in [("new_var", new_value, value)] + [
        ("slot %s" % name, new, slots[name]) for name, new in new_slots.items()
    ]:
        shape = ops.executor.shape(new.raw) if isinstance(new, Value) else getattr(new, "shape", ())
        if tuple(shape) != tuple(old.shape):
            raise RuleError(
                "%s returned %s with another shape." % (where, name),
                "shape %s" % (tuple(old.shape),),
                "shape %s" % (tuple(shape),),
            )
    return new_value, new_slots
