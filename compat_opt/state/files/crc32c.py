"""CRC-32C (Castagnoli), the checksum of TensorFlow's checkpoints, fast enough in NumPy for hundreds of megabytes.

Checksums are linear: a word of the data may be replaced by 0, if what it becomes after n zero bytes is added (xor) to the
word that stands n bytes behind it. So long data are laid out in rows, and each row is added to the next one, all of its
words at once, until a single row with the same checksum is left.
"""

import functools

_POLYNOMIAL = 0x82F63B78
#: Words in a row, longest first: each folding leaves less than two rows.
_ROWS = (1 << 14, 1 << 10, 1 << 6)


def _table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _table()


def crc32c(data, crc=0):
    """The checksum of `data`, going on from `crc`.

    Args:
        data: bytes, a bytearray or a memoryview.
        crc: the checksum of what came before.
    """
    crc ^= 0xFFFFFFFF
    for words in _ROWS:
        if len(data) >= 16 * words:
            data, crc = _folded(data, crc, words), 0
    for byte in bytes(data):
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def mask(crc):
    """The form in which checksums are stored beside the data that they are of."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _folded(data, crc, words):
    """Less than two rows that, from 0, have the checksum that `data` has from `crc`."""
    import numpy as np

    count = len(data) // (4 * words)
    rows = np.frombuffer(data, "<u4", count * words).reshape(count, words)
    low, high = _tables(4 * words)
    row = rows[0].copy()
    row[0] ^= np.uint32(crc)
    for following in rows[1:]:
        halves = row.view("<u2")
        row = low[halves[::2]]
        row ^= high[halves[1::2]]
        row ^= following
    return row.tobytes() + bytes(data[4 * count * words :])


@functools.lru_cache(maxsize=None)
def _tables(zeros):
    """What the lower and the higher half of a word become after that many zero bytes: two tables of 65536 words."""
    import numpy as np

    images = _zeros(zeros)
    tables = []
    for bits in (images[:16], images[16:]):
        table = np.zeros(1, "<u4")
        for image in bits:
            table = np.concatenate([table, table ^ np.uint32(image)])
        tables.append(table)
    return tables


def _zeros(count):
    """The linear map of `count` zero bytes on a checksum, as the images of its 32 bits."""
    result = [1 << bit for bit in range(32)]
    power = [_POLYNOMIAL] + [1 << bit for bit in range(31)]  # one zero bit
    count *= 8
    while count:
        if count & 1:
            result = [_times(power, image) for image in result]
        power = [_times(power, image) for image in power]
        count >>= 1
    return result


def _times(images, vector):
    result = 0
    for bit in range(32):
        if vector >> bit & 1:
            result ^= images[bit]
    return result
