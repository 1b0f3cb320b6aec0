"""Files of this package: a `StateRecord` by `compat_opt.state.save`."""

NAME = "record"
SUMMARY = "a file of compat_opt.state.save"


def detect(path):
    """Whether `path` is such a file."""
    from compat_opt.state import storage

    return storage.is_record(path)


def read(path, hints):
    """The `StateRecord` of the file; the hints are of no use to it."""
    from compat_opt.state import storage

    return storage.load(path)
