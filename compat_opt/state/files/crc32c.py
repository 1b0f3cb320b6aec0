"""CRC-32C (Castagnoli), the checksum of TensorFlow's checkpoints, fast enough in NumPy for hundreds of megabytes.

The data are cut into equal lanes, the lanes' checksums are computed side by side, and are then
joined two by two: the checksum of ``a + b`` is that of ``a`` followed by ``len(b)`` zero bytes, xor that of ``b``.
"""

import functools

_POLYNOMIAL = 0x82F63B78
_LANES = 1 << 14


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
        data: bytes, a memoryview, or a NumPy array of uint8.
        crc: the checksum of what came before.
    """
    while len(data) >= 1024:
        lanes = min(_LANES, 1 << (len(data) // 16).bit_length() - 1)
        body = len(data) // (2 * lanes) * 2 * lanes
        crc = _shift(crc, body) ^ _of_lanes(data[:body], lanes)
        data = data[body:]
    crc ^= 0xFFFFFFFF
    for byte in bytes(data):
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def mask(crc):
    """The form in which checksums are stored beside the data that they are of."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


@functools.lru_cache(maxsize=None)
def _table_of_pairs():
    """What two bytes, the first in the lower bits, do to a checksum of zero."""
    import numpy as np

    table, pairs = np.array(_TABLE, np.uint32), np.arange(1 << 16, dtype=np.uint32)
    first = table[pairs & np.uint32(0xFF)]
    return first >> np.uint32(8) ^ table[(first ^ pairs >> np.uint32(8)) & np.uint32(0xFF)]


def _of_lanes(data, lanes):
    """The checksum of data that are cut into that many stretches, a power of two, of even length."""
    import numpy as np

    table = _table_of_pairs()
    length = len(data) // lanes
    columns = np.frombuffer(data, "<u2").reshape(lanes, length // 2)
    crcs = np.full(lanes, 0xFFFFFFFF, np.uint32)
    for start in range(0, length // 2, 128):  # transposed a piece at a time: the memory stays small
        for column in np.ascontiguousarray(columns[:, start : start + 128].T):
            crcs = crcs >> np.uint32(16) ^ table.take((crcs ^ column) & np.uint32(0xFFFF))
    crcs ^= np.uint32(0xFFFFFFFF)
    while len(crcs) > 1:
        rows = _zeros(length)
        left, shifted = crcs[::2], np.zeros(len(crcs) // 2, np.uint32)
        for bit in range(32):
            shifted ^= (left >> np.uint32(bit) & np.uint32(1)) * np.uint32(rows[bit])
        crcs, length = shifted ^ crcs[1::2], length * 2
    return int(crcs[0])


def _shift(crc, zeros):
    """The checksum after that many zero bytes more, but for the bits that a start from 0 brings."""
    return _times(_zeros(zeros), crc)


def _times(rows, vector):
    result = 0
    for bit in range(32):
        if vector >> bit & 1:
            result ^= rows[bit]
    return result


@functools.lru_cache(maxsize=4096)
def _zeros(count):
    """The linear map of `count` zero bytes on a checksum, as the images of its 32 bits."""
    result = [1 << bit for bit in range(32)]
    power = [_POLYNOMIAL] + [1 << bit for bit in range(31)]  # one zero bit
    count *= 8
    while count:
        if count & 1:
            result = [_times(power, row) for row in result]
        power = [_times(power, row) for row in power]
        count >>= 1
    return result
