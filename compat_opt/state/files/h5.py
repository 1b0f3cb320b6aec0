"""H5 files: a whole model of any generation, and Keras 3's ``.weights.h5``. Read with h5py, without TensorFlow."""

import json
import os
import re
import shutil

from compat_opt import rules
from compat_opt.errors import StateError
from compat_opt.state import natives
from compat_opt.state.files import compiled, described, names, positions
from compat_opt.state.raw import RawEntry, RawState

NAME = "h5"
SUMMARY = "an H5 file: model.save(x.h5), or Keras 3's save_weights(x.weights.h5)"

_MARK = b"\x89HDF\r\n\x1a\n"
_GROUP = "optimizer_weights"
_SCALE = ("current_loss_scale", "good_steps")


def detect(path):
    """Whether `path` is an HDF5 file."""
    try:
        with open(str(path), "rb") as file:
            return file.read(8) == _MARK
    except OSError:
        return False


def read(path, hints):
    """The `RawState` of the optimizer in an H5 file.

    Raises:
        StateError: the file holds no optimizer state, or is damaged.
    """
    with opened(path) as file:
        if "optimizer/vars" in file:
            return of_vars(file, hints, str(path), {}, None)
        return _of_model(file, hints, str(path))


def write(template, path, arrays, hypers):
    """Write a copy of an H5 file with other arrays: {path in the file: array}, and other numbers in its config."""
    temporary = str(path) + ".tmp"
    shutil.copyfile(str(template), temporary)
    replace_in(temporary, arrays, hypers)
    os.replace(temporary, str(path))


def replace_in(source, arrays, hypers):
    """Replace arrays, and numbers in the optimizer's config, in an H5 file (a path or a file object)."""
    import h5py

    with h5py.File(source, "r+") as file:
        for name, array in arrays.items():
            file[name][...] = array
        training = _json(file, "training_config")
        if training and hypers:
            described.set_config(training["optimizer_config"], hypers)
            file.attrs["training_config"] = json.dumps(training).encode("utf-8")


class opened:  # noqa: N801 - a context manager
    """An H5 file, or a file object with one; h5py's errors become errors that name the file."""

    def __init__(self, source, where=None):
        self.source, self.where = source, where or str(source)

    def __enter__(self):
        import h5py

        try:
            self.file = h5py.File(self.source, "r")
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            self._refuse(error)
        return self.file

    def __exit__(self, kind, error, trace):
        try:
            self.file.close()
        except RuntimeError:  # h5py's objects of a damaged file
            pass
        if error is not None and not isinstance(error, StateError) and isinstance(error, Exception):
            self._refuse(error)

    def _refuse(self, error):
        raise StateError(
            "The H5 file %s can't be read: %s." % (self.where, str(error) or type(error).__name__),
            remedy="Copy it again; h5py says where it is damaged.",
        )


def array_of(group, name, where):
    """The array of a dataset.

    Raises:
        StateError: it is missing or damaged.
    """
    import numpy as np

    try:
        return np.array(group[name][()])
    except (OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise StateError("%s of %s can't be read: %s." % (name, where, error), remedy="Copy the file again.")


def _text(value):
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def _json(file, name):
    text = file.attrs.get(name)
    return {} if text is None else json.loads(_text(text))


def _of_model(file, hints, where):
    training = _json(file, "training_config")
    optimizer, wrapped = described.unwrapped(training.get("optimizer_config") or {})
    provenance = {"format": NAME, "file": where, "keras": _text(file.attrs.get("keras_version", ""))}
    if _GROUP not in file:
        raise StateError(
            "%s holds no optimizer state." % where,
            "a group %s" % _GROUP,
            "an optimizer's config alone, of %s" % optimizer["class_name"] if optimizer else "a model without optimizer",
            "TensorFlow 2.9 and 2.10 write none for optimizers of keras.optimizers.experimental: take a checkpoint."
            if optimizer
            else "Was the model compiled, and saved with include_optimizer=True?",
        )
    group = file[_GROUP]
    written = [_text(name) for name in group.attrs["weight_names"]]
    arrays = [array_of(group, name, where) for name in written]
    plain = [name.split(":")[0] for name in written]
    variables = _variables(file)
    rule_name = described.compiled_name(optimizer)
    if rule_name is not None:
        raw = _compiled(plain, arrays, optimizer, variables, hints, rule_name)
        raw.places = ["%s/%s" % (_GROUP, name) for name in written]
    else:
        raw = _native(written, arrays, optimizer, variables, hints)
    scale = {name.split("/")[-1]: array for name, array in zip(plain, arrays)}
    if wrapped and all(name in scale for name in _SCALE):
        raw.loss_scale = {"scale": float(scale[_SCALE[0]]), "good_steps": int(scale[_SCALE[1]])}
    elif "dynamic_scale" in scale:
        raw.loss_scale = {"scale": float(scale["dynamic_scale"]), "good_steps": int(scale["step_counter"])}
    raw.provenance.update(provenance)
    return raw


def _variables(file):
    """[(path, shape, dtype name)] of all weights of the model, also those that are not trained."""
    found = []
    group = file["model_weights"] if "model_weights" in file else {}
    for layer in group.attrs["layer_names"] if group else ():
        part = group[_text(layer)]
        for name in part.attrs["weight_names"]:
            dataset = part[_text(name)]
            found.append((_text(name).split(":")[0], tuple(dataset.shape), dataset.dtype.name))
    return found


def _generation(plain):
    """OptimizerV2 counts in "Adam/iter", Keras 2 in "iteration", Keras 3 in "adam/iteration"."""
    ends = {name.rpartition("/")[2]: name for name in plain}
    if "iter" in ends:
        return "optimizer_v2"
    return "keras3" if "/" in ends.get("iteration", "") else "keras2"


def _native(written, arrays, optimizer, variables, hints):
    plain = [name.split(":")[0] for name in written]
    generation = _generation(plain)
    class_name = hints.class_name or optimizer.get("class_name")
    config = dict(optimizer.get("config") or {}, **hints.config)
    native = natives.find(generation, class_name)
    slots = list(native.slots) + ["average", "gradient_accumulator"]
    flat = {path.replace("/", "_"): path for path, _, _ in variables}
    entries, seen, places = [], [], []
    for name, written_name, array in zip(plain, written, arrays):
        last = name.rpartition("/")[2]
        if last in ("iter", "iteration"):
            role, variable, own = "iteration", None, last
        elif last == "learning_rate":
            role, variable, own = "hyper", None, last
        elif last in native.shared or "_" + last in native.shared:
            role, variable, own = "shared", None, last if last in native.shared else "_" + last
        elif last in _SCALE + ("dynamic_scale", "step_counter"):
            continue
        else:
            own = _slot_in(name, slots, generation)
            variable = own and names.variable_of(name, own, flat)
            role = {"average": "average", "gradient_accumulator": "accumulator"}.get(own, "slot" if variable else "unknown")
            own = own or name
        entries.append(RawEntry(role, variable, own, len(entries), array))
        places.append("%s/%s" % (_GROUP, written_name))
        if variable is not None and variable not in seen:
            seen.append(variable)
    known = {path: (path, shape, dtype) for path, shape, dtype in variables}
    raw = RawState(
        generation, class_name, config, entries, variables=[known.get(path, (path, None, None)) for path in seen]
    )
    raw.places = places
    return raw


def _slot_in(name, slots, generation):
    """Which slot a name is of: by its end, or for Keras 2 by its beginning."""
    for slot in sorted(slots, key=len, reverse=True):
        if generation == "optimizer_v2" and name.endswith("/" + slot):
            return slot
        if generation == "keras2" and re.match(r"(?:[^/]*/)?%s/" % re.escape(slot), name):
            return slot
        if generation == "keras3" and name.rpartition("/")[2].endswith("_" + slot):
            return slot
    return None


def _compiled(plain, arrays, optimizer, variables, hints, rule_name):
    rule = compiled.rule_class(hints, rule_name)
    config = dict(optimizer.get("config") or {}, **hints.config)
    slots = list(rule.slots()) + ["average", "accumulator", "calls"]
    flat = {path.replace("/", "_"): path for path, _, _ in variables}
    entries = []
    for name, array in zip(plain, arrays):
        own = name.rpartition("/")[2]
        slot = next((s for s in sorted(slots, key=len, reverse=True) if names.variable_of(name, s, flat)), None)
        if slot is None:
            entries.append(RawEntry(compiled.role_of(rule, own), None, own, len(entries), array))
        else:
            path = names.variable_of(name, slot, flat)
            entries.append(RawEntry(compiled.role_of(rule, slot, "slot"), path, slot, len(entries), array))
    seen = list({entry.variable: None for entry in entries if entry.variable is not None})
    known = {path: (path, shape, dtype) for path, shape, dtype in variables}
    return compiled.raw_state(
        _generation(plain), rule, config, entries, [known.get(path, (path, None, None)) for path in seen]
    )


def of_vars(file, hints, where, optimizer, generation):
    """The `RawState` of ``optimizer/vars`` in a file of Keras 2.12 or newer.

    Args:
        file: the h5py file.
        hints: the `Hints`.
        where: its name, for messages.
        optimizer: what config.json says about the optimizer, {} where there is none.
        generation: where known, else None: Keras 3 names its groups, Keras 2 does not.
    """
    group = file["optimizer/vars"]
    if not len(group):
        raise StateError("%s holds no optimizer state: optimizer/vars is empty." % where)
    # One that is wrapped has its arrays one group further down.
    inner = file.get("optimizer/inner_optimizer/vars")
    scale = None
    if inner is not None:
        outer = [array_of(group, str(i), where) for i in range(len(group))]
        scalars = [a for a in outer if a.shape == ()][-2:]
        scale = {"scale": float(scalars[1]), "good_steps": int(scalars[0])}
        group = inner
    optimizer, _ = described.unwrapped(optimizer)
    arrays = [array_of(group, str(i), where) for i in range(len(group))]
    named = group.attrs.get("name")
    generation = generation or ("keras3" if named is not None else "keras2")
    config = dict(optimizer.get("config") or {}, **hints.config)
    shapes = _layer_shapes(file)
    called = _text(named) if named is not None else ""
    rule_name = described.compiled_name(optimizer)
    if rule_name is None and not optimizer and not hints.class_name and called in rules.names():
        rule_name = called  # Keras 3 itself writes "adam"
    if rule_name is not None or hints.rule is not None:
        known = [v[1] for v in hints.variables] if hints.variables else shapes
        raw = compiled.from_order(generation, compiled.rule_class(hints, rule_name or ""), config, arrays, known, where)
    else:
        class_name = hints.class_name or optimizer.get("class_name")
        class_name = class_name or names.class_name(generation, called + "/", None, hints)
        raw = positions.raw_state(generation, class_name, config, arrays, hints, where, shapes)
    raw.loss_scale = scale
    raw.places = ["%s/%d" % (group.name.lstrip("/"), number) for number in range(len(arrays))]
    raw.provenance.update(format=NAME, file=where)
    return raw


def _layer_shapes(file):
    """Shapes of the weights of all layers, in the file's order."""
    shapes = []

    def visit(name, item):
        if re.match(r"(_?layers|_tracked).*/vars/\d+$", name) and hasattr(item, "shape"):
            shapes.append((name, tuple(item.shape)))

    file.visititems(visit)
    return [shape for _, shape in shapes]
