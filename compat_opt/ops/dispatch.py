"""Ops: gives the table's operations to a rule, and decides dtypes before an executor acts."""

import numbers

from compat_opt.errors import RuleError, closest
from compat_opt.ops import dtypes, random
from compat_opt.ops.table import OPERATIONS
from compat_opt.ops.value import Value

#: Complex numbers have no order; NumPy would compare them part by part, TensorFlow would raise.
_ORDERED = frozenset(
    "atan2 ceil floor greater greater_equal less less_equal max maximum min minimum round".split()
)


class Ops:
    """The operations of the table as methods, over one executor.

    Values go in and come out. Called with plain arrays of the executor's framework and no
    `Value`, an operation returns a plain array.

    Args:
        executor: what carries the operations out.
        compute_dtype: dtype of arrays that are created, and of numbers that meet only booleans.
        entropy: integers (step, variable's index) folded into the seed of random numbers; may
            hold a step scalar.
        memo: a dict in which operations on step scalars are kept, so that each is computed once
            a step however many variables use it; shared between the Ops of one step.
    """

    def __init__(self, executor, compute_dtype="float32", entropy=(), memo=None):
        self.executor = executor
        self.compute_dtype = compute_dtype
        self.entropy = tuple(entropy)
        self._memo = {} if memo is None else memo

    def for_variable(self, compute_dtype, index):
        """The same operations for the update of variable number `index`."""
        return Ops(self.executor, compute_dtype, self.entropy[:1] + (index,), self._memo)

    def wrap(self, raw):
        """`raw`, a framework's tensor, as a strong Value."""
        return raw if isinstance(raw, Value) else Value(raw, self)

    def scalar(self, number):
        """A Python number or a framework's scalar as a weak Value."""
        return Value(self.executor.scalar(number), self, weak=True)

    def unwrap(self, value, dtype):
        """A Value or number as the framework's tensor of `dtype`."""
        if isinstance(value, Value) and value.weak:
            # Always cast: the executor may keep step scalars as plain numbers.
            return self._kept("cast " + dtype, (value,), lambda: self.executor.cast(value.raw, dtype))
        raw = value.raw if isinstance(value, Value) else value
        if isinstance(raw, numbers.Number):
            return self.executor.constant(raw, dtype)
        return self._cast(raw, dtype)

    def _cast(self, raw, dtype):
        present = self.executor.dtype(raw)
        if present == dtype:
            return raw
        if dtypes.is_complex(present) and not dtypes.is_complex(dtype):
            raise RuleError(
                "A complex value can't become %s: its imaginary part would be lost." % dtype,
                remedy="Use ops.real, ops.abs or ops.abs_square in the rule.",
            )
        return self.executor.cast(raw, dtype)

    def _kept(self, key, operands, compute):
        """compute(), once for the same operation on the same step scalars."""
        key = (key,) + tuple(
            id(o.raw) if isinstance(o, Value) else (type(o), o) for o in operands
        )
        if key not in self._memo:
            # The operands are kept too: an id is only unique while its object lives.
            self._memo[key] = (compute(), operands)
        return self._memo[key][0]

    def __getattr__(self, name):
        raise RuleError(
            "There is no operation ops.%s." % name,
            "an operation of the table in compat_opt.ops.table",
            "ops.%s" % name,
            closest(name, OPERATIONS),
        )

    def _tensors(self, operation, arguments):
        """`arguments` as tensors of one dtype, and whether all are weak."""
        strong, weak = None, True
        for argument in arguments:
            if isinstance(argument, Value):
                if not argument.weak:
                    weak = False
                    strong = argument.dtype if strong is None else dtypes.promote(strong, argument.dtype)
            elif not isinstance(argument, numbers.Number):
                try:
                    dtype = dtypes.checked(self.executor.dtype(argument))
                except Exception:
                    raise RuleError(
                        "ops.%s can't take this argument." % operation,
                        "tensors, step scalars and numbers",
                        "%s=%r" % (type(argument).__name__, argument),
                    )
                weak = False
                strong = dtype if strong is None else dtypes.promote(strong, dtype)
        if weak:
            return [self._step_scalar(a) for a in arguments], True
        _refuse_complex(operation, strong)
        if dtypes.is_floating(strong):
            target = strong
        elif all(isinstance(a, Value) and not a.weak or not isinstance(a, (Value, float)) for a in arguments):
            target = strong
        else:
            target = self.compute_dtype
        return [self.unwrap(a, target) for a in arguments], False

    def _step_scalar(self, argument):
        raw = argument.raw if isinstance(argument, Value) else argument
        if isinstance(argument, Value) and argument.dtype == self.executor.scalar_dtype:
            return raw
        return self.executor.scalar(raw)

    def _result(self, raw, like, weak):
        if not any(isinstance(value, Value) for value in like):
            return raw
        return Value(raw, self, weak)

    def _elementwise(self, name, *arguments):
        function = self.executor.function(name)
        if OPERATIONS[name].kind == "logical":
            weak = all(isinstance(a, Value) and a.weak for a in arguments)
            raws = [a.raw if weak else self.unwrap(a, "bool") for a in arguments]
            return self._result(function(*raws), arguments, weak)
        weak_only = all(
            isinstance(a, Value) and a.weak or isinstance(a, numbers.Number) for a in arguments
        )

        def compute():
            tensors, weak = self._tensors(name, arguments)
            return self._result(function(*tensors), arguments, weak)

        if weak_only and any(isinstance(a, Value) for a in arguments):
            return self._kept(name, arguments, compute)
        if weak_only:
            return self._elementwise(name, *[self.scalar(a) for a in arguments])
        return compute()

    def clip(self, x, min=None, max=None):
        """Limit x to [min, max]; a limit may be None."""
        if min is not None:
            x = self.maximum(x, min)
        return x if max is None else self.minimum(x, max)

    def where(self, condition, x1, x2):
        """x1 where condition is true, else x2."""
        mask_weak = isinstance(condition, Value) and condition.weak
        tensors, weak = self._tensors("where", (x1, x2))
        if weak and not mask_weak:
            tensors = [self.unwrap(x, self.compute_dtype) for x in (x1, x2)]
        weak = weak and mask_weak
        mask = condition.raw if isinstance(condition, Value) else condition
        mask = mask if weak or not mask_weak else self.unwrap(condition, "bool")
        raw = self.executor.function("where")(mask, *tensors)
        return self._result(raw, (condition, x1, x2), weak)

    def pow(self, x1, x2):
        """x1 ** x2."""
        if isinstance(x2, numbers.Number) and x2 == 2:
            return self.square(x1)
        return self._elementwise("pow", x1, x2)

    def abs_square(self, x):
        """|x|^2 in the dtype of x."""
        if isinstance(x, Value) and dtypes.is_complex(x.dtype):
            return self.multiply(x, self.conj(x))
        return self.square(x)

    def reciprocal(self, x):
        """1 / x."""
        return self.divide(1.0, x)

    def astype(self, x, dtype):
        """The values of x in another dtype."""
        return self._result(self.unwrap(x, dtype), (x,), False)

    def _reduce(self, name, x, axis=None, keepdims=False):
        raw = x.raw if isinstance(x, Value) else x
        if name in _ORDERED:
            _refuse_complex(name, self.executor.dtype(raw))
        raw = self.executor.function(name)(raw, axis, keepdims)
        return self._result(raw, (x,), isinstance(x, Value) and x.weak)

    def _structural(self, name, x, *arguments, **keywords):
        """An operation on one tensor, or one list of tensors, that leaves dtypes alone."""
        many = isinstance(x, (list, tuple))
        tensors, weak = self._tensors(name, list(x) if many else [x])
        raw = self.executor.function(name)(tensors if many else tensors[0], *arguments, **keywords)
        like = x if many else (x,)
        if isinstance(raw, tuple):
            return tuple(self._result(part, like, weak) for part in raw)
        return self._result(raw, like, weak)

    def concat(self, arrays, axis=0):
        """Arrays one after the other along `axis`."""
        return self._structural("concat", arrays, axis)

    def stack(self, arrays, axis=0):
        """Arrays along a new axis."""
        return self._structural("stack", arrays, axis)

    def _pair(self, name, x1, x2, *arguments):
        tensors, weak = self._tensors(name, (x1, x2))
        return self._result(self.executor.function(name)(*(tensors + list(arguments))), (x1, x2), weak)

    def tensordot(self, x1, x2, axes=2):
        """Contraction of x1 and x2 over `axes`."""
        return self._pair("tensordot", x1, x2, axes)

    def full(self, shape, value, dtype=None):
        """An array of `shape` filled with one value."""
        dtype = dtype or self.compute_dtype
        scalar = self.unwrap(value, dtype)
        return Value(self.executor.function("broadcast_to")(scalar, tuple(shape)), self)

    def zeros(self, shape, dtype=None):
        """An array of zeros."""
        return self.full(shape, 0, dtype)

    def ones(self, shape, dtype=None):
        """An array of ones."""
        return self.full(shape, 1, dtype)

    def full_like(self, x, value):
        """An array of the shape and dtype of x filled with one value."""
        wrapped = self.wrap(x)
        filled = self.full(wrapped.shape, value, wrapped.dtype)
        return filled if isinstance(x, Value) else filled.raw

    def zeros_like(self, x):
        """Zeros of the shape and dtype of x."""
        return self.full_like(x, 0)

    def ones_like(self, x):
        """Ones of the shape and dtype of x."""
        return self.full_like(x, 1)

    def eye(self, n, dtype=None):
        """The identity matrix of n rows."""
        return Value(self.executor.eye(int(n), dtype or self.compute_dtype), self)

    def random_uniform(self, shape, seed=0):
        """Uniform numbers in [0, 1) for this step and variable."""
        return self.astype(random.uniform(self, tuple(shape), seed, self.entropy), self.compute_dtype)

    def random_normal(self, shape, seed=0):
        """Standard normal numbers for this step and variable."""
        return self.astype(random.normal(self, tuple(shape), seed, self.entropy), self.compute_dtype)


def _refuse_complex(name, dtype):
    if name in _ORDERED and dtypes.is_complex(dtype):
        raise RuleError(
            "ops.%s needs numbers that have an order; complex numbers have none." % name,
            "real values",
            "dtype=%s" % dtype,
            "Take ops.real, ops.abs or ops.abs_square first.",
        )


def _method(operation):
    name, kind = operation.name, operation.kind
    if kind in ("elementwise", "compare", "logical"):
        count = len(operation.arguments.split(","))

        def method(self, *arguments):
            if len(arguments) != count:
                raise RuleError(
                    "ops.%s takes %d arguments." % (name, count),
                    "ops.%s(%s)" % (name, operation.arguments),
                    "%d arguments" % len(arguments),
                )
            return self._elementwise(name, *arguments)

    elif kind == "reduce":

        def method(self, x, axis=None, keepdims=False):
            return self._reduce(name, x, axis, keepdims)

    elif operation.arguments.startswith("x1, x2"):

        def method(self, x1, x2):
            return self._pair(name, x1, x2)

    else:

        def method(self, x, *arguments, **keywords):
            return self._structural(name, x, *arguments, **keywords)

    method.__name__ = name
    method.__doc__ = operation.meaning
    return method


for _operation in OPERATIONS.values():
    if _operation.name not in vars(Ops):
        setattr(Ops, _operation.name, _method(_operation))
