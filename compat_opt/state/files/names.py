"""What the names of variables in a file tell: the variable of the model, the slot, the class of the optimizer."""

import re

from compat_opt.errors import StateError
from compat_opt.state import natives


def variable_of(written, slot, flat=None):
    """The path of the model's variable in the name of a slot's variable, or None.

    The three forms are ``Adam/dense/kernel/m`` (OptimizerV2), ``Adam/m/dense/kernel`` (Keras 2) and
    ``adam/dense_kernel_momentum`` (Keras 3).

    Args:
        written: the name, with or without ":0".
        slot: the slot's name.
        flat: {path with underscores: path} of the model's variables, where known, for the third form.
    """
    written = written.split(":")[0]
    if written.endswith("/" + slot):
        return written[: -len(slot) - 1].partition("/")[2] or None
    match = re.match(r"(?:.*?/)?%s/(.+)$" % re.escape(slot), written)
    if match:
        return match.group(1)
    return split_flat(written, [slot], flat)[1]


def split_flat(written, slots, flat=None):
    """(slot, path) of a name of Keras 3's form; (None, None) where it has another one."""
    last = written.split(":")[0].rpartition("/")[2]
    for slot in sorted(slots, key=len, reverse=True):
        if last.endswith("_" + slot):
            path = last[: -len(slot) - 1]
            return slot, (flat or {}).get(path, path)
    return None, None


def class_name(generation, written, held, hints, attributes=True, dialect="", extra=(), hypers=()):
    """The class of an optimizer whose file does not name it.

    Args:
        generation, dialect: as for `natives.find`.
        written: the name of one of its variables; it begins with the optimizer's name.
        held: {name of a slot, or of a list: name of one of its variables}; None where the file does not tell.
        hints: the `Hints`.
        attributes: whether `held` has names of lists.
        extra: names of its scalars.
        hypers: names of its hyperparameters and shared scalars, where the file has them.

    Raises:
        StateError: several classes, or none, have these slots.
    """
    if hints.class_name:
        return hints.class_name
    known = natives.classes(generation, dialect)
    some = set(hypers) & set().union(*map(_scalars_of, known.values()))  # no table knows the others
    taking = [n for n, native in known.items() if some <= _scalars_of(native)]
    fitting = [n for n in taking if held is None or _could_be(known[n], held, set(extra), attributes)]
    if not held:  # no slots: of a class without any, or because they are not in the file
        fitting = fitting or taking
    # Keras 3 counts ("adam_1"), and calls "RMSprop" "rmsprop" and "ScheduleFreeAdamW" "schedule_free_adam_w".
    parts = {re.sub(r"_\d+$", "", part).replace("_", "").lower() for part in written.split("/")[:-1]}
    named = [name for name in fitting if name.split(">")[-1].lower() in parts]
    if len(named) == 1:
        return named[0]
    base = None if held is None or named else _same_state([(name, known[name]) for name in fitting])
    if base is not None:
        return base
    raise StateError(
        "The file does not say of which class its optimizer is.",
        "class_name= one of %s" % ", ".join(named or fitting or sorted(known)),
        "an optimizer of %s with %s, named %r" % (generation, ", ".join(sorted(held or ())) or "no slots", written),
    )


def _scalars_of(native):
    """Names of the scalars that the class may keep as variables."""
    return set(native.rule_class().hypers()) | set(native.hypers) | set(native.shared) | {"decay"}


def _could_be(native, held, scalars, attributes):
    """Whether an optimizer of the class could have these slots, and has them at least with default arguments."""
    attribute_of = {name: attribute for attribute, name in native.attributes.items()} if attributes else {}
    possible = {attribute_of.get(name, name): name for name in native.slots}
    least = {attribute_of.get(name, name) for name, own in native.slots_for({}, (2, 2)) if own}
    if not least <= set(held) <= set(possible) or not all(name in scalars for name in native.shared):
        return False
    told = {name: written for name, written in held.items() if attributes and "/" in written}
    return not told or any(variable_of(written, possible[name]) for name, written in told.items())


def _same_state(fitting):
    """The first class, where all others have a rule derived from its rule, and the same slots: Adam, and then AdamW."""
    if not fitting:
        return None
    name, first = fitting[0]
    rule = first.rule_class()
    same = all(n.slots == first.slots and issubclass(n.rule_class(), rule) for _, n in fitting)
    return name if same else None
