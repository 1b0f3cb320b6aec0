"""An optimizer that is compiled from a rule, in a checkpoint: all hangs on one node, under the rule's names."""

import json
import re

from compat_opt.state.files import compiled, names


def read(reader, number, hints):
    """The `RawState` of node `number`; arguments as of `by_lists.read`."""
    graph, node = reader.graph, reader.graph.nodes[number]
    state = graph.nodes[node.children["compat_opt_state"]]
    written = graph.nodes[state.children["iteration"]].name
    rule = compiled.rule_class(hints, written.split("/")[0])
    keras3 = graph.child(number, "_trainable_variables")
    generation = "keras3" if keras3 is not None else "keras2" if "_iterations" in node.children else "optimizer_v2"
    entries = []
    add = reader.adder(entries)

    for name, child in state.children.items():
        if graph.nodes[child].key:
            add(compiled.role_of(rule, name), None, name, child)
    positions = sorted(int(n[len("variable_") :]) for n in state.children if re.match(r"variable_\d+$", n))
    # Keras 3's names have underscores for slashes; the model's own variables, if they are in there, have both.
    flat = {other.name.replace("/", "_"): other.name for other in graph.nodes if other.key and "/" in other.name}
    told = [graph.nodes[child].text_key for child in state.children.values() if graph.nodes[child].text_key]
    known = json.loads(reader.bundle.string(told[0]).decode("utf-8")) if told else []
    variables = []
    for position in positions:
        slots = graph.nodes[state.children["variable_%d" % position]].children
        paths = [names.variable_of(graph.nodes[child].name, name, flat) for name, child in slots.items()]
        path, shape = known[position] if position < len(known) else (next((p for p in paths if p), None), None)
        path = path or "variable_%d" % position
        variables.append((path, None if shape is None else tuple(shape), None))
        for name, child in slots.items():
            add(compiled.role_of(rule, name, "slot"), path, name, child)
    return compiled.raw_state(generation, rule, hints.config, entries, variables)
