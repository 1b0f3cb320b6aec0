"""A record as one file: a zip archive of .npy arrays and a JSON header; see docs/state.md.

A file is replaced as a whole or not at all, and nothing in it is executed when it is read.
"""

import json
import os
import tempfile
import zipfile

from compat_opt._version import __version__
from compat_opt.adapters.config import jsonable
from compat_opt.errors import StateError
from compat_opt.state.record import StateRecord

FORMAT = "compat_opt state"

#: Layouts of the header that `load` knows; `save` writes the last one.
LAYOUTS = (1,)

HEADER = "record.json"

_PLAIN = ("algorithm", "iterations", "hypers", "calls", "micro_step", "options", "loss_scale", "provenance")


def save(record, path):
    """Write a record to a file, atomically.

    The new file is written beside the old one, flushed to the disk and renamed over it: whenever
    the process dies, `path` is the old file or the new one. A process that is killed may leave a
    hidden file ``.<name>.*.tmp`` behind.

    Args:
        record: a `StateRecord`.
        path: the file's path, a string or an os.PathLike.

    Raises:
        StateError: a hyperparameter can't be written as JSON, or an array has objects in it.
        OSError: the folder can't be written to; the old file is as it was.
    """
    path = os.path.realpath(os.fspath(path))
    folder, name = os.path.split(path)
    header = _header(record)
    descriptor, temporary = tempfile.mkstemp(".tmp", ".%s." % name, folder)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            _write(stream, record, header)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, _mode_of(path))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    _flush_folder(folder)


def _mode_of(path):
    """The permissions of the file that is replaced, or those of any new file."""
    try:
        return os.stat(path).st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _flush_folder(folder):
    if os.name == "posix":  # elsewhere folders can't be opened
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _header(record):
    header = {"format": FORMAT, "version": LAYOUTS[-1], "written_by": "compat_opt %s" % __version__}
    for name in _PLAIN:
        header[name] = jsonable(getattr(record, name))
    header["variables"] = [[v.path, None if v.shape is None else list(v.shape), v.dtype] for v in record.variables]
    try:
        json.dumps(header)
    except (TypeError, ValueError) as error:
        raise StateError("The record can't be written as JSON: %s." % error, "numbers, strings and configs")
    return header


def _write(stream, record, header):
    import numpy as np

    header["arrays"] = []
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for number, (key, array) in enumerate(record.arrays()):
            array = np.asarray(array)
            stored, dtype = _storable(array, key)
            member = zipfile.ZipInfo("arrays/%06d.npy" % number)
            with archive.open(member, "w", force_zip64=True) as target:
                np.lib.format.write_array(target, stored, allow_pickle=False)
            header["arrays"].append(
                {"key": list(key), "member": member.filename, "dtype": dtype, "shape": list(array.shape), "crc32": member.CRC}
            )
        archive.writestr(zipfile.ZipInfo(HEADER), json.dumps(header, indent=1))


def _storable(array, key):
    """(an array that .npy can hold, the dtype's name): bfloat16 and the like as unsigned integers."""
    if array.dtype.hasobject:
        raise StateError("%s holds objects." % "/".join(key), "numbers", "dtype %s" % array.dtype)
    if array.dtype.kind == "V":
        return array.view("uint%d" % (8 * array.dtype.itemsize)), array.dtype.name
    return array, array.dtype.name


def load(path):
    """Read a record that `save` wrote.

    Args:
        path: the file's path.

    Returns:
        A `StateRecord`.

    Raises:
        StateError: it is no such file, of a later version, truncated or damaged; the message names
            the file and the place in it.
        OSError: it can't be opened.
    """
    path = os.fspath(path)
    with open(path, "rb") as stream:
        reader = _Reader(path, stream)
        try:
            return reader.record()
        except StateError:
            raise
        except Exception as error:  # whatever zipfile, json and NumPy say about damaged bytes
            reader.refuse_damaged("%s: %s" % (type(error).__name__, error))


class _Reader:
    """One call of `load`; `where` says what is being read."""

    def __init__(self, path, stream):
        self.path = path
        self.stream = stream
        self.where = "the archive's directory, at its end"

    def refuse_damaged(self, reason):
        """Raise the error for damaged bytes."""
        raise StateError(
            "The file %s is truncated or damaged in %s." % (self.path, self.where),
            "what compat_opt.state.save wrote",
            reason.rstrip("."),
            "Nothing was read from it.",
        )

    def record(self):
        if not zipfile.is_zipfile(self.stream):
            self._refuse_foreign()
        with zipfile.ZipFile(self.stream) as archive:
            header = self._header(archive)
            record = StateRecord(variables=header["variables"], **{name: header[name] for name in _PLAIN})
            for entry in header["arrays"]:
                self._place(record, entry["key"], self._array(archive, entry))
        return record

    def _refuse_foreign(self):
        self.stream.seek(0)
        start = self.stream.read(4)
        if start == b"PK\x03\x04":
            self.refuse_damaged("an archive without an end")
        raise StateError(
            "The file %s is no state file." % self.path,
            "a file written by compat_opt.state.save",
            "bytes that start with %r" % start,
            "compat_opt.state.read_file reads checkpoints, H5 and .keras files.",
        )

    def _header(self, archive):
        if HEADER not in archive.namelist():
            raise StateError(
                "The file %s is an archive, but no state file." % self.path,
                "a member %s" % HEADER,
                "members %s" % ", ".join(archive.namelist()[:5]),
                "compat_opt.state.read_file reads .keras files.",
            )
        self.where = "%s, at offset %d" % (HEADER, archive.getinfo(HEADER).header_offset)
        header = json.loads(archive.read(HEADER).decode("utf-8"))
        if header["format"] != FORMAT or header["version"] not in LAYOUTS:
            raise StateError(
                "The file %s has another format." % self.path,
                "%s, version %d or earlier" % (FORMAT, LAYOUTS[-1]),
                "%s, version %s" % (header["format"], header["version"]),
                "A later compat_opt wrote it: %s." % header.get("written_by"),
            )
        return header

    def _array(self, archive, entry):
        import numpy as np

        info = archive.getinfo(entry["member"])
        self.where = "%s (%s), at offset %d" % ("/".join(entry["key"]), entry["member"], info.header_offset)
        if info.CRC != entry["crc32"]:
            self.refuse_damaged("checksum %08x, the header says %08x" % (info.CRC, entry["crc32"]))
        with archive.open(info) as member:
            array = np.lib.format.read_array(member, allow_pickle=False)
            if member.read(1):  # to its end, where the archive compares the checksum
                self.refuse_damaged("more bytes than the array has")
        array = _restored(array, entry["dtype"])
        if list(array.shape) != entry["shape"]:
            self.refuse_damaged("shape %s, the header says %s" % (array.shape, tuple(entry["shape"])))
        return array

    @staticmethod
    def _place(record, key, array):
        part = getattr(record, key[0])
        if len(key) == 3:
            part = part.setdefault(key[1], type(record.slots)())
        part[key[-1]] = array


def _restored(array, dtype):
    """The array in the dtype that it was saved in; bfloat16 as float32 where NumPy has none."""
    import numpy as np

    if array.dtype.name == dtype:
        return array
    try:
        import ml_dtypes

        return array.view(np.dtype(getattr(ml_dtypes, dtype)))
    except (ImportError, AttributeError):
        if dtype != "bfloat16":
            raise StateError("This NumPy has no dtype %s." % dtype, remedy="Install the package ml_dtypes.")
        return (array.astype("uint32") << np.uint32(16)).view("float32")
