"""The wire format of protocol buffers, as much of it as checkpoints use.

Errors are `StateError`s that say what is wrong; the readers add the file.

Source: https://protobuf.dev/programming-guides/encoding/
"""

from compat_opt.errors import StateError


def varint(data, position):
    """(number, position after it) of a variable-length unsigned integer in `data`.

    Raises:
        StateError: the data end inside of it, or it is longer than 64 bits.
    """
    result = shift = 0
    while True:
        if position >= len(data) or shift > 63:
            raise StateError("a number without an end at byte %d" % position)
        byte = data[position]
        result |= (byte & 0x7F) << shift
        position += 1
        if byte < 0x80:
            return result, position
        shift += 7


def signed(number):
    """A number of a message as a signed 64-bit integer."""
    return number - (1 << 64) if number >> 63 else number


def fields(data):
    """{field number: [value, ...]} of a message: numbers as ints, everything with a length as bytes.

    Raises:
        StateError: `data` is no message.
    """
    found, position = {}, 0
    while position < len(data):
        tag, position = varint(data, position)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, position = varint(data, position)
        elif kind == 2:
            length, position = varint(data, position)
            value, position = data[position : position + length], position + length
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
            value, position = int.from_bytes(data[position : position + length], "little"), position + length
        else:
            raise StateError("a field of the unknown kind %d at byte %d" % (kind, position))
        if position > len(data):
            raise StateError("field %d goes on after the end" % number)
        found.setdefault(number, []).append(value)
    return found


def text(message, number):
    """The string field `number` of what `fields` returned, "" where it is missing."""
    try:
        return message.get(number, [b""])[-1].decode("utf-8")
    except (AttributeError, UnicodeDecodeError):
        raise StateError("field %d is no text" % number)


def integer(message, number):
    """The number in the field `number`, 0 where it is missing."""
    value = message.get(number, [0])[-1]
    if not isinstance(value, int):
        raise StateError("field %d is no number" % number)
    return value
