"""Optimizer state in files: one module of this folder with a NAME is one format.

Such a module has ``NAME``, ``SUMMARY``, ``detect(path)``, and ``read(path, hints)``, which returns a `RawState` or a
`StateRecord`; some have ``write``.
"""

import importlib
import os
import pkgutil

from compat_opt.errors import StateError
from compat_opt.state.files.hints import Hints


def formats():
    """{name: module} of the formats, sorted by name."""
    found = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module("%s.%s" % (__name__, info.name))
        if hasattr(module, "NAME"):
            found[module.NAME] = module
    return found


def format_of(path):
    """The module that reads a file, or folder.

    Raises:
        StateError: there is nothing at `path`, or no format knows it.
    """
    # A backup of Keras 2 is a checkpoint as well: the more special format comes first.
    known = sorted(formats().values(), key=lambda module: module.NAME != "backup")
    for module in known:
        if module.detect(path):
            return module
    there = os.path.exists(str(path))
    raise StateError(
        "%s is in none of the known formats." % path if there else "There is nothing at %s." % path,
        "; ".join("%s" % module.SUMMARY for module in known),
        remedy="" if there else "A checkpoint is given by its prefix, without .index and .data-....",
    )


def read_raw(path, hints=None):
    """What a file holds, under the names that it has there: a `RawState` (a `StateRecord` for a file of `save`)."""
    return format_of(path).read(path, hints or Hints())


def read_file(path, optimizer=None, class_name=None, config=None, rule=None, variables=None):
    """The state of an optimizer in a file, as a `StateRecord`.

    Args:
        path: a checkpoint (its prefix, its folder, or a SavedModel), an H5 file, a ``.keras`` file, the folder of
            BackupAndRestore, or a file of `compat_opt.state.save`. No TensorFlow is needed; H5 and ``.keras`` need h5py.
        optimizer: which one, where a checkpoint has several: its path in there ("generator_optimizer").
        class_name: the optimizer's class, where the file does not tell.
        config: the optimizer's get_config(), or a part of it, where the file has none: checkpoints hold numbers only.
        rule: the `UpdateRule` class of an optimizer that was compiled from a rule of your own.
        variables: the model's trainable variables, or [(path, shape)], for files that know positions only.

    Raises:
        StateError: nothing to read there, several optimizers, an unknown class or slot, or a damaged file: the message
            names the file and the key or byte.
    """
    hints = Hints(optimizer, class_name, config, rule, variables)
    found = read_raw(path, hints)
    return to_record_of(found, hints)


def to_record_of(found, hints):
    """The `StateRecord` of what `read_raw` returned."""
    from compat_opt.state.raw import RawState
    from compat_opt.state.reading import to_record

    if not isinstance(found, RawState):
        return found
    record = to_record(found, _rule(hints.rule))
    record.loss_scale = getattr(found, "loss_scale", None)
    return record


def _rule(rule):
    from compat_opt.state.natives.entry import rule_named

    return rule_named(rule) if isinstance(rule, str) else rule
