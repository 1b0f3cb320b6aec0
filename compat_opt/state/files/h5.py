"""H5 files: a whole model of any generation, and Keras 3's ``.weights.h5``. Read with h5py, without TensorFlow."""

import os
import re
import shutil

from compat_opt.errors import StateError
from compat_opt.state import natives
from compat_opt.state.files import compiled, described, names, numbered
from compat_opt.state.files.h5file import array_of, json_of, opened, replace_in, text_of
from compat_opt.state.natives import wrappers
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
        if numbered.VARS in file:
            raw = numbered.read(file, hints, str(path), {}, None)
            raw.provenance["format"] = NAME
            return raw
        return _of_model(file, hints, str(path))


def write(template, path, arrays, hypers):
    """Write a copy of an H5 file with other arrays: {path in the file: array}, and other numbers in its config."""
    temporary = str(path) + ".tmp"
    shutil.copyfile(str(template), temporary)
    replace_in(temporary, arrays, hypers)
    os.replace(temporary, str(path))


def _of_model(file, hints, where):
    training = json_of(file, "training_config")
    optimizer, wrapped = described.unwrapped(training.get("optimizer_config") or {})
    provenance = {"format": NAME, "file": where, "keras": text_of(file.attrs.get("keras_version", ""))}
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
    written = [text_of(name) for name in group.attrs["weight_names"]]
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
        part = group[text_of(layer)]
        for name in part.attrs["weight_names"]:
            dataset = part[text_of(name)]
            found.append((text_of(name).split(":")[0], tuple(dataset.shape), dataset.dtype.name))
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
    class_name, config = wrappers.described(class_name, optimizer.get("config") or {})
    config.update(hints.config)
    native = natives.find(generation, class_name)
    slots = list(native.slots) + ["average", "gradient_accumulator"]
    flat = {path.replace("/", "_"): path for path, _, _ in variables}
    wrapper = [name[: -len("/dynamic_scale")] for name in plain if name.endswith("/dynamic_scale")]
    of_wrapper = {"%s/%s" % (name, own) for name in wrapper for own in ("iteration", "learning_rate")}
    known = {path: (path, shape, dtype) for path, shape, dtype in variables}
    entries, seen, places = [], [], []
    for name, written_name, array in zip(plain, written, arrays):
        last = name.rpartition("/")[2]
        if name in of_wrapper:
            continue
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
            inside = variable and variable.partition("/")[2]  # cond_1/Adam/... of a LossScaleOptimizer
            variable = inside if variable not in known and inside in known else variable
            role = {"average": "average", "gradient_accumulator": "accumulator"}.get(own, "slot" if variable else "unknown")
            own = own or name
        entries.append(RawEntry(role, variable, own, len(entries), array))
        places.append("%s/%s" % (_GROUP, written_name))
        if variable is not None and variable not in seen:
            seen.append(variable)
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
