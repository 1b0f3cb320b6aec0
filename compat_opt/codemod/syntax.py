"""Small helpers around ``ast``: nodes made from text, and nodes written as text, alike on Python 3.7 to 3.13."""

import ast
import copy
import operator
import re

_OPERATORS = {
    "Add": ("+", 11), "Sub": ("-", 11), "Mult": ("*", 12), "Div": ("/", 12), "FloorDiv": ("//", 12),
    "Mod": ("%", 12), "MatMult": ("@", 12), "Pow": ("**", 14),
}  # fmt: skip
_COMPARISONS = {
    "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=",
    "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in",
}  # fmt: skip
_LITERALS = ("Constant", "Num", "Str", "NameConstant", "Bytes")
_UNARY = {"USub": "-", "UAdd": "+", "Invert": "~"}
_ATOM, _UNARY_LEVEL, _COMPARE_LEVEL, _NOT_LEVEL, _AND_LEVEL, _OR_LEVEL, _TEST_LEVEL = 20, 13, 6, 5, 4, 3, 2


class NotLiteral(ValueError):
    """The node is no literal."""


def literal(node):
    """The Python value of a literal node; NotLiteral for any other."""
    kind = type(node).__name__
    if kind in ("Constant", "NameConstant"):
        return node.value
    if kind == "Num":
        return node.n
    if kind in ("Str", "Bytes"):
        return node.s
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = literal(node.operand)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return -value
    if isinstance(node, (ast.Tuple, ast.List)):
        return type(node).__name__ == "Tuple" and tuple(map(literal, node.elts)) or [literal(n) for n in node.elts]
    raise NotLiteral(kind)


def is_literal(node):
    """Whether `node` is a number, a string, a bool, None, or a tuple or list of them."""
    try:
        literal(node)
    except NotLiteral:
        return False
    return True


def constant(value):
    """The node of a Python value."""
    return ast.parse(repr(value), mode="eval").body


def expression(text, **parts):
    """The node of `text`, with the names in `parts` replaced by nodes."""
    return substitute(ast.parse(text, mode="eval").body, parts)


def substitute(node, parts):
    """A copy of `node` with the names in `parts` replaced by nodes."""

    class Replace(ast.NodeTransformer):
        def visit_Name(self, name):
            return copy.deepcopy(parts[name.id]) if name.id in parts else name

    return Replace().visit(copy.deepcopy(node))


_HOLDS = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


def holds(values, signs):
    """Whether a comparison of Python values is true."""
    return all(_HOLDS[type(sign)](a, b) for sign, a, b in zip(signs, values, values[1:]))


def names_in(node):
    """The plain names that `node` reads."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def inside_f_strings(tree):
    """The nodes inside of f-strings: before Python 3.12 they have no place among the tokens, or a wrong one."""
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    return {inner for node in strings for inner in ast.walk(node)} - set(strings)


def dotted(node):
    """``a.b.c`` for a chain of attributes on a name; None for anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id] + parts[::-1])


def write(node):
    """`node`, an expression, as source text."""
    return _write(node)[0]


def number(value):
    """A literal as a person writes it: 1e-7, not 1e-07."""
    return re.sub(r"e([+-])0*(\d)", lambda m: "e" + m.group(1).replace("+", "") + m.group(2), repr(value))


def _inner(node, level):
    text, own = _write(node)
    return "(%s)" % text if own < level else text


def _write(node):
    kind = type(node).__name__
    if kind in _LITERALS:
        value = literal(node)
        if isinstance(value, str):
            return _quoted(value), _ATOM
        return number(value), _ATOM if not isinstance(value, (int, float)) or value >= 0 else _UNARY_LEVEL
    writer = _WRITERS.get(kind)
    if writer is None:
        raise NotLiteral("no text for %s" % kind)
    return writer(node)


def _quoted(value):
    text = repr(value)
    return '"%s"' % text[1:-1] if text[0] == "'" and '"' not in text else text


def _binary(node):
    sign, level = _OPERATORS[type(node.op).__name__]
    if sign == "**":
        return "%s ** %s" % (_inner(node.left, level + 1), _inner(node.right, _UNARY_LEVEL)), level
    return "%s %s %s" % (_inner(node.left, level), sign, _inner(node.right, level + 1)), level


def _unary(node):
    if isinstance(node.op, ast.Not):
        return "not " + _inner(node.operand, _NOT_LEVEL), _NOT_LEVEL
    return _UNARY[type(node.op).__name__] + _inner(node.operand, _UNARY_LEVEL), _UNARY_LEVEL


def _boolean(node):
    word, level = ("and", _AND_LEVEL) if isinstance(node.op, ast.And) else ("or", _OR_LEVEL)
    return (" %s " % word).join(_inner(value, level + 1) for value in node.values), level


def _compare(node):
    parts = [_inner(node.left, _COMPARE_LEVEL + 1)]
    for sign, right in zip(node.ops, node.comparators):
        parts += [_COMPARISONS[type(sign).__name__], _inner(right, _COMPARE_LEVEL + 1)]
    return " ".join(parts), _COMPARE_LEVEL


def _call(node):
    arguments = [_inner(a, _TEST_LEVEL) for a in node.args]
    arguments += ["%s=%s" % (k.arg, write(k.value)) if k.arg else "**" + write(k.value) for k in node.keywords]
    return "%s(%s)" % (_inner(node.func, _ATOM), ", ".join(arguments)), _ATOM


def _subscript(node):
    index = node.slice
    index = getattr(index, "value", index) if type(index).__name__ == "Index" else index
    return "%s[%s]" % (_inner(node.value, _ATOM), write(index)), _ATOM


def _slice(node):
    parts = [write(part) if part is not None else "" for part in (node.lower, node.upper)]
    return ":".join(parts + ([write(node.step)] if node.step is not None else [])), _ATOM


def _choice(node):
    return "%s if %s else %s" % (
        _inner(node.body, _OR_LEVEL), _inner(node.test, _OR_LEVEL), _inner(node.orelse, _TEST_LEVEL)
    ), _TEST_LEVEL  # fmt: skip


def _lambda(node):
    return "lambda %s: %s" % (", ".join(a.arg for a in node.args.args), write(node.body)), _TEST_LEVEL


def _dict(node):
    return "{%s}" % ", ".join("%s: %s" % (write(k), write(v)) for k, v in zip(node.keys, node.values)), _ATOM


def _tuple(node):
    inner = ", ".join(write(e) for e in node.elts)
    return "(%s%s)" % (inner, "," if len(node.elts) == 1 else ""), _ATOM


_WRITERS = {
    "Name": lambda node: (node.id, _ATOM),
    "Attribute": lambda node: ("%s.%s" % (_inner(node.value, _ATOM), node.attr), _ATOM),
    "BinOp": _binary,
    "UnaryOp": _unary,
    "BoolOp": _boolean,
    "Compare": _compare,
    "Call": _call,
    "Subscript": _subscript,
    "Slice": _slice,
    "IfExp": _choice,
    "Lambda": _lambda,
    "Dict": _dict,
    "Tuple": _tuple,
    "List": lambda node: ("[%s]" % ", ".join(write(e) for e in node.elts), _ATOM),
}
