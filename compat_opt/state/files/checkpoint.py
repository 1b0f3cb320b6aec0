"""Checkpoints of tf.train.Checkpoint, `save_weights` and ModelCheckpoint in TensorFlow's format, and SavedModels.

They are read without TensorFlow. A checkpoint does not say of which class an optimizer is: its name does, if nobody
changed it, and the names of its lists; `Hints.class_name` decides where neither does.
"""

import json
import os
import re

from compat_opt.errors import StateError, closest
from compat_opt.state import natives
from compat_opt.state.files import compiled, names, shards
from compat_opt.state.files.bundle import Bundle
from compat_opt.state.files.bundle_writer import rewrite
from compat_opt.state.files.graph import KEY, Graph
from compat_opt.state.natives.order import skeleton
from compat_opt.state.raw import RawEntry, RawState

NAME = "checkpoint"
SUMMARY = "a TensorFlow checkpoint: its prefix, its index, its folder, or a SavedModel"

#: Lists that are no slots: all of the optimizer's variables, the model's, and bookkeeping.
_NO_SLOTS = ("_variables", "_trainable_variables", "_trainable_variables_indices", "_index_dict")
#: Arguments of OptimizerV2 that are no variables, by the slot that tells them.
_FLAGS = {"vhat": "amsgrad", "mg": "centered"}
_ROLES = {
    "_model_variables_moving_average": ("average", "average"),
    "_accumulated_gradients": ("accumulator", "gradient_accumulator"),
}


def prefix_of(path):
    """The prefix of the checkpoint that `path` means, or None.

    A folder means its newest checkpoint, by its file `checkpoint`; or that in ``chief`` (of BackupAndRestore), or in
    ``variables`` (of a SavedModel).
    """
    path = str(path)
    if path.endswith(".index"):
        path = path[: -len(".index")]
    match = re.match(r"(.*)\.data-\d{5}-of-\d{5}$", path)
    path = match.group(1) if match else path
    if os.path.isfile(path + ".index"):
        return path
    if not os.path.isdir(path):
        return None
    if os.path.isfile(os.path.join(path, "variables", "variables.index")):
        return os.path.join(path, "variables", "variables")
    listing = os.path.join(path, "checkpoint")
    if os.path.isfile(listing):
        with open(listing) as file:
            match = re.search(r'^model_checkpoint_path:\s*"(.*)"', file.read(), re.M)
        if match:
            return prefix_of(os.path.join(path, match.group(1)))
    chief = os.path.join(path, "chief")
    return prefix_of(chief) if os.path.isdir(chief) else None


def detect(path):
    """Whether `path` is a checkpoint."""
    return prefix_of(path) is not None


def optimizers(path):
    """{path in the object graph: its generation} of the optimizers in a checkpoint."""
    reader = _Reader(prefix_of(path))
    return {reader.paths[number][0]: generation for number, generation in reader.found().items()}


def read(path, hints):
    """The `RawState` of the optimizer in a checkpoint.

    Raises:
        StateError: no optimizer, several of them and no ``hints.optimizer``, a class that can't be told, or damage.
    """
    reader = _Reader(prefix_of(path))
    number, generation = reader.choose(hints)
    make = _compiled if reader.graph.child(number, "compat_opt_state") is not None else _READERS[generation]
    raw = make(reader, reader.unwrapped(number), hints)
    raw.loss_scale = reader.loss_scale(number)
    raw.places = reader.places if len(reader.places) == len(raw.entries) else None  # shards are joined
    raw.provenance.update(format=NAME, file=str(path), optimizer=reader.paths[number][0])
    return raw


def write(template, path, arrays, hypers):
    """Write a copy of a checkpoint with other arrays: {key: array}; a checkpoint has no config for `hypers`."""
    rewrite(Bundle(prefix_of(template)), arrays, str(path))


class _Reader:
    """A checkpoint with its object graph."""

    def __init__(self, prefix):
        self.bundle = Bundle(prefix)
        if KEY not in self.bundle:
            raise StateError(
                "%s has no object graph: it is a checkpoint of TensorFlow 1, or of variables by name." % prefix,
                "a checkpoint of tf.train.Checkpoint or save_weights",
            )
        try:
            self.graph = Graph(self.bundle.string(KEY))
        except StateError as error:
            raise StateError("The object graph of %s is damaged: %s." % (prefix, error))
        self.paths = self.graph.paths()
        #: For each entry that was made the key of its tensor.
        self.places = []

    def found(self):
        """{number of an optimizer's node: generation}, wrappers for what is in them."""
        found, inside = {}, set()
        for number in self.paths:
            node, child = self.graph.nodes[number], lambda *n: self.graph.child(number, *n)  # noqa: B023
            if child("inner_optimizer") is not None:
                inside.add(child("inner_optimizer"))
            if child("_iterations") is not None:
                # Keras 2 lists the model's variables nowhere; those of 2.9 and 2.10 are found by `_dialect`.
                found[number] = "keras3" if child("_trainable_variables") is not None else "keras2"
            elif node.slots or self._is_count(child("iter")) or child("compat_opt_state") is not None:
                found[number] = "optimizer_v2"
        return {number: generation for number, generation in found.items() if number not in inside}

    def _is_count(self, number):
        key = None if number is None else self.graph.nodes[number].key
        return key in self.bundle and self.bundle.shape(key) == () if key else False

    def choose(self, hints):
        """(number, generation) of the optimizer that the hints mean."""
        found = self.found()
        shown = ", ".join(self.paths[number][0] or "(the root)" for number in found)
        if not found:
            raise StateError("There is no optimizer in the checkpoint %s." % self.bundle.prefix)
        if hints.optimizer is None:
            if len(found) > 1:
                raise StateError(
                    "The checkpoint %s has %d optimizers." % (self.bundle.prefix, len(found)),
                    "optimizer= one of %s" % shown,
                    "optimizer=None",
                )
            return next(iter(found.items()))
        for number, generation in found.items():
            if hints.optimizer in self.paths[number]:
                return number, generation
        raise StateError(
            "The checkpoint %s has no such optimizer." % self.bundle.prefix,
            "optimizer= one of %s" % shown,
            "optimizer=%r" % hints.optimizer,
            closest(hints.optimizer, shown.split(", ")),
        )

    def unwrapped(self, number):
        """The optimizer inside of a LossScaleOptimizer."""
        inner = self.graph.child(number, "inner_optimizer")
        return number if inner is None else inner

    def loss_scale(self, number):
        """{"scale", "good_steps"} of a LossScaleOptimizer, or None."""
        for scale, steps in (
            (("loss_scale", "current_loss_scale"), ("loss_scale", "good_steps")),
            (("dynamic_scale",), ("step_counter",)),
        ):
            values = [self.value(self.graph.child(number, *path)) for path in (scale, steps)]
            if values[0] is not None:
                return {"scale": float(values[0]), "good_steps": int(values[1])}
        return None

    def value(self, number):
        """The array of a node, or None."""
        key = None if number is None else self.graph.nodes[number].key
        return None if key is None else self.bundle.array(key)

    def axis_of(self, name):
        """The axis along which a variable is stored in slices, or None."""
        keys = [node.key for node in self.graph.nodes if node.name == name and node.key]
        return self.bundle.axis_of_slices(keys[0]) if keys else None

    def variables(self, numbers):
        """[(path, shape, dtype)] of model variables: their names where they differ, else their paths in the graph."""
        named = [self.graph.nodes[number].name for number in numbers]
        shown = named if len(set(named)) == len(named) and all(named) else [self.paths[n][0] for n in numbers]
        keys = [self.graph.nodes[number].key for number in numbers]
        shapes = [self.bundle.shape(key) if key in self.bundle else None for key in keys]
        return list(zip(shown, shapes, [None] * len(numbers)))


def _adder(reader, entries):
    """A function that adds the entry of a node, if it has a value, and returns whether it has."""

    def add(role, variable, name, number):
        value = reader.value(number)
        if value is not None:
            reader.places.append(reader.graph.nodes[number].key)
            entries.append(RawEntry(role, variable, name, len(entries), value))
        return value is not None

    return add


def _optimizer_v2(reader, number, hints):
    """Slots hang on the model's variables, everything else on the optimizer."""
    node, entries = reader.graph.nodes[number], []
    add = _adder(reader, entries)

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


def _by_lists(generation):
    def read_lists(reader, number, hints):
        return _Lists(reader, number, hints, generation).raw()

    return read_lists


class _Lists:
    """Keras 2 and Keras 3: a list for each slot, a place for each variable; and a list of everything, from 2.10 on."""

    def __init__(self, reader, number, hints, generation):
        self.reader, self.hints, self.generation = reader, hints, generation
        self.graph, self.node = reader.graph, reader.graph.nodes[number]
        self.everything = self._list("_variables")
        model = self._list("_trainable_variables")
        self.model = reader.variables([model[i] for i in sorted(model)])
        self.lists = {}
        for attribute, child in self.node.children.items():
            held = {} if attribute in _NO_SLOTS else self.graph.list_of(child)
            if held and all(self.graph.nodes[n].key for n in held.values()):
                self.lists[attribute] = held
        iterations = self.node.children["_iterations"]
        self.dialect = ""
        if generation == "keras2" and iterations not in self.everything.values():
            self.dialect = "experimental"
        held = {attribute: self.graph.nodes[min(held.values())].name for attribute, held in self.lists.items()}
        scalars = {n for name, n in self.node.children.items() if self.graph.nodes[n].key}
        listed = {n for held in self.lists.values() for n in held.values()}
        loose = [n for n in self.everything.values() if n not in listed | scalars]
        some = [self.graph.nodes[n].name for n in list(listed) + loose]
        self.class_name = names.class_name(
            generation,
            some[0] if some else self.graph.nodes[iterations].name,
            None if loose else {name: written for name, written in held.items() if name not in _ROLES},
            hints,
            dialect=self.dialect,
            extra=set(self.node.children),
        )
        self.native = natives.find(generation, self.class_name, self.dialect)
        self.entries, self.taken = [], set()
        self._add = _adder(reader, self.entries)

    def _list(self, name):
        child = self.node.children.get(name)
        return {} if child is None else self.graph.list_of(child)

    def add(self, role, variable, name, number):
        """Add the entry of a node, once."""
        if number not in self.taken and self._add(role, variable, name, number):
            self.taken.add(number)

    def raw(self):
        """The `RawState`."""
        children = self.node.children
        self.add("iteration", None, "iteration", children["_iterations"])
        self.add("hyper", None, "learning_rate", children.get("_learning_rate"))  # the value of a schedule is none
        for name in self.native.shared:
            self.add("shared", None, name, children.get(name))
        paths = self._paths()
        for attribute, held in self.lists.items():
            role, name = _ROLES.get(attribute, ("slot", self.native.attributes.get(attribute, attribute)))
            for position in sorted(held):
                self.add(role, paths.get(position, position), name, held[position])
        self._others()
        variables = self.model or [(paths.get(i, "variable_%d" % i), None, None) for i in sorted(paths)]
        raw = RawState(
            self.generation, self.class_name, self._config(), self.entries, variables=variables, dialect=self.dialect
        )
        return shards.joined(raw, self.reader.axis_of)

    def _paths(self):
        """{position: path of the model's variable}: Keras 3 lists them; Keras 2's are in the names of the slots."""
        if self.model:
            return {position: v[0] for position, v in enumerate(self.model)}
        paths = {}
        for attribute, held in self.lists.items():
            name = _ROLES.get(attribute, (None, self.native.attributes.get(attribute, attribute)))[1]
            for position, number in held.items():
                path = names.variable_of(self.graph.nodes[number].name, name)
                if path and position not in paths:
                    paths[position] = path
        repeated = len(set(paths.values())) < len(paths)
        return {} if repeated else paths

    def _others(self):
        """What stands in the list of everything alone, as in Keras 3 what an optimizer keeps in dicts.

        It is named by its position, where the number of variables is the expected one, else by its name.
        """
        loose = [position for position in sorted(self.everything) if self.everything[position] not in self.taken]
        if not loose:
            return
        flat = {v[0].replace("/", "_"): v[0] for v in self.model}
        order = skeleton(self.generation, self.class_name, self.hints.config, self.model).entries
        for position in loose:
            number = self.everything[position]
            written = self.graph.nodes[number].name
            slot, path = names.split_flat(written, self.native.slots, flat)
            if len(order) == len(self.everything) and order[position].role == "slot":
                slot, path = order[position].name, self.model[order[position].variable][0]
            if slot is None:
                self.add("unknown", None, written or "_variables/%d" % position, number)
            else:
                self.add("slot", path, slot, number)

    def _config(self):
        if "_accumulated_gradients" in self.lists and "gradient_accumulation_steps" not in self.hints.config:
            raise StateError(
                "The checkpoint %s has gradients in accumulation, and does not say over how many steps."
                % self.reader.bundle.prefix,
                'config={"gradient_accumulation_steps": N}',
            )
        return self.hints.config


def _compiled(reader, number, hints):
    """An optimizer compiled from a rule: everything hangs on one node, under the rule's names."""
    graph, node = reader.graph, reader.graph.nodes[number]
    state = graph.nodes[node.children["compat_opt_state"]]
    written = graph.nodes[state.children["iteration"]].name
    rule = compiled.rule_class(hints, written.split("/")[0])
    keras3 = graph.child(number, "_trainable_variables")
    generation = "keras3" if keras3 is not None else "keras2" if "_iterations" in node.children else "optimizer_v2"
    entries = []
    add = _adder(reader, entries)

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


_READERS = {"optimizer_v2": _optimizer_v2, "keras2": _by_lists("keras2"), "keras3": _by_lists("keras3")}
