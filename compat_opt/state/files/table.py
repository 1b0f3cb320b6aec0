"""The index of a checkpoint: a sorted table of keys and values, in LevelDB's format.

Source: https://github.com/google/leveldb/blob/main/doc/table_format.md; TensorFlow's copy of it never compresses an index.
"""

from compat_opt.errors import StateError
from compat_opt.state.files.crc32c import crc32c, mask
from compat_opt.state.files.protobuf import varint

_MAGIC = 0xDB4775248B80FB57
_FOOTER = 48


def read_table(path):
    """{key: value} of the file, both bytes, in its order.

    Raises:
        StateError: the file is damaged; names the byte.
    """
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < _FOOTER or int.from_bytes(data[-8:], "little") != _MAGIC:
        raise StateError(
            "%s is no index of a checkpoint, or is cut off." % path,
            "the mark of a table in the last 8 bytes",
            "%d bytes that end otherwise" % len(data),
            "Copy the file again.",
        )
    try:
        _, position = _handle(data, len(data) - _FOOTER)
        index, _ = _handle(data, position)
        found = {}
        for _, handle in _entries(_block(data, index)):
            found.update(_entries(_block(data, _handle(handle, 0)[0])))
        return found
    except StateError as error:
        raise StateError("The index %s is damaged: %s." % (path, error), remedy="Copy the file again.")


def _handle(data, position):
    """((offset, size) of a block, the position after it)."""
    offset, position = varint(data, position)
    size, position = varint(data, position)
    return (offset, size), position


def _block(data, handle):
    """The content of a block, after its checksum has been checked."""
    offset, size = handle
    content = data[offset : offset + size + 5]
    if len(content) < size + 5:
        raise StateError("the block at byte %d goes on after the end" % offset)
    if mask(crc32c(content[:-4])) != int.from_bytes(content[-4:], "little"):
        raise StateError("the block at byte %d has another checksum than was written" % offset)
    if content[size] != 0:
        raise StateError("the block at byte %d is compressed" % offset)
    return content[:size]


def _entries(block):
    """(key, value) pairs; each key is stored as what differs from the one before."""
    restarts = int.from_bytes(block[-4:], "little")
    end, position, key = len(block) - 4 * (restarts + 1), 0, b""
    while position < end:
        shared, position = varint(block, position)
        own, position = varint(block, position)
        length, position = varint(block, position)
        key = key[:shared] + block[position : position + own]
        position += own + length
        yield key, block[position - length : position]
