"""Files of this package: a `StateRecord` by `compat_opt.state.save`."""

from compat_opt.state import storage
from compat_opt.state.files.zipped import first_member

NAME = "record"
SUMMARY = "a file of compat_opt.state.save"


def detect(path):
    """Whether `path` is such a file."""
    return first_member(path).startswith(("arrays/", storage.HEADER))


def read(path, hints):
    """The `StateRecord` of the file; the hints are of no use to it."""
    return storage.load(path)
