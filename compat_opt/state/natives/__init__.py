"""How native optimizer classes name their state: tables by generation, and where users add to them."""

import importlib

from compat_opt.errors import StateError, closest
from compat_opt.state.natives import wrappers
from compat_opt.state.natives.entry import Native

#: Generation -> modules with a table CLASSES, in the order in which they are searched.
TABLES = {
    "optimizer_v2": ("optimizer_v2", "addons"),
    "keras2": ("keras2",),
    "keras3": ("keras3",),
}

#: Classes that hand everything to several optimizers which no checkpoint and no H5 file reaches.
SEVERAL = ("Addons>MultiOptimizer",)

_REGISTERED = {}


def register_names(class_name, rule, slots, generation="optimizer_v2", **details):
    """Teach `read`, `write` and `read_file` an optimizer class of your own, or of a package.

    Args:
        class_name: the class's name, with its package where it is registered with one
            ("Addons>LAMB").
        rule: a name in `compat_opt.rules`, or an `UpdateRule` class, with the same algorithm.
        slots: {slot name of the class: slot name of the rule}, in the order in which the class
            makes them.
        generation: "optimizer_v2", "keras2" or "keras3".
        **details: other arguments of `compat_opt.state.natives.entry.Native`. Classes of keras2
            and keras3 need ``attributes={"_momentums": "momentum"}``: their lists of variables.

    Raises:
        StateError: the generation does not exist, or a slot is none of the rule's.
    """
    _check_generation(generation)
    native = Native(rule, slots, **details)
    declared = native.rule_class().slots()
    for own in slots.values():
        if own not in declared:
            raise StateError(
                "The rule %s has no slot %r." % (native.rule_class().__name__, own),
                "one of %s" % ", ".join(declared),
                "slots=%r" % (slots,),
                closest(own, declared),
            )
    _REGISTERED[generation, class_name] = native


def find(generation, class_names, dialect=""):
    """The `Native` for a class.

    Args:
        generation: as in `register_names`.
        class_names: its name, or names from the most special one on (a class and its bases).
        dialect: a variation of the generation ("experimental"), or "".

    Raises:
        StateError: no table has any of the names.
    """
    return named(generation, class_names, dialect)[1]


def named(generation, class_names, dialect=""):
    """(name in the table, `Native`) for a class; see `find`."""
    _check_generation(generation)
    names = [class_names] if isinstance(class_names, str) else list(class_names)
    known = classes(generation, dialect)
    for name in names:
        outer, inner = wrappers.split(name) or (None, name)
        for candidate in (inner, inner.split(">")[-1] if inner.startswith(("Custom>", "Keras>")) else inner):
            whole = candidate if outer is None else wrappers.name_of(outer, candidate)
            if candidate in known:
                return whole, known[candidate] if outer is None else wrappers.around(outer, known[candidate])
    if set(names) & set(SEVERAL):
        raise StateError(
            "A MultiOptimizer of TensorFlow Addons is several optimizers, and its files hold none of them.",
            "one of its optimizers, in the process that trained",
            "class %r" % names[0],
            'read(spec["optimizer"]) for each spec in optimizer.optimizer_specs gives their states.',
        )
    raise StateError(
        "No table says how %s of the generation %s names its state." % (names[0], generation),
        "one of %s" % ", ".join(sorted(known)),
        "class %r" % names[0],
        "compat_opt.state.register_names(%r, rule, {slot: slot of the rule}, generation=%r) adds it%s."
        % (names[0], generation, "; class_name= of read_file names its base class" if isinstance(class_names, str) else ""),
    )


def classes(generation, dialect=""):
    """{class name: `Native`} of a generation, what users registered first."""
    known = {}
    for module in TABLES[generation]:
        table = importlib.import_module("compat_opt.state.natives.%s" % module)
        known.update(table.CLASSES)
        known.update(getattr(table, "DIALECTS", {}).get(dialect, {}))
    known.update({name: native for (owner, name), native in _REGISTERED.items() if owner == generation})
    return known


def _check_generation(generation):
    if generation not in TABLES:
        raise StateError(
            "There is no generation %r." % (generation,),
            "one of %s" % ", ".join(sorted(TABLES)),
            "generation=%r" % (generation,),
        )
