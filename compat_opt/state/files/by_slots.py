"""An optimizer of OptimizerV2 in a checkpoint: its slots hang on the model's variables, everything else on it."""

from compat_opt.errors import StateError
from compat_opt.state import natives
from compat_opt.state.files import names
from compat_opt.state.raw import RawState

#: Arguments of OptimizerV2 that are no variables, by the slot that tells them.
_FLAGS = {"vhat": "amsgrad", "mg": "centered"}


def read(reader, number, hints):
    """The `RawState` of node `number`; arguments as of `by_lists.read`."""
    node, entries = reader.graph.nodes[number], []
    add = reader.adder(entries)

    slots = [slot for slot in node.slots if reader.graph.nodes[slot.slot].key]
    class_name = names.class_name(
        "optimizer_v2",
        reader.graph.nodes[node.children["iter"]].name if "iter" in node.children else "",
        {slot.name: reader.graph.nodes[slot.slot].name for slot in slots},
        hints,
        attributes=False,
        extra=set(node.children),
    )
    shared = natives.find("optimizer_v2", class_name).shared
    add("iteration", None, "iter", node.children.get("iter"))
    for name, child in node.children.items():
        if name != "iter" and reader.graph.nodes[child].key:
            add("shared" if name in shared else "hyper", None, name, child)
    numbers = list({slot.variable: None for slot in slots})
    variables = reader.variables(numbers)
    path = dict(zip(numbers, [v[0] for v in variables]))
    for slot in slots:
        add("slot", path[slot.variable], slot.name, slot.slot)
    if not slots and any(own for _, own in natives.find("optimizer_v2", class_name).slots_for({}, (2, 2))):
        raise StateError(
            "%s holds the count of steps of %s, and no slots." % (reader.bundle.prefix, class_name),
            "the model's variables in the same checkpoint: the slots of OptimizerV2 hang on them",
            remedy="Save tf.train.Checkpoint(model=model, optimizer=optimizer).",
        )
    config = {entry.name: float(entry.value) for entry in entries if entry.role == "hyper"}
    for slot, flag in _FLAGS.items():
        if slot in natives.find("optimizer_v2", class_name).slots:
            config[flag] = any(s.name == slot for s in slots)
    return RawState("optimizer_v2", class_name, dict(config, **hints.config), entries, variables=variables)
