"""Value: the tensor that a rule sees, whatever framework holds it.

A *strong* value has the dtype of a variable's update. A *weak* value is a step scalar (a
hyperparameter, the step, what `prepare` returned): arithmetic among weak values stays in
float64 where the backend has it, so that ``1 - hyper.beta_2`` keeps its digits, and the result
takes the dtype of the first strong value it meets.
"""

from compat_opt.errors import RuleError


class Value:
    """A tensor of some framework with the operators of the array API.

    Attributes:
        raw: the framework's tensor.
        dtype: its dtype's name.
        weak: whether it is a step scalar, see the module's docstring.
    """

    __slots__ = ("_ops", "dtype", "raw", "weak")
    __array_priority__ = 1000
    __hash__ = None

    def __init__(self, raw, ops, weak=False):
        self._ops = ops
        self.raw = raw
        self.weak = weak
        self.dtype = ops.executor.dtype(raw)

    @property
    def shape(self):
        """The shape, a tuple of ints."""
        return self._ops.executor.shape(self.raw)

    @property
    def ndim(self):
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self):
        """The number of elements."""
        count = 1
        for length in self.shape:
            count *= length
        return count

    def __getitem__(self, key):
        return Value(self._ops.executor.getitem(self.raw, key), self._ops, self.weak)

    def __bool__(self):
        raise RuleError(
            "A rule can't branch on the value of a tensor: the same code runs inside compiled steps.",
            remedy="Use ops.where(condition, a, b), or a static hyper for a flag.",
        )

    def __float__(self):
        raise RuleError(
            "A rule can't turn a tensor into a Python number: the same code runs inside compiled "
            "steps.",
            remedy="Keep it a tensor; numbers, scalars and tensors mix freely.",
        )

    __int__ = __index__ = __iter__ = __len__ = __float__

    def __repr__(self):
        return "Value(%r%s)" % (self.raw, ", weak" if self.weak else "")


def _binary(name, operation):
    def forward(self, other):
        return getattr(self._ops, operation)(self, other)

    def backward(self, other):
        return getattr(self._ops, operation)(other, self)

    setattr(Value, "__%s__" % name, forward)
    setattr(Value, "__r%s__" % name, backward)


for _name, _operation in (
    ("add", "add"),
    ("sub", "subtract"),
    ("mul", "multiply"),
    ("truediv", "divide"),
    ("pow", "pow"),
    ("matmul", "matmul"),
    ("and", "logical_and"),
    ("or", "logical_or"),
):
    _binary(_name, _operation)


def _comparison(name, operation):
    setattr(
        Value, "__%s__" % name, lambda self, other: getattr(self._ops, operation)(self, other)
    )


for _name, _operation in (
    ("lt", "less"),
    ("le", "less_equal"),
    ("gt", "greater"),
    ("ge", "greater_equal"),
    ("eq", "equal"),
    ("ne", "not_equal"),
):
    _comparison(_name, _operation)

Value.__neg__ = lambda self: self._ops.negative(self)
Value.__pos__ = lambda self: self
Value.__abs__ = lambda self: self._ops.abs(self)
Value.__invert__ = lambda self: self._ops.logical_not(self)
