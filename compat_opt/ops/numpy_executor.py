"""The operations on NumPy arrays: the reference that every other executor is compared with."""

import numpy as np

from compat_opt.ops.executor import Executor

_SAME_NAME = (
    "abs add ceil cos exp expm1 floor log log1p maximum minimum multiply negative imag real sin "
    "sqrt square subtract tanh where equal greater greater_equal isfinite isnan less less_equal "
    "not_equal logical_and logical_not logical_or matmul outer diag trace tensordot broadcast_to "
    "expand_dims flip reshape squeeze stack tril triu"
).split()


def _sign(x):
    if np.iscomplexobj(x):
        size = np.abs(x)
        return np.where(size == 0, 0, x / np.where(size == 0, 1, size)).astype(x.dtype)
    return np.sign(x)


def _norm(x, axis, keepdims):
    return np.sqrt(np.sum(np.real(x * np.conj(x)), axis=axis, keepdims=keepdims))


def _reduction(function):
    def reduce(x, axis, keepdims):
        axis = tuple(axis) if isinstance(axis, list) else axis
        return function(x, axis=axis, keepdims=keepdims)

    return reduce


class NumpyExecutor(Executor):
    """NumPy arrays; step scalars are float64."""

    name = "numpy"

    def _table(self):
        table = {name: getattr(np, name) for name in _SAME_NAME}
        table.update(
            atan2=np.arctan2,
            cholesky=np.linalg.cholesky,
            concat=lambda arrays, axis=0: np.concatenate(arrays, axis),
            conj=np.conj,
            divide=np.true_divide,
            eigh=lambda x: tuple(np.linalg.eigh(x)),
            inv=np.linalg.inv,
            matrix_diagonal=lambda x: np.diagonal(x, axis1=-2, axis2=-1),
            matrix_transpose=lambda x: np.swapaxes(x, -1, -2),
            permute_dims=np.transpose,
            pow=np.power,
            qr=lambda x: tuple(np.linalg.qr(x)),
            round=np.rint,
            rsqrt=lambda x: 1 / np.sqrt(x),
            sigmoid=lambda x: 1 / (1 + np.exp(-x)),
            sign=_sign,
            solve=np.linalg.solve,
            vector_norm=_reduction(_norm),
        )
        for name in ("all", "any", "max", "mean", "min", "prod", "sum"):
            table[name] = _reduction(getattr(np, name))
        return table

    def constant(self, number, dtype):
        return np.asarray(number, dtype)[()]

    def dtype(self, tensor):
        return np.asarray(tensor).dtype.name

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
