"""Random numbers from a counter, written with 32-bit integer arithmetic that every framework has.

The generator is the lowbias32 integer hash (Chris Wellons, 2018, "Prospecting for hash
functions", https://nullprogram.com/blog/2018/07/31/) over the element's position and a key made
of seed, step and variable. It serves noise in update rules; it is no generator for cryptography.
"""

import math

_GOLDEN = 0x9E3779B9


def _hash(executor, x):
    """lowbias32 of an int32 array, element by element."""
    x = executor.xor_shift(x, 16)
    x = executor.multiply_int32(x, 0x7FEB352D)
    x = executor.xor_shift(x, 15)
    x = executor.multiply_int32(x, 0x846CA68B)
    return executor.xor_shift(x, 16)


def _bits(ops, shape, seed, entropy, stream):
    """An int32 array of hashed positions."""
    executor = ops.executor
    count = 1
    for length in shape:
        count *= length
    x = executor.arange_int32(count)
    for part in (seed, stream) + tuple(entropy):
        key = executor.to_int32(getattr(part, "raw", part))
        x = _hash(executor, executor.add_int32(executor.multiply_int32(x, _GOLDEN), key))
    return executor.function("reshape")(x, shape)


def uniform(ops, shape, seed, entropy, stream=0):
    """float32 numbers in [0, 1), multiples of 2^-24: the same bits on every executor."""
    bits = _bits(ops, shape, seed, entropy, stream)
    top = ops.executor.top_bits(bits, 24)
    return ops.multiply(ops.wrap(ops.executor.cast(top, "float32")), 2.0 ** -24)


def normal(ops, shape, seed, entropy):
    """float32 standard normal numbers by the Box-Muller transform."""
    radius = ops.sqrt(-2.0 * ops.log(1.0 - uniform(ops, shape, seed, entropy, stream=1)))
    angle = 2.0 * math.pi * uniform(ops, shape, seed, entropy, stream=2)
    return radius * ops.cos(angle)
