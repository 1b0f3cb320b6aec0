"""The recording executor: runs a rule on symbols, to see which operations it uses."""

from compat_opt.ops.executor import Executor
from compat_opt.ops.table import OPERATIONS

#: Kinds of operations that act on each element by itself.
ELEMENTWISE = ("elementwise", "compare", "logical")


class Node:
    """A symbolic value. Equal computations are one object: compare with ``is``.

    Attributes:
        operation: name in the table, "cast", "constant" or "input".
        arguments: nodes, and plain Python values.
        dtype_name: the dtype.
    """

    __slots__ = ("arguments", "dtype_name", "operation")

    def __init__(self, operation, arguments, dtype_name):
        self.operation = operation
        self.arguments = arguments
        self.dtype_name = dtype_name

    def __repr__(self):
        if self.operation in ("input", "constant"):
            return str(self.arguments[0])
        return "%s(%s)" % (self.operation, ", ".join(map(repr, self.arguments)))


class RecordingExecutor(Executor):
    """Records operations as a graph of `Node`.

    Attributes:
        kinds: the kinds of operations that were used on tensors.
        asked_shape: whether the rule looked at a shape or an element.
    """

    name = "recording"

    def __init__(self):
        super().__init__()
        self._nodes = {}
        self.kinds = set()
        self.asked_shape = False

    def _table(self):
        return {name: self._recorder(name) for name in OPERATIONS}

    def _recorder(self, name):
        kind = OPERATIONS[name].kind

        def record(*arguments, **keywords):
            self.kinds.add(kind)
            flat = list(arguments[0]) if isinstance(arguments[0], list) else list(arguments)
            first = next((a for a in flat if isinstance(a, Node)), None)
            dtype = first.dtype_name if first is not None else "float32"
            if name == "where":
                dtype = flat[1].dtype_name
            if kind in ("compare", "logical") or name in ("all", "any"):
                dtype = "bool"
            made = self.node(name, tuple(flat) + tuple(sorted(keywords.items())), dtype)
            return (made, made) if name in ("qr", "eigh") else made

        return record

    def node(self, operation, arguments, dtype):
        """The node of a computation, made once."""
        key = (operation, dtype) + tuple(
            id(a) if isinstance(a, Node) else (type(a).__name__, repr(a)) for a in arguments
        )
        if key not in self._nodes:
            self._nodes[key] = Node(operation, tuple(arguments), dtype)
        return self._nodes[key]

    def input(self, name, dtype):
        """The symbol of an input."""
        return self.node("input", (name,), dtype)

    def constant(self, number, dtype):
        return self.node("constant", (number,), dtype)

    def dtype(self, tensor):
        return tensor.dtype_name

    def shape(self, tensor):
        self.asked_shape = True
        return (2, 3)

    def cast(self, tensor, dtype):
        if not isinstance(tensor, Node):
            return self.constant(tensor, dtype)
        if tensor.operation == "constant":
            return self.constant(tensor.arguments[0], dtype)
        return self.node("cast", (tensor,), dtype)

    def getitem(self, tensor, key):
        self.asked_shape = True
        return self.node("getitem", (tensor, str(key)), tensor.dtype_name)

    def eye(self, n, dtype):
        self.kinds.add("create")
        return self.node("eye", (n,), dtype)

    def arange_int32(self, count):
        self.kinds.add("random")
        return self.node("arange", (count,), "int32")

    def xor_shift(self, x, count):
        return x

    def top_bits(self, x, count):
        return x

    def multiply_int32(self, x, constant):
        return x

    def add_int32(self, x, y):
        return x
