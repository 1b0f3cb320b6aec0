"""An optimizer of OptimizerV2 in a checkpoint: its slots hang on the model's variables, everything else on it."""

from compat_opt.errors import StateError
from compat_opt.state import natives
from compat_opt.state.files import names
from compat_opt.state.natives import wrappers
from compat_opt.state.raw import RawState

#: Arguments of OptimizerV2 that are no variables, by the slot that tells them.
_FLAGS = {"vhat": "amsgrad", "mg": "centered"}


def read(reader, number, hints):
    """The `RawState` of node `number`; arguments as of `by_lists.read`."""
    graph, entries = reader.graph, []
    add = reader.adder(entries)

    nodes = [graph.nodes[number]] + [graph.nodes[child] for child in _inside(graph, number)]
    slots = [slot for node in nodes for slot in node.slots if graph.nodes[slot.slot].key]
    children = {name: child for node in reversed(nodes) for name, child in node.children.items()}
    if not hints.class_name and not slots and not any(graph.nodes[n].key for name, n in children.items() if name != "iter"):
        raise StateError(
            "%s holds a count of steps, and neither slots nor hyperparameters of an optimizer." % reader.bundle.prefix,
            "what an optimizer of OptimizerV2 has after a step",
            remedy="It was saved before the first one, or is a wrapper that does not save what is inside.",
        )
    class_name = _class_name(graph, nodes, children, hints)
    native = natives.find("optimizer_v2", class_name)
    add("iteration", None, "iter", children.get("iter"))
    for name, child in children.items():
        if name != "iter" and graph.nodes[child].key:
            add("shared" if name in native.shared else "hyper", None, name, child)
    numbers = graph.in_model_order({slot.variable for slot in slots})
    variables = reader.variables(numbers)
    path = dict(zip(numbers, [v[0] for v in variables]))
    place = {number: position for position, number in enumerate(numbers)}
    for slot in sorted(slots, key=lambda slot: place[slot.variable]):
        add("slot", path[slot.variable], slot.name, slot.slot)
    if not slots and any(own for _, own in native.slots_for({}, (2, 2))):
        raise StateError(
            "%s holds the count of steps of %s, and no slots." % (reader.bundle.prefix, class_name),
            "the model's variables in the same checkpoint: the slots of OptimizerV2 hang on them",
            remedy="Save tf.train.Checkpoint(model=model, optimizer=optimizer).",
        )
    config = {entry.name: float(entry.value) for entry in entries if entry.role == "hyper"}
    for slot, flag in _FLAGS.items():
        if slot in native.slots:
            config[flag] = any(s.name == slot for s in slots)
    return RawState("optimizer_v2", class_name, dict(config, **hints.config), entries, variables=variables)


def _inside(graph, number):
    """Numbers of the optimizers that a wrapper of TensorFlow Addons is around, from the outside in."""
    for child in {wrapper.child: None for wrapper in wrappers.WRAPPERS.values()}:
        inner = graph.child(number, child)
        if inner is not None:
            return [inner] + _inside(graph, inner)
    return []


def _class_name(graph, nodes, children, hints):
    """The class of the optimizer; of a wrapper that of both together."""
    if hints.class_name and wrappers.split(hints.class_name):
        return hints.class_name
    outer = [_wrapper(graph, node) for node in nodes[:-1]]
    if len(outer) > 1:
        wrappers.name_of(*outer[:2])  # refuses
    inner = names.class_name(
        "optimizer_v2",
        graph.nodes[children["iter"]].name if "iter" in children else "",
        {slot.name: graph.nodes[slot.slot].name for slot in nodes[-1].slots if graph.nodes[slot.slot].key},
        hints,
        attributes=False,
        extra=set(nodes[-1].children),
        hypers={name for name, child in nodes[-1].children.items() if graph.nodes[child].key} - {"iter"},
    )
    for name in reversed(outer):
        inner = wrappers.name_of(name, inner)
    return inner


def _wrapper(graph, node):
    """The class of a wrapper, by its child and the name that its slots begin with."""
    begins = {graph.nodes[slot.slot].name.split("/")[0] for slot in node.slots}
    fitting = [name for name, wrapper in wrappers.WRAPPERS.items() if wrapper.child in node.children]
    named = [name for name in fitting if name.split(">")[-1] in begins]
    if len(fitting) > 1 and len(named) != 1:
        raise StateError(
            "The file does not say which wrapper its optimizer is.",
            "class_name= one of %s" % ", ".join("%s(CLASS)" % name for name in fitting),
            "slots named %s/..." % ", ".join(sorted(begins)),
        )
    return (named or fitting)[0]
