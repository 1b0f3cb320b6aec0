"""What functions of TensorFlow, Keras and NumPy become: the one table from their names to operations of a rule.

A function is found by the last part of its name (``tf.math.sqrt``, ``K.sqrt``, ``math_ops.sqrt``), once the
module it comes from is known to be a framework's. Columns: names; arguments; what it becomes, in those
arguments. A capital A, B, C stands for any argument name.
"""

import ast

from compat_opt.codemod.syntax import constant, expression

_ROWS = """
sqrt                          A          ops.sqrt(A)
rsqrt                         A          ops.rsqrt(A)
square                        A          ops.square(A)
abs                           A          ops.abs(A)
sign                          A          ops.sign(A)
exp                           A          ops.exp(A)
expm1                         A          ops.expm1(A)
log                           A          ops.log(A)
log1p                         A          ops.log1p(A)
tanh                          A          ops.tanh(A)
sigmoid                       A          ops.sigmoid(A)
sin                           A          ops.sin(A)
cos                           A          ops.cos(A)
floor                         A          ops.floor(A)
ceil                          A          ops.ceil(A)
round                         A          ops.round(A)
reciprocal                    A          1.0 / A
relu                          A          ops.maximum(A, 0.0)
negative neg                  A          -A
pow power                     A B        A ** B
add                           A B        A + B
subtract sub                  A B        A - B
multiply mul scalar_mul       A B        A * B
divide truediv div realdiv true_divide   A B   A / B
floordiv floor_div               A B        ops.floor(A / B)
mod floormod remainder           A B        A - B * ops.floor(A / B)
div_no_nan divide_no_nan      A B        ops.where(B == 0, 0.0, A / B)
maximum                       A B        ops.maximum(A, B)
minimum                       A B        ops.minimum(A, B)
squared_difference            A B        ops.square(A - B)
greater                       A B        A > B
greater_equal                 A B        A >= B
less                          A B        A < B
less_equal                    A B        A <= B
equal                         A B        A == B
not_equal                     A B        A != B
logical_and                   A B        ops.logical_and(A, B)
logical_or                    A B        ops.logical_or(A, B)
logical_not                   A          ops.logical_not(A)
is_nan isnan                  A          ops.isnan(A)
is_finite isfinite            A          ops.isfinite(A)
clip_by_value clip            A B C      ops.clip(A, B, C)
where switch cond             A B C      ops.where(A, B, C)
zeros_like                    A          ops.zeros_like(A)
ones_like                     A          ops.ones_like(A)
matmul                        A B        ops.matmul(A, B)
outer                         A B        ops.outer(A, B)
l2_loss                       A          0.5 * ops.sum(ops.square(A))
"""

_PASSES = (
    "identity stop_gradient convert_to_tensor convert_to_tensor_v2 constant cast to_float cast_to_floatx as_dtype "
    "convert_to_tensor_v2_with_dispatch smart_constant_value"
).split()

_REDUCTIONS = {
    "reduce_sum": "sum", "sum": "sum", "reduce_mean": "mean", "mean": "mean", "reduce_max": "max", "max": "max",
    "reduce_min": "min", "min": "min", "reduce_prod": "prod", "prod": "prod", "reduce_any": "any",
    "reduce_all": "all", "norm": "vector_norm", "euclidean_norm": "vector_norm", "reduce_euclidean_norm": "vector_norm",
}  # fmt: skip

#: Keyword arguments that change nothing about the value.
NEUTRAL = {"name", "dtype", "dtype_hint", "use_locking"}

#: Functions whose result does not depend on their arguments alone are not listed: they are refused.
ELEMENTWISE = {}
for _line in _ROWS.strip().splitlines():
    _words = _line.split("   ")
    _names, _arguments = _words[0].split(), [w for w in _words[1:] if w.strip()]
    ELEMENTWISE.update((name, (len(_arguments[0].split()), _arguments[1].strip())) for name in _names)


class UnknownFunction(Exception):
    """The table has no such function, or it is called in a way that the table does not cover."""


def passes_through(name):
    """Whether the function returns its first argument, but for dtype and device."""
    return name in _PASSES


def reduces(name):
    """Whether the function makes one number out of many."""
    return name in _REDUCTIONS


def lower(name, arguments, keywords):
    """The expression that a call becomes.

    Args:
        name: the last part of the function's name.
        arguments: nodes of positional arguments, written in the rule's language.
        keywords: a dict of the others.

    Raises:
        UnknownFunction: with a message that says what is not understood.
    """
    keywords = {key: node for key, node in keywords.items() if key not in NEUTRAL}
    if name in _REDUCTIONS:
        return _reduction(name, arguments, keywords)
    if name not in ELEMENTWISE:
        raise UnknownFunction("the function %s is not in the table of functions" % name)
    count, template = ELEMENTWISE[name]
    nodes = in_order(name, arguments, keywords)
    if len(nodes) != count:
        raise UnknownFunction("%s is called with %d arguments; %d are understood" % (name, len(nodes), count))
    return expression(template, **dict(zip("ABC", nodes)))


#: Which argument a keyword is: of functions that choose, and of all others.
_CHOOSING = {
    "condition": 0, "pred": 0, "x": 1, "x1": 1, "true_fn": 1, "then_expression": 1, "y": 2, "x2": 2, "false_fn": 2,
    "else_expression": 2,
}  # fmt: skip
_PLACES = {
    "x": 0, "a": 0, "x1": 0, "t": 0, "tensor": 0, "input": 0, "features": 0, "y": 1, "b": 1, "x2": 1, "clip_value_min": 1,
    "x_min": 1, "min_value": 1, "clip_value_max": 2, "x_max": 2, "max_value": 2,
}  # fmt: skip


def in_order(name, arguments, keywords):
    """Positional and keyword arguments of a call, in the order of the function's own."""
    places = _CHOOSING if name in ("where", "switch", "cond") else _PLACES
    found = dict(enumerate(arguments))
    for key, node in keywords.items():
        if key not in places or places[key] in found:
            raise UnknownFunction("%s has the argument %s, which is not understood" % (name, key))
        found[places[key]] = node
    if sorted(found) != list(range(len(found))):
        raise UnknownFunction("%s is called without one of its arguments" % name)
    return [found[place] for place in sorted(found)]


def _reduction(name, arguments, keywords):
    known = {"axis": None, "keepdims": None}
    aliases = {"reduction_indices": "axis", "keep_dims": "keepdims"}
    nodes = list(arguments)
    for key, node in keywords.items():
        key = aliases.get(key, key)
        if key in known:
            known[key] = node
        elif key in ("x", "input_tensor", "tensor") and not nodes:
            nodes.append(node)
        elif not (key == "ord" and getattr(node, "value", getattr(node, "s", None)) in ("euclidean", "fro")):
            raise UnknownFunction("%s has the argument %s, which is not understood" % (name, key))
    if len(nodes) == 2 and name != "norm" and known["axis"] is None:
        known["axis"] = nodes.pop()
    if len(nodes) != 1:
        raise UnknownFunction("%s is called with %d positional arguments" % (name, len(nodes)))
    call = expression("ops.%s(A)" % _REDUCTIONS[name], A=nodes[0])
    call.keywords = [ast.keyword(key, node) for key, node in known.items() if node is not None]
    return call


#: Names without arguments that stand for a number.
NUMBERS = {"epsilon": constant(1e-7)}
