"""What an expression of the old code stands for, and how a class is refused."""

import ast

from compat_opt.codemod.syntax import expression, write


class Refused(Exception):
    """The code is not understood, or has no equal as a rule; `line` is where."""

    def __init__(self, reason, node=None, line=None):
        super().__init__(reason)
        self.reason = reason
        self.line = line if line is not None else getattr(node, "lineno", None)

    def at(self, node):
        """This refusal, with the line of `node` where it has none yet."""
        if self.line is None:
            self.line = getattr(node, "lineno", None)
        return self


#: Kinds of values that can be computed with, from the most to the least known:
#: static: a Python value that is fixed when the optimizer is made; scalar: of this step; tensor: of this variable;
#: rows: of the rows of a sparse gradient.
STATIC, SCALAR, TENSOR, ROWS = "static", "scalar", "tensor", "rows"
COMPUTED = (STATIC, SCALAR, TENSOR, ROWS)

#: Kinds that carry structure: handle: the variable or a slot; nothing: an operation, a device, a dtype;
#: function, list, dict, shape, index, self, super, unknown; wrapped: another optimizer, in an attribute.
HANDLE, NOTHING, FUNCTION, LIST, DICT, SHAPE, INDEX, SELF, SUPER, UNKNOWN, MODULE, ROW_NUMBERS, WRAPPED = (
    "handle nothing function list dict shape index self super unknown module rownumbers wrapped".split()
)


class Value:
    """One value: its kind, the expression of the rule's language that it is, and what else is known.

    Attributes:
        kind: one of the kinds above.
        node: the expression, for kinds that can be computed with.
        data: for a handle its key; for a function, a list or a dict what it holds; for unknown the reason;
            "bool" for what can be computed with and is true or false.
    """

    __slots__ = ("kind", "node", "data")

    def __init__(self, kind, node=None, data=None):
        self.kind, self.node, self.data = kind, node, data

    def text(self):
        """The expression as text."""
        return write(self.node)

    def same(self, other):
        """Whether both are the same value for certain."""
        if self.kind != other.kind or self.data is not other.data and self.data != other.data:
            return False
        return self.node is other.node or self.node is not None and other.node is not None and self.text() == other.text()


def static(value):
    """A value from a Python literal."""
    return Value(STATIC, expression(repr(value)))


def named(kind, text):
    """A value from a text of the rule's language."""
    return Value(kind, expression(text))


#: The decay of Keras's base classes: the compiled optimizer applies it, so inside of a rule it is 0.
DECAY = Value(STATIC, expression("0.0"), "decay")

NONE = Value(NOTHING, data="None")
EFFECT = Value(NOTHING, data="operation")
PLACE = Value(NOTHING, data="dtype or device")


def widest(*values):
    """The kind of what is computed from `values`."""
    kinds = [value.kind for value in values]
    if ROWS in kinds and TENSOR in kinds:
        raise Refused("rows of a sparse gradient meet a whole tensor")
    return max(kinds, key=COMPUTED.index) if kinds else STATIC


def truth(value):
    """Whether a value of the step or of a tensor is true, as Python asks of a number: it is not 0."""
    return value if value.data == "bool" else Value(value.kind, expression("A != 0", A=value.node), "bool")


def settings_in(node):
    """Names of the hyperparameters, static or not, that a node of the rule's language reads."""
    return hypers_in(node) | {
        n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "self"
    }


def unknown(reason, *values):
    """A value that is not known, and the hyperparameters that it is made of."""
    nodes = [value.node for value in values if value is not None and value.node is not None]
    for value in values:
        if value is not None and value.kind in (LIST, DICT) and isinstance(value.data, (list, dict)):
            inner = value.data.values() if value.kind == DICT else value.data
            nodes += [v.node for v in inner if v.node is not None]
    return Value(UNKNOWN, ast.Tuple(nodes, ast.Load()), reason)


def hypers_in(node):
    """Names of the hyperparameters, not static, that a node of the rule's language reads."""
    return {
        n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "hyper"
    }
