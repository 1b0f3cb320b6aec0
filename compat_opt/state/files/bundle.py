"""The tensors of a TensorFlow checkpoint, read without TensorFlow.

A checkpoint is an index, ``PREFIX.index``, and shards with the numbers, ``PREFIX.data-00000-of-00001``. A tensor that was
partitioned is stored in slices.

Source: https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/protobuf/tensor_bundle.proto
"""

import collections
import os

from compat_opt.errors import StateError
from compat_opt.state.files.crc32c import crc32c, mask
from compat_opt.state.files.protobuf import fields, integer, signed, varint
from compat_opt.state.files.table import read_table

#: NumPy's names of the numbered types in types.proto. bfloat16 is read as its bits, and then widened.
_DTYPES = {
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    8: "complex64",
    9: "int64",
    10: "bool",
    14: "bfloat16",
    17: "uint16",
    18: "complex128",
    19: "float16",
    22: "uint32",
    23: "uint64",
}
_STRING = 7

_Entry = collections.namedtuple("_Entry", "dtype shape shard offset size crc slices")


class Bundle:
    """The tensors of one checkpoint, by key; numbers are read when they are asked for.

    Args:
        prefix: the path without ``.index``.

    Raises:
        StateError: the index is damaged.
    """

    def __init__(self, prefix):
        self.prefix = prefix
        index = read_table(prefix + ".index")
        try:
            self._index = {key: fields(value) for key, value in index.items()}
            header = self._header = self._index.pop(b"", {})
            self._shards = integer(header, 1) or 1
            self._entries = {key: _entry(value) for key, value in self._index.items()}
        except StateError as error:
            raise StateError("The index %s.index is damaged: %s." % (prefix, error), remedy="Copy the file again.")
        if integer(header, 2):
            raise StateError("%s was written on a big-endian machine." % prefix, remedy="Rewrite it with TensorFlow.")

    def keys(self):
        """The names of the tensors, in order; slices are not listed."""
        return [key.decode() for key in self._entries if not key.startswith(b"\0")]

    def __contains__(self, key):
        return key.encode() in self._entries

    def shape(self, key):
        """The shape of a tensor."""
        return self._entry_of(key).shape

    def axis_of_slices(self, key):
        """The axis along which a tensor is cut into slices, or None."""
        slices = self._entry_of(key).slices
        for axis in range(len(slices[0]) if slices else 0):
            if len({bounds[axis] for bounds in slices}) > 1:
                return axis
        return None

    def array(self, key):
        """The tensor as a NumPy array; bfloat16 as float32.

        Raises:
            StateError: there is no such key, or the shard is damaged; names file, key and byte.
        """
        import numpy as np

        entry = self._entry_of(key)
        if not entry.slices:
            return self._array(key, entry)
        whole = np.zeros(entry.shape, _numpy_dtype(entry.dtype))
        prefix = b"\0" + key.encode() + b"\0\1"
        stored = sorted(name for name in self._entries if name.startswith(prefix))
        # The order of the keys is that of their bounds.
        for name, bounds in zip(stored, sorted(entry.slices)):
            index = tuple(slice(start, None if length < 0 else start + length) for start, length in bounds)
            whole[index] = self._array(key, self._entries[name])
        if len(stored) != len(entry.slices):
            self._refuse(key, entry, "%d of its %d slices are there" % (len(stored), len(entry.slices)))
        return whole

    def string(self, key):
        """A scalar string tensor, as bytes."""
        entry = self._entry_of(key)
        if entry.dtype != _STRING or entry.shape != ():
            self._refuse(key, entry, "it is no string")
        data = self._bytes(key, entry)
        try:
            length, start = varint(data, 0)
        except StateError as error:
            self._refuse(key, entry, str(error))
        lengths = length.to_bytes(8 if length >> 32 else 4, "little")
        self._check(key, entry, crc32c(data[start:], crc32c(lengths)))
        return bytes(data[start + 4 :])

    def header(self):
        """The fields of the header."""
        return self._header

    def stored(self):
        """(key, fields of its entry, bytes) of everything in the index, slices too; keys are bytes."""
        for key, entry in self._entries.items():
            name = key.decode("utf-8", "replace")
            yield key, dict(self._index[key]), b"" if entry.slices else self._bytes(name, entry)

    def _entry_of(self, key):
        if key not in self:
            raise StateError("The checkpoint %s has no tensor %r." % (self.prefix, key))
        return self._entries[key.encode()]

    def _array(self, key, entry):
        import numpy as np

        if entry.dtype not in _DTYPES:
            self._refuse(key, entry, "its dtype, number %d, is none of numbers" % entry.dtype)
        dtype = np.dtype(_numpy_dtype(entry.dtype))
        count = 1
        for size in entry.shape:
            count *= size
        stored = 2 if _DTYPES[entry.dtype] == "bfloat16" else dtype.itemsize
        if count * stored != entry.size:
            self._refuse(key, entry, "shape %s needs %d bytes, not %d" % (entry.shape, count * stored, entry.size))
        data = self._bytes(key, entry)
        self._check(key, entry, crc32c(data))
        if stored != dtype.itemsize:
            return (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4").reshape(entry.shape)
        return np.frombuffer(data, dtype).reshape(entry.shape)

    def _bytes(self, key, entry):
        try:
            with open(self._shard(entry), "rb") as file:
                lacking = entry.offset + entry.size - os.fstat(file.fileno()).st_size
                if lacking > 0:
                    self._refuse(key, entry, "the file ends %d bytes too early" % min(lacking, entry.size))
                file.seek(entry.offset)
                data = bytearray(entry.size)
                file.readinto(data)
        except OSError as error:
            self._refuse(key, entry, "the shard can't be read (%s)" % error)
        return data

    def _check(self, key, entry, crc):
        if mask(crc) != entry.crc:
            self._refuse(key, entry, "it has another checksum than was written")

    def _shard(self, entry):
        return "%s.data-%05d-of-%05d" % (self.prefix, entry.shard, self._shards)

    def _refuse(self, key, entry, why):
        raise StateError(
            "The tensor %r at byte %d of %s can't be read: %s." % (key, entry.offset, self._shard(entry), why),
            remedy="Copy the file again, or take an earlier checkpoint.",
        )


def _entry(message):
    shape = fields(message.get(2, [b""])[-1])
    sizes = tuple(signed(integer(fields(size), 1)) for size in shape.get(2, ()))
    if any(size < 0 for size in sizes):
        raise StateError("a shape with a negative size")
    slices = [_bounds(part) for part in message.get(7, ())]
    return _Entry(*([integer(message, 1), sizes] + [integer(message, number) for number in (3, 4, 5, 6)] + [slices]))


def _bounds(part):
    """((start, length), ...) of a slice; -1 is the whole length."""
    extents = [fields(extent) for extent in fields(part).get(1, ())]
    return tuple((signed(integer(e, 1)), signed(integer(e, 2)) if 2 in e else -1) for e in extents)


def _numpy_dtype(number):
    return {"bfloat16": "float32"}.get(_DTYPES[number], _DTYPES[number])
