"""``.keras`` files: a zip archive with a config and an H5 file. Read with h5py, without Keras."""

import io
import json
import os
import zipfile

from compat_opt.errors import StateError
from compat_opt.state.files import described, h5file, numbered
from compat_opt.state.files.zipped import first_member

NAME = "keras"
SUMMARY = "a .keras archive, of Keras 2.12 or newer"

_WEIGHTS, _CONFIG, _METADATA = "model.weights.h5", "config.json", "metadata.json"


def detect(path):
    """Whether `path` is such an archive."""
    return first_member(path) in (_WEIGHTS, _CONFIG, _METADATA)


def read(path, hints):
    """The `RawState` of the optimizer in a ``.keras`` file.

    Raises:
        StateError: the file holds no optimizer state, or is damaged.
    """
    where = str(path)
    members = members_of(path)
    metadata, config = (_parsed(members, name, where) for name in (_METADATA, _CONFIG))
    version = str(metadata.get("keras_version", ""))
    optimizer = (config.get("compile_config") or {}).get("optimizer") or {}
    keras3 = version.startswith("3.")
    with h5file.opened(io.BytesIO(members[_WEIGHTS]), where + ":" + _WEIGHTS) as file:
        if numbered.VARS not in file:
            raise StateError(
                "%s holds no optimizer state." % where,
                "a group %s in its %s" % (numbered.VARS, _WEIGHTS),
                "an optimizer %s" % ".".join(filter(None, map(optimizer.get, ("module", "class_name")))) if optimizer else "no optimizer",
                "It never holds that of a legacy optimizer (OptimizerV2): take H5, or a checkpoint.",
            )
        raw = numbered.read(file, hints, where, optimizer, "keras3" if keras3 else "keras2")
    raw.provenance.update(format=NAME, keras=version)
    return raw


def write(template, path, arrays, hypers):
    """Write a copy of a ``.keras`` file with other arrays, and other numbers in its config."""
    members = members_of(template)
    weights = io.BytesIO(members[_WEIGHTS])
    h5file.replace_in(weights, arrays, {})
    config = _parsed(members, _CONFIG, str(template))
    optimizer = (config.get("compile_config") or {}).get("optimizer")
    if optimizer and hypers:
        described.set_config(optimizer, hypers)
    new = {_WEIGHTS: weights.getvalue(), _CONFIG: json.dumps(config).encode("utf-8")}
    temporary = str(path) + ".tmp"
    with zipfile.ZipFile(str(template)) as source, zipfile.ZipFile(temporary, "w") as target:
        for item in source.infolist():
            target.writestr(item, new.get(item.filename) or source.read(item.filename))
    os.replace(temporary, str(path))


def members_of(path):
    """{name: bytes} of the three members; each is checked against its checksum.

    Raises:
        StateError: the archive is damaged, or a member is missing.
    """
    found = {}
    try:
        with zipfile.ZipFile(str(path)) as archive:
            for name in (_WEIGHTS, _CONFIG, _METADATA):
                found[name] = archive.read(name)
    except KeyError as error:
        raise StateError("%s is no .keras file: %s." % (path, error.args[0]))
    except Exception as error:  # zipfile raises errors of many kinds for damaged files
        raise StateError("The archive %s is damaged: %s." % (path, error), remedy="Copy the file again.")
    return found


def _parsed(members, name, where):
    try:
        return json.loads(members[name].decode("utf-8"))
    except ValueError as error:
        raise StateError("%s of %s is no JSON: %s." % (name, where, error))
