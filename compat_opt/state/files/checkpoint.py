"""Checkpoints of tf.train.Checkpoint, `save_weights` and ModelCheckpoint in TensorFlow's format, and SavedModels.

They are read without TensorFlow. A checkpoint does not say of which class an optimizer is: its name does, if nobody
changed it, and the names of its lists; `Hints.class_name` decides where neither does.
"""

import os
import re

from compat_opt.errors import StateError, closest
from compat_opt.state.files import by_lists, by_rule, by_slots
from compat_opt.state.files.bundle import Bundle
from compat_opt.state.files.bundle_writer import rewrite
from compat_opt.state.files.graph import KEY, Graph
from compat_opt.state.natives.wrappers import WRAPPERS
from compat_opt.state.raw import RawEntry

NAME = "checkpoint"
SUMMARY = "a TensorFlow checkpoint: its prefix, its index, its folder, or a SavedModel"

#: What wrappers call the optimizer inside.
_INSIDE = ["inner_optimizer"] + sorted({wrapper.child for wrapper in WRAPPERS.values()})

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
            # An absolute path is of the machine that wrote it.
            return prefix_of(os.path.join(path, os.path.basename(match.group(1))))
    chief = os.path.join(path, "chief")
    return prefix_of(chief) if os.path.isdir(chief) else None


def detect(path):
    """Whether `path` is a checkpoint."""
    return prefix_of(path) is not None


def read(path, hints):
    """The `RawState` of the optimizer in a checkpoint.

    Raises:
        StateError: no optimizer, several of them and no ``hints.optimizer``, a class that can't be told, or damage.
    """
    reader = Reader(prefix_of(path))
    number, generation = reader.choose(hints)
    inner = reader.unwrapped(number)
    if reader.graph.child(inner, "compat_opt_state") is not None:
        raw = by_rule.read(reader, inner, hints)
    elif generation == "optimizer_v2":
        raw = by_slots.read(reader, inner, hints)
    else:
        raw = by_lists.read(reader, inner, hints, generation)
    raw.loss_scale = reader.loss_scale(number)
    raw.places = reader.places if len(reader.places) == len(raw.entries) else None  # shards are joined
    raw.provenance.update(format=NAME, backend="tensorflow", file=str(path), optimizer=reader.paths[number][0])
    return raw


def write(template, path, arrays, hypers):
    """Write a copy of a checkpoint with other arrays: {key: array}; a checkpoint has no config for `hypers`."""
    rewrite(Bundle(prefix_of(template)), arrays, str(path))


class Reader:
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
            raise StateError("The object graph of %s is damaged: %s." % (prefix, str(error).rstrip(".")))
        self.paths = self.graph.paths()
        #: For each entry that was made the key of its tensor.
        self.places = []

    def found(self):
        """{number of an optimizer's node: generation}, wrappers for what is in them."""
        found, inside = {}, set()
        for number in self.paths:
            node, child = self.graph.nodes[number], lambda *n: self.graph.child(number, *n)  # noqa: B023
            inside.update(child(name) for name in _INSIDE if child(name) is not None)
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

    def adder(self, entries):
        """A function that adds the entry of a node to `entries`, if it has a value, and returns whether it has."""

        def add(role, variable, name, number):
            value = self.value(number)
            if value is not None:
                self.places.append(self.graph.nodes[number].key)
                entries.append(RawEntry(role, variable, name, len(entries), value))
            return value is not None

        return add
