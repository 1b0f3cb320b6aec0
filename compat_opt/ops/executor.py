"""What an executor has to provide: the few primitives beside the functions of the table."""

import functools
import numbers
import operator

from compat_opt.ops.table import OPERATIONS


def same_names(*modules):
    """{operation: function} for the operations that one of `modules` has under the same name.

    What a framework calls otherwise, or gives other arguments, stands in its executor's table;
    tests/ops compares every operation on every executor with NumPy.
    """
    found = {}
    for name in OPERATIONS:
        for module in modules:
            if callable(getattr(module, name, None)):
                found.setdefault(name, getattr(module, name))
    return found


class Executor:
    """Base class of executors: one framework's arrays.

    Attributes:
        name: "numpy", "tensorflow", "jax" or "torch".
        scalar_dtype: dtype in which step scalars are kept: the widest that the framework has.
    """

    name = ""
    scalar_dtype = "float64"

    def __init__(self):
        self._functions = self._table()

    def _table(self):
        """{operation name: function of this framework}, with the table's arguments."""
        raise NotImplementedError

    def function(self, name):
        """The function that carries out operation `name` on this framework's tensors."""
        return self._functions[name]

    def scalar(self, number):
        """A Python number, or a scalar of this framework, as a step scalar."""
        if isinstance(number, numbers.Number):
            return self.constant(number, self.scalar_dtype)
        return self.cast(number, self.scalar_dtype)

    def constant(self, number, dtype):
        """A Python number as a tensor of `dtype`."""
        raise NotImplementedError

    def dtype(self, tensor):
        """The dtype's name."""
        raise NotImplementedError

    def shape(self, tensor):
        """The shape as a tuple of ints."""
        return tuple(int(length) for length in tensor.shape)

    def cast(self, tensor, dtype):
        """`tensor` (also a Python number) in `dtype`."""
        raise NotImplementedError

    def getitem(self, tensor, key):
        """Basic indexing: ints, slices, None and Ellipsis."""
        return tensor[key]

    def join(self, tensors):
        """The elements of several tensors as one vector."""
        reshape = self.function("reshape")
        return self.function("concat")([reshape(tensor, (-1,)) for tensor in tensors], 0)

    def split(self, vector, shapes):
        """A vector that was joined, as tensors of these shapes again."""
        parts, start, reshape = [], 0, self.function("reshape")
        for shape in shapes:
            size = functools.reduce(operator.mul, shape, 1)
            parts.append(reshape(vector[start : start + size], shape))
            start += size
        return parts

    def eye(self, n, dtype):
        """The identity matrix of n rows."""
        raise NotImplementedError

    # Integer arithmetic modulo 2^32 on int32 arrays, for ops.random.

    def arange_int32(self, count):
        """0, 1, ..., count - 1."""
        raise NotImplementedError

    def to_int32(self, number):
        """A Python int or a scalar as an int32 scalar, modulo 2^32."""
        if isinstance(number, int):
            number = (number + 2 ** 31) % 2 ** 32 - 2 ** 31
        return self.cast(number, "int32")

    def multiply_int32(self, x, constant):
        """x * constant modulo 2^32."""
        return x * self.to_int32(constant)

    def add_int32(self, x, y):
        """x + y modulo 2^32."""
        return x + y

    def xor_shift(self, x, count):
        """x ^ (x >>> count), with a logical shift."""
        raise NotImplementedError

    def top_bits(self, x, count):
        """The `count` highest bits as non-negative int32."""
        raise NotImplementedError
