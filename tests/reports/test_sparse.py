"""Reports on sparse gradients: repeated rows count as their sum, and sparse equals dense."""

import numpy as np
import pytest

from compat_opt.rules import LAMB, SGD, Adagrad, Adam, AdamW, Lion, Muon, Nadam, RMSprop

CASES = [
    (SGD, {}),
    (SGD, {"momentum": 0.9, "nesterov": True}),
    (RMSprop, {}),
    (RMSprop, {"momentum": 0.5, "centered": True}),
    (Adagrad, {}),
    (Adam, {}),
    (Adam, {"amsgrad": True}),
    (AdamW, {"weight_decay": 0.1}),
    (Nadam, {}),
    (Lion, {}),
    (LAMB, {}),
    (Muon, {}),
]


@pytest.mark.parametrize("rule, hypers", CASES, ids=[c[0].__name__ + "-".join([""] + list(c[1])) for c in CASES])
def test_repeated_rows_equal_the_summed_dense_gradient(on, rule, hypers):
    """keras#19992, Adan#13, tensorflow#28090: squares were taken of each slice, for most rules of Keras 3."""
    a, b = on.variable([[1.0, 2.0], [1.0, -1.0], [3.0, 1.0]]), on.variable([[1.0, 2.0], [1.0, -1.0], [3.0, 1.0]])
    sparse, dense = on.optimizer(rule, 0.1, **hypers), on.optimizer(rule, 0.1, **hypers)
    for scale in (1.0, -0.5, 2.0):
        rows = [[1.0 * scale, 0.5], [2.0 * scale, 0.25], [-1.0, 1.0]]
        on.step(sparse, (on.rows(rows, [1, 1, 2], [3, 2]), a))
        on.step(dense, (np.array([[0, 0], [3 * scale, 0.75], [-1, 1]], "float32"), b))
    on.assert_value(a, on.value(b), 1e-5)


def test_a_row_outside_of_the_batch_goes_on_as_with_a_dense_gradient(on):
    """tensorflow#23668, tensorflow#464, mxnet#9177: lazy on one version, dense on the next, silently."""
    w = on.variable([[1.0], [1.0]])
    optimizer = on.optimizer(SGD, 0.1, momentum=0.9)
    on.step(optimizer, (on.rows([[1.0]], [0], [2, 1]), w))
    on.step(optimizer, (on.rows([[1.0]], [1], [2, 1]), w))
    on.assert_value(w, [[1 - 0.1 - 0.09], [0.9]])


def test_clipnorm_sees_the_summed_rows(on):
    """keras#18985, keras#3859, keras#4915: the norm was taken of the rows before they were summed."""
    w = on.variable([[0.0], [0.0]])
    on.step(on.optimizer(SGD, 1.0, clipnorm=1.0), (on.rows([[3.0], [3.0]], [0, 0], [2, 1]), w))
    on.assert_value(w, [[-1.0], [0.0]])


def test_clipvalue_sees_the_summed_rows(on):
    """keras#18985: with each slice clipped by itself, the row moved by twice the bound."""
    w = on.variable([[0.0], [0.0]])
    on.step(on.optimizer(SGD, 1.0, clipvalue=1.0), (on.rows([[3.0], [3.0]], [0, 0], [2, 1]), w))
    on.assert_value(w, [[-1.0], [0.0]])


def test_global_clipnorm_sees_dense_and_summed_sparse_gradients(on):
    """tensorflow#36001, tensorflow#29108, keras#13575: missing up to 2.3, and wrong for repeated rows."""
    a, b = on.variable([0.0]), on.variable([[0.0], [0.0]])
    optimizer = on.optimizer(SGD, 1.0, global_clipnorm=1.0)
    on.step(optimizer, ([3.0], a), (on.rows([[2.0], [2.0]], [1, 1], [2, 1]), b))
    on.assert_value(a, [-0.6])
    on.assert_value(b, [[0.0], [-0.8]])


def test_accumulated_sparse_gradients_make_their_mean(on):
    """keras#19990, keras#19998, tfa#2525: two calls with different rows are one step."""
    w = on.variable([[0.0], [0.0]])
    optimizer = on.optimizer(SGD, 1.0, gradient_accumulation_steps=2)
    on.step(optimizer, (on.rows([[1.0], [1.0]], [0, 0], [2, 1]), w))
    on.assert_value(w, [[0.0], [0.0]])
    on.step(optimizer, (on.rows([[3.0]], [1], [2, 1]), w))
    on.assert_value(w, [[-1.0], [-1.5]])
