"""Write a checkpoint: that of another one, with other numbers in some of its tensors. No TensorFlow is needed."""

import os

from compat_opt.state.files.crc32c import crc32c, mask

_MAGIC = 0xDB4775248B80FB57


def rewrite(bundle, arrays, prefix):
    """Write `bundle` to `prefix` with new values in some tensors, as one shard.

    Shapes, dtypes and the object graph stay; the files are replaced when they are complete, the index last.

    Args:
        bundle: a `Bundle`.
        arrays: {key: array}, of the shapes and dtypes that the tensors have.
        prefix: where to write; the path without ``.index``.
    """
    entries, offset = [(b"", _header(bundle.header()))], 0
    data_path = "%s.data-00000-of-00001" % prefix
    with open(data_path + ".tmp", "wb") as file:
        for key, message, data in bundle.stored():
            if key.decode("utf-8", "replace") in arrays:
                data = arrays[key.decode()].tobytes()
                message[6] = [mask(crc32c(data))]
            file.write(data)
            message.update({3: [0], 4: [offset], 5: [len(data)]})
            entries.append((key, _entry(message)))
            offset += len(data)
    with open(prefix + ".index.tmp", "wb") as file:
        file.write(table(entries))
    os.replace(data_path + ".tmp", data_path)
    os.replace(prefix + ".index.tmp", prefix + ".index")


def table(entries):
    """A sorted table with one block of (key, value) pairs; see `compat_opt.state.files.table`."""
    content = b"".join(
        b"\0" + varint(len(key)) + varint(len(value)) + key + value for key, value in sorted(entries)
    )
    blocks, handles = b"", []
    last = max(key for key, _ in entries)
    for body in (content, b"", None):
        if body is None:  # the index of blocks: one key not before the last one, and where the block is
            handle = handles[0]
            body = b"\0" + varint(len(last)) + varint(len(handle)) + last + handle
        block = body + (0).to_bytes(4, "little") + (1).to_bytes(4, "little") + b"\0"
        handles.append(varint(len(blocks)) + varint(len(block) - 1))
        blocks += block + mask(crc32c(block)).to_bytes(4, "little")
    footer = (handles[1] + handles[2]).ljust(40, b"\0")
    return blocks + footer + _MAGIC.to_bytes(8, "little")


def varint(number):
    """A number in the variable-length form of protocol buffers."""
    result = b""
    while number > 0x7F:
        result += bytes([number & 0x7F | 0x80])
        number >>= 7
    return result + bytes([number])


def _header(message):
    return _field(1, 1) + b"".join(_field(3, value) for value in message.get(3, ()))


def _entry(message):
    """A BundleEntryProto: numbers in fields 1 and 3-5, the checksum with a fixed length in 6, messages in 2 and 7."""
    parts = []
    for number in sorted(message):
        for value in message[number]:
            fixed = number == 6
            parts.append(varint(6 << 3 | 5) + value.to_bytes(4, "little") if fixed else _field(number, value))
    return b"".join(parts)


def _field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + bytes(value)
