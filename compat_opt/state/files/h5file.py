"""H5 files, opened with h5py, whose errors become errors that name the file."""

import json

from compat_opt.errors import StateError
from compat_opt.state.files import described


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


def text_of(value):
    """A string attribute, whichever way h5py gives it."""
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def json_of(file, name):
    """An attribute with JSON, {} where it is missing."""
    text = file.attrs.get(name)
    return {} if text is None else json.loads(text_of(text))


def replace_in(source, arrays, hypers):
    """Replace arrays, and numbers in the optimizer's config, in an H5 file (a path or a file object)."""
    import h5py

    with h5py.File(source, "r+") as file:
        for name, array in arrays.items():
            _replace_dataset(file, name, array)
        training = json_of(file, "training_config")
        if training and hypers:
            described.set_config(training["optimizer_config"], hypers)
            file.attrs["training_config"] = json.dumps(training).encode("utf-8")


def _replace_dataset(file, name, array):
    """Replace an array; h5py checks the new one's checksum wherever it is read."""
    import numpy as np

    dtype, attributes = file[name].dtype, dict(file[name].attrs)
    del file[name]
    has_elements = np.ndim(array) > 0 and np.size(array) > 0  # H5 has no checksums of others
    file.create_dataset(name, data=np.asarray(array, dtype), fletcher32=has_elements).attrs.update(attributes)
