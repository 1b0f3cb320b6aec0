"""The operations on torch tensors."""

import numbers

import numpy as np
import torch

from compat_opt.ops.executor import Executor, same_names
from compat_opt.ops.numpy_executor import NumpyExecutor


def _imag(x):
    return torch.imag(x) if x.is_complex() else torch.zeros_like(x)


def _axes(axis, x):
    if axis is None:
        return tuple(range(x.ndim))
    return (axis,) if isinstance(axis, int) else tuple(axis)


def _reduction(function):
    def reduce(x, axis, keepdims):
        axes = _axes(axis, x)
        return function(x, axes, keepdim=keepdims) if axes else function(x.reshape(1), (0,), keepdim=False)

    return reduce


def _one_axis_at_a_time(function):
    """For torch functions that reduce one axis only."""

    def reduce(x, axis, keepdims):
        for axis in sorted((a % x.ndim for a in _axes(axis, x)), reverse=True):
            x = function(x, axis, keepdim=keepdims)
        return x

    return reduce


class TorchExecutor(Executor):
    """torch tensors; step scalars are NumPy float64 numbers.

    torch is eager, and its CPU and GPU tensors take Python numbers without a copy.
    """

    name = "torch"
    #: Where arrays are created; Keras chooses it once per process.
    device = None

    def _table(self):
        table = same_names(torch)
        table.update(
            all=_one_axis_at_a_time(torch.all),
            any=_one_axis_at_a_time(torch.any),
            cholesky=torch.linalg.cholesky,
            concat=lambda arrays, axis=0: torch.cat(arrays, axis),
            eigh=lambda x: tuple(torch.linalg.eigh(x)),
            equal=torch.eq,
            expand_dims=lambda x, axis=0: torch.unsqueeze(x, axis),
            flip=lambda x, axis: torch.flip(x, [axis] if isinstance(axis, int) else list(axis)),
            imag=_imag,
            inv=torch.linalg.inv,
            matrix_diagonal=lambda x: torch.diagonal(x, dim1=-2, dim2=-1),
            matrix_transpose=lambda x: torch.swapaxes(x, -1, -2),
            max=_reduction(torch.amax),
            mean=_reduction(torch.mean),
            min=_reduction(torch.amin),
            not_equal=torch.ne,
            permute_dims=torch.permute,
            prod=_one_axis_at_a_time(torch.prod),
            qr=lambda x: tuple(torch.linalg.qr(x)),
            round=torch.round,
            sign=torch.sgn,
            solve=torch.linalg.solve,
            sum=_reduction(torch.sum),
            tril=lambda x, k=0: torch.tril(x, k),
            triu=lambda x, k=0: torch.triu(x, k),
            tensordot=lambda x1, x2, axes: torch.tensordot(x1, x2, dims=axes),
            vector_norm=_reduction(lambda x, axes, keepdim: torch.linalg.vector_norm(x, 2, axes, keepdim)),
        )
        return {name: self._on_scalars_too(name, function) for name, function in table.items()}

    def _on_scalars_too(self, name, function):
        """Step scalars are NumPy numbers, and so are results of operations among them."""

        def call(*arguments, **keywords):
            if not isinstance(arguments[0], list) and not any(
                isinstance(argument, torch.Tensor) for argument in arguments
            ):
                return _NUMPY.function(name)(*arguments, **keywords)
            return function(*arguments, **keywords)

        return call

    def scalar(self, number):
        if isinstance(number, torch.Tensor):
            number = number.item()
        return np.bool_(number) if isinstance(number, (bool, np.bool_)) else np.float64(number)

    def constant(self, number, dtype):
        return torch.tensor(number, dtype=getattr(torch, dtype), device=self.device)

    def dtype(self, tensor):
        if isinstance(tensor, torch.Tensor):
            return str(tensor.dtype).split(".")[-1]
        return np.asarray(tensor).dtype.name

    def shape(self, tensor):
        return tuple(np.shape(tensor))

    def cast(self, tensor, dtype):
        if isinstance(tensor, (np.generic, np.ndarray)):  # a step scalar; np.where gives an array
            return self.constant(tensor.item(), dtype)
        if isinstance(tensor, numbers.Number):
            return self.constant(tensor, dtype)
        return tensor.to(getattr(torch, dtype))

    def eye(self, n, dtype):
        return torch.eye(n, dtype=getattr(torch, dtype), device=self.device)

    def arange_int32(self, count):
        return torch.arange(count, dtype=torch.int32, device=self.device)

    def xor_shift(self, x, count):
        return x ^ self._shifted(x, count)

    def top_bits(self, x, count):
        return self._shifted(x, 32 - count)

    def _shifted(self, x, count):
        # torch shifts signed numbers arithmetically: clear the copies of the sign bit.
        return (x >> count) & (2 ** (32 - count) - 1)


_NUMPY = NumpyExecutor()
