"""Sparse gradients by rows: exact where that is exact, and lazy where it was asked for."""

import numpy as np
import pytest

from compat_opt import compile_rule, rules, run_reference
from compat_opt.errors import HyperError, UnsupportedError
from compat_opt.testing.compare import assert_close


@pytest.fixture
def tf(compat_opt_target):
    if compat_opt_target.backend != "tensorflow":
        pytest.skip("gradients are dense on the %s backend" % compat_opt_target.backend)
    import tensorflow

    return tensorflow


VALUES = np.random.RandomState(0).normal(size=(6, 3))
INDICES = [[4, 1, 4], [1, 1], [0, 5, 4]]


def slices(tf, number):
    """A sparse gradient with repeated rows, and its dense equal."""
    rows = INDICES[number]
    values = np.random.RandomState(number).normal(size=(len(rows), 3))
    dense = np.zeros((6, 3))
    np.add.at(dense, rows, values)
    gradient = tf.IndexedSlices(tf.constant(values), tf.constant(rows), tf.constant([6, 3]))
    return gradient, dense


def train(tf, target, rule, steps=3, compiled=False, **hypers):
    variable = tf.Variable(VALUES)
    optimizer = compile_rule(rule, target)(learning_rate=0.1, **hypers)
    optimizer.build([variable])

    def apply(values, indices):
        optimizer.apply_gradients([(tf.IndexedSlices(values, indices, tf.constant([6, 3])), variable)])

    if compiled:
        apply = tf.function(apply)
    for number in range(steps):
        gradient, _ = slices(tf, number)
        apply(gradient.values, gradient.indices)
    return variable, optimizer


@pytest.mark.parametrize(
    "compiled", [pytest.param(False, id="eager", marks=pytest.mark.long), pytest.param(True, id="compiled")]
)
@pytest.mark.parametrize(
    "name, hypers, how",
    [
        ("SGD", {}, "rows"),
        ("Adagrad", {}, "rows"),
        ("Adagrad", {"clipnorm": 0.5}, "rows"),
        ("SGD", {"global_clipnorm": 0.5}, "rows"),
        ("SGD", {"weight_decay": 0.1}, "joined"),
        ("SGD", {"momentum": 0.9}, "joined"),
        ("Adam", {}, "joined"),
        ("Adagrad", {"use_ema": True}, "joined"),
        ("LAMB", {}, "plain"),
    ],
)
def test_exact_is_the_dense_result(tf, compat_opt_target, name, hypers, how, compiled):
    rule = getattr(rules, name)
    gradients = [[slices(tf, number)[1]] for number in range(3)]
    expected = run_reference(rule, [VALUES], gradients, learning_rate=0.1, **hypers)
    variable, optimizer = train(tf, compat_opt_target, rule, compiled=compiled, **hypers)
    assert (": %s, because" % how) in optimizer.explain(sparse=[variable])
    assert_close(variable.numpy(), expected[-1][0], 1e-9, name)
    for slot, wanted in expected.slots[0].items():
        assert_close(optimizer.get_slot(variable, slot).numpy(), wanted, 1e-9, slot, smallest=1e-3)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("name, hypers", [("Adam", {}), ("SGD", {"momentum": 0.9}), ("AdamW", {})])
def test_lazy_leaves_rows_alone_that_are_not_touched(tf, compat_opt_target, name, hypers, compiled):
    """Each row follows the rule over just the steps that touch it, at those steps' numbers."""
    rule = getattr(rules, name)
    variable, optimizer = train(tf, compat_opt_target, rule, compiled=compiled, sparse="lazy", **hypers)
    for row in range(6):
        gradients = [
            [slices(tf, number)[1][row] if row in INDICES[number] else None, np.zeros(1)]
            for number in range(3)
        ]
        expected = run_reference(
            rule, [VALUES[row], np.zeros(1)], gradients, learning_rate=0.1, **hypers
        )
        assert_close(variable.numpy()[row], expected[-1][0], 1e-9, "row %d" % row)
        for slot, wanted in expected.slots[0].items():
            actual = optimizer.get_slot(variable, slot).numpy()[row]
            assert_close(actual, wanted, 1e-9, "slot %s, row %d" % (slot, row))


def test_lazy_is_refused_where_rows_can_not_be_updated_alone(tf, compat_opt_target):
    with pytest.raises(UnsupportedError) as caught:
        train(tf, compat_opt_target, rules.LAMB, sparse="lazy")
    assert "not elementwise" in str(caught.value)
    with pytest.raises(UnsupportedError) as caught:
        train(tf, compat_opt_target, rules.Adam, sparse="lazy", use_ema=True)
    assert "moving average" in str(caught.value)
    with pytest.raises(HyperError):
        compile_rule(rules.Adam, compat_opt_target)(sparse="dense")


def test_an_empty_sparse_gradient_moves_nothing(tf, compat_opt_target):
    for name, option in (("SGD", "exact"), ("Adagrad", "exact"), ("Adam", "lazy")):
        variable = tf.Variable(VALUES)
        optimizer = compile_rule(getattr(rules, name), compat_opt_target)(sparse=option)
        empty = tf.IndexedSlices(tf.zeros((0, 3), tf.float64), tf.zeros((0,), tf.int64), tf.constant([6, 3]))
        optimizer.apply_gradients([(empty, variable)])
        np.testing.assert_array_equal(variable.numpy(), VALUES)


def test_half_precision_tables(tf, compat_opt_target):
    """Repeated rows are summed in float32, not in float16."""
    variable = tf.Variable(tf.zeros((2, 1), tf.float16))
    optimizer = compile_rule(rules.SGD, compat_opt_target)(learning_rate=1.0)
    values = tf.constant([[1.0]] + [[2.0 ** -11]] * 4, tf.float16)
    gradient = tf.IndexedSlices(values, tf.constant([1] * 5), tf.constant([2, 1]))
    optimizer.apply_gradients([(gradient, variable)])
    np.testing.assert_array_equal(
        tf.cast(variable, tf.float32).numpy(), np.float32([[0], [-np.float16(1 + 4 * 2.0 ** -11)]])
    )
