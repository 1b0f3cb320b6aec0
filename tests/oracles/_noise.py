"""The package's random numbers, written again with Python integers.

lowbias32 (https://nullprogram.com/blog/2018/07/31/) of the position, keyed in turn by seed,
stream, step and variable; 24 bits give a uniform number; Box and Muller's transform a normal one.
"""

import math

import numpy as np

MASK = 0xFFFFFFFF


def _lowbias32(x):
    x ^= x >> 16
    x = (x * 0x7FEB352D) & MASK
    x ^= x >> 15
    x = (x * 0x846CA68B) & MASK
    x ^= x >> 16
    return x


def _uniform(position, seed, stream, step, variable):
    x = position
    for key in (seed, stream, step, variable):
        x = _lowbias32((x * 0x9E3779B9 + key) & MASK)
    return (x >> 8) / 2.0 ** 24


def normal(shape, seed, step, variable):
    """Standard normal numbers, made in float32 as there; `step` is 1 at the first step."""
    out = np.zeros(shape)
    for position, k in enumerate(np.ndindex(*shape)):
        first = np.float32(_uniform(position, seed, 1, step, variable))
        angle = np.float32(2 * math.pi) * np.float32(_uniform(position, seed, 2, step, variable))
        out[k] = np.sqrt(np.float32(-2) * np.log(np.float32(1) - first)) * np.cos(angle)
    return out
