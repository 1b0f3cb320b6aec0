"""Optimizers compiled from a rule, in files: their names are the rule's, their order that of `Core.state_variables`."""

from compat_opt.errors import StateError
from compat_opt.state.natives.entry import rule_named
from compat_opt.state.files.positions import shapes_in_turn
from compat_opt.state.raw import RawEntry, RawState

#: How classes that were compiled from a rule are registered.
PACKAGE = "compat_opt>"


def rule_class(hints, name):
    """The rule: the one of the hints, or the shipped one that is called so.

    Raises:
        StateError: no shipped rule has the name.
    """
    if hints.rule is not None:
        return rule_named(hints.rule) if isinstance(hints.rule, str) else hints.rule
    return rule_named(hints.class_name or name)


def role_of(rule, name, otherwise="hyper"):
    """What an entry with this name is."""
    if name == "iteration":
        return "iteration"
    if name in ("average", "accumulator"):
        return name
    if name in ("micro_step", "calls"):
        return "accumulator"
    return "shared" if name in rule.shared() else otherwise


def raw_state(generation, rule, config, entries, variables=()):
    """A `RawState` of a compiled optimizer."""
    return RawState(generation, rule.__name__, config, entries, variables=variables, compiled=True, rule=_instance(rule, config))


def _instance(rule, config):
    known = rule.hypers()
    plain = {n: v for n, v in config.items() if n in known and isinstance(v, (bool, int, float, str))}
    return rule(**plain)


def from_order(generation, rule, config, arrays, layer_shapes, where):
    """The `RawState` of arrays that stand in the optimizer's own order, without names.

    Args:
        generation: of the file.
        rule: the `UpdateRule` class.
        config: the optimizer's get_config().
        arrays: all of its arrays.
        layer_shapes: shapes that the model's variables have, in any order.
        where: the file, for messages.

    Raises:
        StateError: the arrays are not those of such an optimizer.
    """
    instance, names = _instance(rule, config), ["iteration"]
    names += [name for name, hyper in rule.hypers().items() if not hyper.static]
    names += [name for name in ("weight_decay",) if name not in names]
    names += list(rule.shared())
    accumulating = (config.get("gradient_accumulation_steps") or 1) > 1
    names += ["micro_step"] if accumulating else []

    def slots_of(shape):
        own = [(name, tuple(slot.shape_for(shape))) for name, slot in instance.slots_for(shape).items()]
        own += [("average", shape)] if config.get("use_ema") else []
        return own + ([("accumulator", shape), ("calls", ())] if accumulating else [])

    rest = arrays[len(names) :]
    shapes = shapes_in_turn(rest, layer_shapes, lambda shape: [expected for _, expected in slots_of(shape)])
    if shapes is None or any(array.shape != () for array in arrays[: len(names)]):
        raise StateError(
            "The optimizer's arrays in %s are not those of a compiled %s." % (where, rule.__name__),
            "%s, and then the slots of each variable" % ", ".join(names),
            "%d arrays of shapes %s" % (len(arrays), ", ".join(str(a.shape) for a in arrays[:12])),
            "config= tells the reader with which arguments it was made.",
        )
    slots = [(position, name) for position, shape in enumerate(shapes) for name, _ in slots_of(shape)]
    named = [(role_of(rule, name), None, name) for name in names]
    named += [(role_of(rule, name, "slot"), position, name) for position, name in slots]
    entries = [RawEntry(*(what + (i, array))) for i, (what, array) in enumerate(zip(named, arrays))]
    variables = [("variable_%d" % position, shape, None) for position, shape in enumerate(shapes)]
    return raw_state(generation, rule, config, entries, variables)
