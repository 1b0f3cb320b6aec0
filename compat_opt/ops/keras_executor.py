"""The operations on Keras 3's JAX and torch tensors, through keras.ops."""

import numpy as np
from keras import backend, ops

from compat_opt.ops.executor import Executor

_SAME_NAME = (
    "abs add ceil cos exp expm1 floor log log1p maximum minimum multiply negative imag real sin "
    "sqrt square subtract tanh where equal greater greater_equal isfinite isnan less less_equal "
    "not_equal logical_and logical_not logical_or matmul outer diag trace tensordot broadcast_to "
    "expand_dims flip reshape squeeze stack tril triu divide rsqrt sigmoid inv solve cholesky"
).split()


def _reduction(function):
    def reduce(x, axis, keepdims):
        return function(x, axis=axis, keepdims=keepdims)

    return reduce


def _is_complex(x):
    return "complex" in str(x.dtype)


def _sign(x):
    if _is_complex(x):
        size = ops.abs(x)
        return x / ops.cast(ops.where(size == 0, ops.ones_like(size), size), x.dtype)
    return ops.sign(x)


def _conj(x):
    return ops.conj(x) if _is_complex(x) else x


def _real(x):
    return ops.real(x) if _is_complex(x) else x


def _imag(x):
    return ops.imag(x) if _is_complex(x) else ops.zeros_like(x)


def _norm(x, axis, keepdims):
    return ops.sqrt(ops.sum(_real(x * _conj(x)), axis=axis, keepdims=keepdims))


class KerasExecutor(Executor):
    """Tensors of Keras 3's present backend.

    On torch, step scalars are NumPy float64 numbers: torch is eager, and its CPU and GPU tensors
    take Python numbers without a copy. On JAX they are arrays of the widest enabled dtype.
    """

    name = "keras"

    def __init__(self):
        super().__init__()
        self._torch = backend.backend() == "torch"
        if backend.backend() == "jax":
            import jax

            self.scalar_dtype = "float64" if jax.config.jax_enable_x64 else "float32"

    def function(self, name):
        function = self._functions[name]
        if not self._torch:
            return function

        def on_scalars_too(*arguments, **keywords):
            if all(isinstance(a, (np.generic, float, int)) for a in arguments):
                return self._numpy().function(name)(*arguments, **keywords)
            return function(*arguments, **keywords)

        return on_scalars_too

    def _numpy(self):
        from compat_opt.ops.numpy_executor import NumpyExecutor

        if not hasattr(self, "_numpy_executor"):
            self._numpy_executor = NumpyExecutor()
        return self._numpy_executor

    def _table(self):
        table = {name: getattr(ops, name) for name in _SAME_NAME}
        for name in ("all", "any", "max", "mean", "min", "prod", "sum"):
            table[name] = _reduction(getattr(ops, name))
        table.update(
            atan2=ops.arctan2,
            concat=ops.concatenate,
            conj=_conj,
            eigh=lambda x: tuple(ops.eigh(x)),
            imag=_imag,
            matrix_diagonal=lambda x: ops.diagonal(x, axis1=-2, axis2=-1),
            matrix_transpose=lambda x: ops.swapaxes(x, -1, -2),
            permute_dims=ops.transpose,
            pow=ops.power,
            qr=lambda x: tuple(ops.qr(x)),
            real=_real,
            round=ops.round,
            sign=_sign,
            vector_norm=_reduction(_norm),
        )
        return table

    def scalar(self, number):
        if self._torch:
            return np.float64(ops.convert_to_numpy(number) if hasattr(number, "detach") else number)
        return super().scalar(number)

    def constant(self, number, dtype):
        # By way of NumPy: converting a Python float first would round it to float32.
        return ops.convert_to_tensor(np.asarray(number), dtype)

    def dtype(self, tensor):
        if isinstance(tensor, (np.generic, np.ndarray)):
            return tensor.dtype.name
        return backend.standardize_dtype(tensor.dtype)

    def cast(self, tensor, dtype):
        if self._torch and isinstance(tensor, (np.generic, float, int)):
            return self.constant(tensor, dtype)
        return ops.cast(tensor, dtype)

    def eye(self, n, dtype):
        return ops.eye(n, dtype=dtype)

    def arange_int32(self, count):
        return ops.arange(count, dtype="int32")

    def xor_shift(self, x, count):
        return ops.bitwise_xor(x, self._shifted(x, count))

    def top_bits(self, x, count):
        return self._shifted(x, 32 - count)

    def _shifted(self, x, count):
        return ops.bitwise_and(
            ops.right_shift(x, ops.cast(count, "int32")), ops.cast(2 ** (32 - count) - 1, "int32")
        )
