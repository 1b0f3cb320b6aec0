"""What the callback BackupAndRestore leaves in its folder: a checkpoint (Keras 2), or H5 (Keras 3)."""

import os

from compat_opt.state.files import checkpoint, h5

NAME = "backup"
SUMMARY = "the folder of BackupAndRestore"

_KERAS3 = "latest.weights.h5"


def detect(path):
    """Whether `path` is such a folder."""
    return os.path.isdir(str(path)) and (
        os.path.isfile(os.path.join(str(path), _KERAS3)) or os.path.isdir(os.path.join(str(path), "chief"))
    )


def read(path, hints):
    """The `RawState` of the optimizer in the backup."""
    inside = os.path.join(str(path), _KERAS3)
    raw = h5.read(inside, hints) if os.path.isfile(inside) else checkpoint.read(path, hints)
    raw.provenance.update(format=NAME, file=str(path))
    return raw
