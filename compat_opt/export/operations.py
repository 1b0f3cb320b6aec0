"""How each operation of the table is written: with Python's operators, its math module, or a framework's function."""

import ast

#: Operations that are operators on every framework's tensors and on numbers.
OPERATORS = {
    "add": ast.Add, "subtract": ast.Sub, "multiply": ast.Mult, "divide": ast.Div, "matmul": ast.MatMult,
    "pow": ast.Pow, "greater": ast.Gt, "greater_equal": ast.GtE, "less": ast.Lt, "less_equal": ast.LtE,
}  # fmt: skip

#: On Python numbers, where no tensor takes part.
ON_NUMBERS = {
    "abs": "abs", "atan2": "math.atan2", "ceil": "math.ceil", "cos": "math.cos", "exp": "math.exp",
    "expm1": "math.expm1", "floor": "math.floor", "log": "math.log", "log1p": "math.log1p", "maximum": "max",
    "minimum": "min", "round": "round", "sin": "math.sin", "sqrt": "math.sqrt", "tanh": "math.tanh",
}  # fmt: skip

#: Operations whose result is boolean.
BOOLEAN = {
    "all", "any", "equal", "greater", "greater_equal", "isfinite", "isnan", "less", "less_equal", "logical_and",
    "logical_not", "logical_or", "not_equal",
}  # fmt: skip

#: Operations that are the identity on real numbers; exported classes refuse complex variables.
IDENTITIES = ("conj", "real")

#: Operations that draw random numbers, written as private functions.
RANDOM = ("random_normal", "random_uniform")


class Dialect:
    """One namespace of tensor functions.

    Attributes:
        prefix: its name in exported files.
        functions: {operation: function name behind the prefix}, with the table's arguments.
        helpers: {operation or helper name: source of a private function}; ``_<operation>`` is its name.
    """

    def __init__(self, prefix, functions, helpers):
        self.prefix = prefix
        self.functions = functions
        self.helpers = helpers


_SAME = (
    "abs ceil cos exp expand_dims eye floor full logical_and logical_not logical_or maximum minimum ones ones_like "
    "reshape sigmoid sign sin sqrt square squeeze stack tanh tensordot where zeros zeros_like broadcast_to"
).split()

_TENSORFLOW = {name: name for name in _SAME if name != "full"}
_TENSORFLOW.update(
    abs_square="square", all="reduce_all", any="reduce_any", astype="cast", atan2="math.atan2", ceil="math.ceil",
    cholesky="linalg.cholesky", clip="clip_by_value", concat="concat", diag="linalg.diag", eigh="linalg.eigh",
    equal="equal", expm1="math.expm1", inv="linalg.inv", isfinite="math.is_finite", isnan="math.is_nan",
    log="math.log", log1p="math.log1p", matrix_diagonal="linalg.diag_part", matrix_transpose="linalg.matrix_transpose",
    max="reduce_max", mean="reduce_mean", min="reduce_min", negative="negative", not_equal="not_equal",
    permute_dims="transpose", prod="reduce_prod", qr="linalg.qr", reciprocal="math.reciprocal", round="math.rint",
    rsqrt="math.rsqrt", solve="linalg.solve", sum="reduce_sum", trace="linalg.trace", full="fill",
)  # fmt: skip

_KERAS = {name: name for name in _SAME}
_KERAS.update(
    abs_square="square", all="all", any="any", astype="cast", atan2="arctan2", cholesky="cholesky", clip="clip",
    concat="concatenate", diag="diag", eigh="eigh", equal="equal", expm1="expm1", flip="flip", inv="inv",
    isfinite="isfinite", isnan="isnan", log="log", log1p="log1p", matrix_diagonal="diagonal", max="max", mean="mean",
    min="min", negative="negative", not_equal="not_equal", outer="outer", permute_dims="transpose", prod="prod",
    qr="qr", reciprocal="reciprocal", round="round", rsqrt="rsqrt", solve="solve", sum="sum", trace="trace",
    tril="tril", triu="triu", full_like="full_like",
)  # fmt: skip

_NORM = '''
def _vector_norm(x, axis=None, keepdims=False):
    """The Euclidean norm over the axes."""
    return {sqrt}({sum}({square}(x), axis=axis, keepdims=keepdims))
'''

_RANDOM = '''
def _random_normal(shape, *key):
    """Standard normal numbers in float32, by the method of Box and Muller."""
    seed, key = key[0], key[1:]
    radius = {log}(1.0 - _random_uniform(shape, seed, 1, *key))
    angle = 2.0 * math.pi * _random_uniform(shape, seed, 2, *key)
    return {sqrt}(-2.0 * radius) * {cos}(angle)


def _random_uniform(shape, *key):
    """Multiples of 2^-24 in [0, 1), in float32: a hash of each element's position and the key."""
    bits = {arange}(_size(shape), dtype="int32")
    for part in key:
        bits = _hash(bits * -1640531527 + {cast}(part, "int32"))
    top = {and_}({shift}(bits, 8), 0xFFFFFF)
    return {reshape}({cast}(top, "float32"), shape) * 2.0**-24


def _hash(bits):
    """The 32-bit integer hash lowbias32 (C. Wellons, "Prospecting for hash functions", 2018)."""
    bits = _mixed(bits, 16, 0xFFFF) * 0x7FEB352D
    bits = _mixed(bits, 15, 0x1FFFF) * -2073254261
    return _mixed(bits, 16, 0xFFFF)


def _mixed(bits, count, mask):
    """bits ^ (bits >>> count)."""
    shifted = {and_}({shift}(bits, count), mask)
    return {xor}(bits, shifted)
'''

#: Of every dialect, without a framework.
_SIZE = '''
def _size(shape):
    """The number of elements."""
    size = 1
    for length in shape:
        size *= int(length)
    return size
'''


def filled(text, names):
    """A template with ``{name}`` replaced; braces of other kinds stay."""
    for key, value in names.items():
        text = text.replace("{%s}" % key, value)
    return text


def _named(text, **names):
    return filled(text, names).strip("\n") + "\n"


_TF_RANDOM = _named(
    _RANDOM, log="tf.math.log", sqrt="tf.sqrt", cos="tf.cos", arange="tf.range", cast="tf.cast", reshape="tf.reshape",
    and_="tf.bitwise.bitwise_and", xor="tf.bitwise.bitwise_xor", shift="tf.bitwise.right_shift",
)  # fmt: skip
_KERAS_RANDOM = _named(
    _RANDOM, log="ops.log", sqrt="ops.sqrt", cos="ops.cos", arange="ops.arange", cast="ops.cast",
    reshape="ops.reshape", and_="ops.bitwise_and", xor="ops.bitwise_xor", shift="ops.bitwise_right_shift",
)  # fmt: skip

TENSORFLOW = Dialect(
    "tf",
    _TENSORFLOW,
    {
        "vector_norm": _named(_NORM, sqrt="tf.sqrt", sum="tf.reduce_sum", square="tf.square"),
        "random_normal": _TF_RANDOM,
        "random_uniform": _TF_RANDOM,
        "size": _SIZE.strip("\n") + "\n",
        "outer": 'def _outer(x, y):\n    """The product of each pair."""\n    return x[:, None] * y[None, :]\n',
        "flip": 'def _flip(x, axis):\n    """The elements in reverse order along one axis."""\n'
        "    return tf.reverse(x, [axis])\n",
        "full_like": 'def _full_like(x, value):\n    """One value in the shape and dtype of x."""\n'
        "    return tf.fill(tf.shape(x), tf.cast(value, x.dtype))\n",
    },
)

KERAS = Dialect(
    "ops",
    _KERAS,
    {
        "vector_norm": _named(_NORM, sqrt="ops.sqrt", sum="ops.sum", square="ops.square"),
        "random_normal": _KERAS_RANDOM,
        "random_uniform": _KERAS_RANDOM,
        "size": _SIZE.strip("\n") + "\n",
        "matrix_transpose": 'def _matrix_transpose(x):\n    """The last two axes exchanged."""\n'
        "    return ops.swapaxes(x, -2, -1)\n",
    },
)
