"""Every operation of the table on every executor that is installed here, against NumPy itself."""

import importlib
import importlib.util
import math

import numpy as np
import pytest

from compat_opt.errors import RuleError
from compat_opt.ops import OPERATIONS, Ops, Value, describe, numpy_ops
from compat_opt.ops.dtypes import compute_dtype, promote

EXECUTORS = {
    "numpy": ("numpy", "NumpyExecutor"),
    "tensorflow": ("tensorflow", "TensorFlowExecutor"),
    "jax": ("jax", "JaxExecutor"),
    "torch": ("torch", "TorchExecutor"),
}
INSTALLED = [name for name in EXECUTORS if importlib.util.find_spec(name)]


def make_ops(name, **arguments):
    module = importlib.import_module("compat_opt.ops.%s_executor" % name)
    return Ops(getattr(module, EXECUTORS[name][1])(), **arguments)


@pytest.fixture(params=INSTALLED)
def ops(request):
    return make_ops(request.param)


def widest(ops):
    """The dtype in which the executor is compared: float64, or float32 on JAX as it is by default."""
    return ops.executor.scalar_dtype


def value(ops, array):
    """A strong Value of a NumPy array, narrowed where the executor has no float64."""
    array = np.asarray(array)
    dtype = array.dtype.name
    if widest(ops) == "float32":
        dtype = {"float64": "float32", "complex128": "complex64"}.get(dtype, dtype)
    return ops.wrap(ops.executor.constant(array, dtype))


def to_numpy(raw):
    raw = raw.raw if isinstance(raw, Value) else raw
    if hasattr(raw, "detach"):
        raw = raw.detach().cpu().resolve_conj()
    return raw.numpy() if hasattr(raw, "numpy") else np.asarray(raw)


def assert_same(ops, actual, expected):
    expected = np.asarray(expected)
    found = to_numpy(actual)
    assert found.shape == expected.shape
    assert tuple(actual.shape) == expected.shape
    narrow = {"float64": "float32", "complex128": "complex64", "int64": "int32"}
    names = {expected.dtype.name} if widest(ops) == "float64" else {narrow.get(expected.dtype.name, expected.dtype.name)}
    assert actual.dtype in names
    if expected.dtype.kind == "b":
        assert np.array_equal(found, expected)
        return
    tolerance = 1e-12 if widest(ops) == "float64" else 2e-5
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def normal(*shape):
    return np.random.RandomState(len(shape) + sum(shape)).normal(size=shape)


X, Y = normal(3, 4), normal(4, 3).T.copy()
POSITIVE, CUBE, VECTOR, EMPTY, SCALAR = np.abs(X) + 0.1, normal(2, 3, 4), normal(5), np.zeros((0, 3)), np.asarray(0.7)
COMPLEX = X + 1j * Y
COMPLEX[0, 0] = 0
SQUARE = normal(4, 4)
SYMMETRIC = SQUARE @ SQUARE.T + 4 * np.eye(4)
EDGES = np.array([0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 1e10, np.inf, -np.inf, np.nan])
TRUTH, OTHER = X > 0, Y > 0

ELEMENTWISE = {
    "abs": (np.abs, [X, SCALAR, EMPTY, COMPLEX]),
    "abs_square": (lambda x: x * np.conj(x), [X, SCALAR, COMPLEX]),
    "ceil": (np.ceil, [X, EDGES]),
    "conj": (np.conj, [X, COMPLEX]),
    "cos": (np.cos, [X]),
    "exp": (np.exp, [X, SCALAR, EMPTY]),
    "expm1": (np.expm1, [X, X * 1e-9]),
    "floor": (np.floor, [X, EDGES]),
    "imag": (lambda x: np.imag(x) if np.iscomplexobj(x) else np.zeros_like(x), [X, COMPLEX]),
    "log": (np.log, [POSITIVE]),
    "log1p": (np.log1p, [POSITIVE, POSITIVE * 1e-9]),
    "negative": (np.negative, [X, EMPTY, COMPLEX]),
    "real": (np.real, [X, COMPLEX]),
    "reciprocal": (lambda x: 1 / x, [POSITIVE]),
    "round": (np.rint, [X, EDGES]),
    "rsqrt": (lambda x: 1 / np.sqrt(x), [POSITIVE]),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), [X, SCALAR]),
    "sign": (
        lambda x: np.where(x == 0, 0, x / np.where(x == 0, 1, np.abs(x))) if np.iscomplexobj(x) else np.sign(x),
        [X, COMPLEX, np.array([0.0, -0.0, 2.0, -3.0])],
    ),
    "sin": (np.sin, [X]),
    "sqrt": (np.sqrt, [POSITIVE, COMPLEX]),
    "square": (np.square, [X, EMPTY, COMPLEX]),
    "tanh": (np.tanh, [X]),
    "isfinite": (np.isfinite, [EDGES, X, COMPLEX]),
    "isnan": (np.isnan, [EDGES, X, COMPLEX]),
}
NAN = np.array([1.0, np.nan, 3.0, np.nan, 0.0])
PAIRS = {
    "add": (np.add, [(X, Y), (X, SCALAR), (EMPTY, EMPTY), (COMPLEX, X), (CUBE, X)]),
    "atan2": (np.arctan2, [(X, Y)]),
    "divide": (np.divide, [(X, POSITIVE), (COMPLEX, POSITIVE)]),
    "maximum": (np.maximum, [(X, Y), (NAN, VECTOR), (VECTOR, NAN), (X, SCALAR)]),
    "minimum": (np.minimum, [(X, Y), (NAN, VECTOR), (VECTOR, NAN)]),
    "multiply": (np.multiply, [(X, Y), (X, SCALAR), (COMPLEX, X)]),
    "pow": (np.power, [(POSITIVE, Y), (POSITIVE, np.asarray(2.0))]),
    "subtract": (np.subtract, [(X, Y), (SCALAR, X)]),
    "equal": (np.equal, [(X, Y), (X, X), (NAN, NAN)]),
    "not_equal": (np.not_equal, [(X, Y), (NAN, NAN)]),
    "greater": (np.greater, [(X, Y), (NAN, VECTOR)]),
    "greater_equal": (np.greater_equal, [(X, X)]),
    "less": (np.less, [(X, Y), (X, X)]),
    "less_equal": (np.less_equal, [(X, X), (NAN, VECTOR)]),
    "logical_and": (np.logical_and, [(TRUTH, OTHER)]),
    "logical_or": (np.logical_or, [(TRUTH, OTHER)]),
    "matmul": (np.matmul, [(X, Y.T), (CUBE, SQUARE), (COMPLEX, Y.T)]),
    "outer": (np.outer, [(VECTOR, X[0])]),
    "solve": (np.linalg.solve, [(SYMMETRIC, X.T)]),
}
REDUCTIONS = {
    "all": (np.all, TRUTH),
    "any": (np.any, TRUTH),
    "max": (np.max, CUBE),
    "mean": (np.mean, CUBE),
    "min": (np.min, CUBE),
    "prod": (np.prod, CUBE),
    "sum": (np.sum, CUBE),
    "vector_norm": (lambda x, axis, keepdims: np.sqrt(np.sum(np.abs(x) ** 2, axis=axis, keepdims=keepdims)), CUBE),
}
#: (operation, arguments, keywords, what NumPy says)
OTHERS = [
    ("logical_not", (TRUTH,), {}, ~TRUTH),
    ("clip", (X, -0.5, 0.5), {}, np.clip(X, -0.5, 0.5)),
    ("clip", (X,), {"max": 0.5}, np.minimum(X, 0.5)),
    ("where", (TRUTH, X, Y), {}, np.where(TRUTH, X, Y)),
    ("where", (TRUTH, X, 0.0), {}, np.where(TRUTH, X, 0.0)),
    ("cholesky", (SYMMETRIC,), {}, np.linalg.cholesky(SYMMETRIC)),
    ("diag", (VECTOR,), {}, np.diag(VECTOR)),
    ("inv", (SYMMETRIC,), {}, np.linalg.inv(SYMMETRIC)),
    ("matrix_diagonal", (X,), {}, np.diagonal(X)),
    ("matrix_diagonal", (CUBE,), {}, np.diagonal(CUBE, axis1=-2, axis2=-1)),
    ("matrix_transpose", (CUBE,), {}, np.swapaxes(CUBE, -1, -2)),
    ("tensordot", (CUBE, X), {"axes": ([1, 2], [0, 1])}, np.tensordot(CUBE, X, ([1, 2], [0, 1]))),
    ("tensordot", (CUBE, SQUARE), {"axes": 1}, np.tensordot(CUBE, SQUARE, 1)),
    ("trace", (SQUARE,), {}, np.trace(SQUARE)),
    ("broadcast_to", (X[0], (3, 4)), {}, np.broadcast_to(X[0], (3, 4))),
    ("broadcast_to", (SCALAR, (2, 0)), {}, np.zeros((2, 0))),
    ("concat", ([X, Y],), {"axis": 1}, np.concatenate([X, Y], 1)),
    ("concat", ([X, Y],), {}, np.concatenate([X, Y])),
    ("concat", ([X, Y],), {"axis": -1}, np.concatenate([X, Y], -1)),
    ("expand_dims", (X,), {"axis": -1}, X[..., None]),
    ("expand_dims", (X,), {}, X[None]),
    ("flip", (X, 0), {}, X[::-1]),
    ("flip", (X, -1), {}, X[:, ::-1]),
    ("permute_dims", (CUBE, (2, 0, 1)), {}, np.transpose(CUBE, (2, 0, 1))),
    ("reshape", (CUBE, (4, 6)), {}, CUBE.reshape(4, 6)),
    ("reshape", (CUBE, (-1,)), {}, CUBE.reshape(-1)),
    ("squeeze", (X[None], 0), {}, X),
    ("squeeze", (X[..., None], -1), {}, X),
    ("stack", ([X, Y],), {}, np.stack([X, Y])),
    ("stack", ([X, Y],), {"axis": -1}, np.stack([X, Y], -1)),
    ("tril", (SQUARE,), {}, np.tril(SQUARE)),
    ("tril", (X, -1), {}, np.tril(X, -1)),
    ("triu", (CUBE,), {"k": 1}, np.triu(CUBE, 1)),
    ("full_like", (X, 2.5), {}, np.full_like(X, 2.5)),
    ("ones_like", (X,), {}, np.ones_like(X)),
    ("zeros_like", (CUBE,), {}, np.zeros_like(CUBE)),
    ("zeros_like", (EMPTY,), {}, EMPTY),
]
CREATED = [
    ("eye", (3,), np.eye(3)),
    ("full", ((2, 3), 0.25), np.full((2, 3), 0.25)),
    ("ones", ((2,),), np.ones(2)),
    ("zeros", ((0, 2),), np.zeros((0, 2))),
]
SPECIAL = {"eigh", "qr", "astype", "random_normal", "random_uniform"}


def convert(ops, argument):
    if isinstance(argument, np.ndarray):
        return value(ops, argument)
    if isinstance(argument, list) and isinstance(argument[0], np.ndarray):
        return [value(ops, item) for item in argument]
    return argument


def test_every_operation_is_here():
    tested = set(ELEMENTWISE) | set(PAIRS) | set(REDUCTIONS) | SPECIAL
    tested |= {case[0] for case in OTHERS} | {case[0] for case in CREATED}
    assert tested == set(OPERATIONS)
    assert all(describe(name) for name in OPERATIONS)


@pytest.mark.parametrize("name", sorted(ELEMENTWISE))
def test_elementwise(ops, name):
    function, inputs = ELEMENTWISE[name]
    for array in inputs:
        with np.errstate(all="ignore"):
            assert_same(ops, getattr(ops, name)(value(ops, array)), function(array))


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_pairs(ops, name):
    function, inputs = PAIRS[name]
    for first, second in inputs:
        assert_same(ops, getattr(ops, name)(value(ops, first), value(ops, second)), function(first, second))


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (-1, 1), [1]], ids=str)
@pytest.mark.parametrize("name", sorted(REDUCTIONS))
def test_reductions(ops, name, axis):
    function, array = REDUCTIONS[name]
    if array.ndim == 2 and not isinstance(axis, (int, type(None))):
        axis = (0, 1)
    plain = tuple(axis) if isinstance(axis, list) else axis
    for keepdims in (False, True):
        actual = getattr(ops, name)(value(ops, array), axis=axis, keepdims=keepdims)
        assert_same(ops, actual, function(array, axis=plain, keepdims=keepdims))


@pytest.mark.parametrize("name", ["all", "any", "sum", "prod", "mean", "max", "min", "vector_norm"])
def test_reductions_of_scalars_and_empty_arrays(ops, name):
    function, like = REDUCTIONS[name]
    scalar = np.asarray(True) if like.dtype == bool else SCALAR
    assert_same(ops, getattr(ops, name)(value(ops, scalar)), function(scalar, axis=None, keepdims=False))
    if name in ("sum", "prod", "vector_norm", "all", "any"):
        empty = np.zeros((0, 3), bool) if like.dtype == bool else EMPTY
        for axis in (None, 0):
            assert_same(ops, getattr(ops, name)(value(ops, empty), axis=axis), function(empty, axis=axis, keepdims=False))


def test_reductions_of_complex_arrays(ops):
    for name in ("sum", "mean", "vector_norm"):
        function = REDUCTIONS[name][0]
        assert_same(ops, getattr(ops, name)(value(ops, COMPLEX), axis=0), function(COMPLEX, axis=0, keepdims=False))


@pytest.mark.parametrize("number", range(len(OTHERS)), ids=["%d-%s" % (i, c[0]) for i, c in enumerate(OTHERS)])
def test_others(ops, number):
    name, arguments, keywords, expected = OTHERS[number]
    arguments = [convert(ops, argument) for argument in arguments]
    assert_same(ops, getattr(ops, name)(*arguments, **keywords), expected)


@pytest.mark.parametrize("name, arguments, expected", CREATED, ids=[case[0] for case in CREATED])
def test_created(ops, name, arguments, expected):
    assert_same(ops, getattr(ops, name)(*arguments, dtype=widest(ops)), expected)
    assert getattr(ops, name)(*arguments).dtype == "float32", "the compute dtype"


def test_decompositions(ops):
    values, vectors = ops.eigh(value(ops, SYMMETRIC))
    assert_same(ops, values, np.linalg.eigh(SYMMETRIC)[0])
    assert_same(ops, vectors @ ops.diag(values) @ ops.matrix_transpose(vectors), SYMMETRIC)
    q, r = ops.qr(value(ops, X.T))
    assert (q.shape, r.shape) == ((4, 3), (3, 3))
    assert_same(ops, q @ r, X.T)
    assert_same(ops, ops.triu(r), to_numpy(r).astype("float64"))


def test_astype(ops):
    assert ops.astype(value(ops, X), "float32").dtype == "float32"
    assert ops.astype(value(ops, TRUTH), "float32").dtype == "float32"
    assert np.array_equal(to_numpy(ops.astype(value(ops, TRUTH), "float32")), TRUTH.astype("float32"))
    with pytest.raises(RuleError, match="A complex value can't become float32"):
        ops.astype(value(ops, COMPLEX), "float32")


@pytest.mark.parametrize("name", ["maximum", "minimum", "less", "greater_equal", "floor", "round", "max", "min"])
def test_complex_numbers_have_no_order(ops, name):
    arguments = [value(ops, COMPLEX)] * (2 if name in PAIRS else 1)
    with pytest.raises(RuleError, match="ops.%s needs numbers that have an order" % name):
        getattr(ops, name)(*arguments)


# Random numbers


def draw(name, kind, shape=(2000,), step=1, index=0, seed=0):
    ops = make_ops(name)
    ops.entropy = (step,)
    return to_numpy(getattr(ops.for_variable("float32", index), kind)(shape, seed=seed))


@pytest.mark.parametrize("kind, mean, variance", [("random_uniform", 0.5, 1 / 12), ("random_normal", 0.0, 1.0)])
def test_random_numbers(ops, kind, mean, variance):
    name = ops.executor.name
    numbers = draw(name, kind)
    reference = draw("numpy", kind)
    if kind == "random_uniform":
        assert np.array_equal(numbers, reference), "the same bits"
        assert numbers.min() >= 0 and numbers.max() < 1
    else:
        np.testing.assert_allclose(numbers, reference, rtol=1e-5, atol=1e-5)
    assert numbers.dtype == np.float32
    assert abs(numbers.mean() - mean) < 4 * math.sqrt(variance / numbers.size)
    assert abs(numbers.var() / variance - 1) < 0.15
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 0.1
    assert np.array_equal(numbers, draw(name, kind))
    for other in (dict(step=2), dict(index=1), dict(seed=1)):
        assert abs(np.corrcoef(numbers, draw(name, kind, **other))[0, 1]) < 0.1
    assert draw(name, kind, shape=()).shape == () and draw(name, kind, shape=(0, 2)).shape == (0, 2)


# Weak scalars


def test_weak_scalars_keep_their_digits(ops):
    beta = ops.scalar(0.999)
    difference = 1 - beta
    assert difference.weak
    exact = 1 - 0.999
    if widest(ops) == "float64":
        assert float(to_numpy(difference)) == exact
        assert float(to_numpy(1 - beta ** 3.0)) == pytest.approx(1 - 0.999 ** 3, rel=1e-12)
    product = difference * ops.wrap(ops.executor.constant(np.float32([1.0, 2.0]), "float32"))
    assert product.dtype == "float32" and not product.weak
    rounding = 1e-7 if widest(ops) == "float64" else 1e-4
    np.testing.assert_allclose(to_numpy(product), np.float32([exact, 2 * exact]), rtol=rounding)


def test_numbers_take_the_tensors_dtype(ops):
    single = ops.wrap(ops.executor.constant(np.float32([1.0, 2.0]), "float32"))
    for result in (single + 1, 2.5 * single, 1 / single, single ** 2, single ** 0.5, -single, ops.maximum(single, 0)):
        assert result.dtype == "float32"
    assert (single > 1).dtype == "bool"
    assert ops.where(single > 1, 1.0, 0.0).dtype == "float32"
    assert ops.where(single > 1, ops.scalar(0.1), 0.0).dtype == "float32"


def test_step_scalars_choose(ops):
    step = ops.scalar(3)
    assert float(to_numpy(ops.where(step > 2, 1.0, ops.scalar(0.5)))) == 1.0
    mask = (step > 2) & ops.wrap(ops.executor.constant(TRUTH, "bool"))
    assert np.array_equal(to_numpy(mask), TRUTH)
    assert np.array_equal(to_numpy(mask | True), np.ones_like(TRUTH))
    assert np.array_equal(to_numpy(~mask), ~TRUTH)


# Value


def test_operators(ops):
    x, y = value(ops, X), value(ops, Y)
    for actual, expected in (
        (x + y, X + Y),
        (1 + x, 1 + X),
        (x - 1, X - 1),
        (1 - x, 1 - X),
        (x * y, X * Y),
        (2 * x, 2 * X),
        (x / 2, X / 2),
        (1 / x, 1 / X),
        (x ** 2, X ** 2),
        (2.0 ** x, 2.0 ** X),
        (x @ ops.matrix_transpose(y), X @ Y.T),
        (-x, -X),
        (+x, X),
        (abs(x), np.abs(X)),
        (x < y, X < Y),
        (x <= y, X <= Y),
        (x > 0, X > 0),
        (0 >= x, 0 >= X),
        (x == x, X == X),
        (x != y, X != Y),
        ((x > 0) & (y > 0), TRUTH & OTHER),
        ((x > 0) | (y > 0), TRUTH | OTHER),
        (~(x > 0), ~TRUTH),
        (x[0], X[0]),
        (x[:, 1:3], X[:, 1:3]),
        (x[..., None], X[..., None]),
        (x[-1, ::2], X[-1, ::2]),
    ):
        assert_same(ops, actual, expected)
    assert (x.shape, x.ndim, x.size) == ((3, 4), 2, 12)


@pytest.mark.parametrize("attempt", [bool, float, int, iter, len, list], ids=lambda f: f.__name__)
def test_refusals(ops, attempt):
    with pytest.raises(RuleError, match="A rule can't"):
        attempt(value(ops, VECTOR))


def test_no_hash(ops):
    with pytest.raises(TypeError):
        hash(value(ops, X))


def test_unknown_operation(ops):
    with pytest.raises(RuleError) as caught:
        ops.sqroot
    assert str(caught.value).startswith("There is no operation ops.sqroot. Expected: an operation of the table")


def test_wrong_number_of_arguments(ops):
    with pytest.raises(RuleError, match=r"ops.maximum takes 2 arguments. Expected: ops.maximum\(x1, x2\)"):
        ops.maximum(value(ops, X))


def test_arguments_that_are_no_numbers(ops):
    with pytest.raises(RuleError, match="ops.add can't take this argument"):
        ops.add(value(ops, X), "one")


def test_plain_arrays_give_plain_arrays():
    ops = numpy_ops()
    assert isinstance(ops.sqrt(POSITIVE), np.ndarray)
    assert isinstance(ops.concat([X, Y]), np.ndarray)
    assert isinstance(ops.sum(X), np.floating)


# Dtypes


@pytest.mark.parametrize(
    "first, second, expected",
    [
        ("float16", "bfloat16", "float32"),
        ("float32", "float16", "float32"),
        ("float32", "float64", "float64"),
        ("complex64", "float64", "complex128"),
        ("complex64", "float32", "complex64"),
        ("int32", "float32", "float32"),
    ],
)
def test_promotion(first, second, expected):
    assert promote(first, second) == promote(second, first) == expected


def test_compute_dtype():
    assert [compute_dtype(d) for d in ("float16", "bfloat16", "float32", "float64", "complex64")] == [
        "float32",
        "float32",
        "float32",
        "float64",
        "complex64",
    ]
    with pytest.raises(RuleError, match="A variable of dtype int32 can't be trained"):
        compute_dtype("int32")
