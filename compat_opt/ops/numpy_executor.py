"""The operations on NumPy arrays: the reference that every other executor is compared with."""

import functools

import numpy as np

from compat_opt.ops.executor import Executor, same_names


def numpy_like_table(xp):
    """The table for a module with NumPy's functions: numpy itself, or jax.numpy."""

    def sign(x):
        if xp.iscomplexobj(x):
            size = xp.abs(x)
            return xp.where(size == 0, 0, x / xp.where(size == 0, 1, size)).astype(x.dtype)
        return xp.sign(x)

    def norm(x, axis, keepdims):
        return xp.sqrt(xp.sum(xp.real(x * xp.conj(x)), axis=axis, keepdims=keepdims))

    def reduction(function):
        def reduce(x, axis, keepdims):
            axis = tuple(axis) if isinstance(axis, list) else axis
            return function(x, axis=axis, keepdims=keepdims)

        return reduce

    table = same_names(xp)
    table.update(
        atan2=xp.arctan2,
        cholesky=xp.linalg.cholesky,
        concat=lambda arrays, axis=0: xp.concatenate(arrays, axis),
        divide=xp.true_divide,
        eigh=lambda x: tuple(xp.linalg.eigh(x)),
        expand_dims=lambda x, axis=0: xp.expand_dims(x, axis),
        inv=xp.linalg.inv,
        matrix_diagonal=lambda x: xp.diagonal(x, axis1=-2, axis2=-1),
        matrix_transpose=lambda x: xp.swapaxes(x, -1, -2),
        permute_dims=xp.transpose,
        pow=xp.power,
        qr=lambda x: tuple(xp.linalg.qr(x)),
        round=xp.rint,
        rsqrt=lambda x: 1 / xp.sqrt(x),
        sigmoid=lambda x: 1 / (1 + xp.exp(-x)),
        sign=sign,
        solve=xp.linalg.solve,
        vector_norm=reduction(norm),
    )
    for name in ("all", "any", "max", "mean", "min", "prod", "sum"):
        table[name] = reduction(getattr(xp, name))
    return table


@functools.lru_cache(maxsize=None)
def _dtype_name(dtype):
    """NumPy works out a dtype's name each time it is asked, which takes as long as a small sum."""
    return dtype.name


class NumpyExecutor(Executor):
    """NumPy arrays; step scalars are float64."""

    name = "numpy"

    def _table(self):
        return numpy_like_table(np)

    def constant(self, number, dtype):
        return np.asarray(number, dtype)[()]

    def dtype(self, tensor):
        return _dtype_name(tensor.dtype if hasattr(tensor, "dtype") else np.asarray(tensor).dtype)

    def shape(self, tensor):
        return np.shape(tensor)

    def cast(self, tensor, dtype):
        return np.asarray(tensor).astype(dtype)[()]

    def eye(self, n, dtype):
        return np.eye(n, dtype=dtype)

    def arange_int32(self, count):
        return np.arange(count, dtype="int32")

    def multiply_int32(self, x, constant):
        with np.errstate(over="ignore"):
            return x * self.to_int32(constant)

    def add_int32(self, x, y):
        with np.errstate(over="ignore"):
            return x + y

    def xor_shift(self, x, count):
        unsigned = np.asarray(x, "int32").view("uint32")
        return (unsigned ^ (unsigned >> np.uint32(count))).view("int32")

    def top_bits(self, x, count):
        return (np.asarray(x, "int32").view("uint32") >> np.uint32(32 - count)).astype("int32")
