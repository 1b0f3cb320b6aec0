"""TF1-style graphs with a Session, and steps compiled by XLA."""

import inspect

import numpy as np
import pytest

import compat_opt as co
from compat_opt.rules import SGD, Adam, Nadam
from compat_opt.testing.compare import assert_close
from on_target import assert_weights, reference_fit, regression

GRADIENTS = [[1.0, -3.0], [2.0, 0.5], [-1.0, 4.0], [0.5, 0.5]]


def require_tensorflow(on):
    if on.tf is None:
        pytest.skip("no TensorFlow graphs on the backend %s" % on.target.backend)
    return on.tf


@pytest.mark.parametrize(
    "hypers",
    [
        dict(),
        dict(clipnorm=0.5, weight_decay=0.1),
        dict(use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=2),
        dict(gradient_accumulation_steps=2),
    ],
    ids=lambda h: "-".join(h) or "plain",
)
def test_a_session_makes_the_steps(on, hypers):
    """The op that apply_gradients returns makes the step; global_variables_initializer makes the state."""
    tf = require_tensorflow(on)
    expected = co.run_reference(Nadam, [[1.0, 2.0]], [[g] for g in GRADIENTS], learning_rate=0.1, **hypers)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        w = tf.Variable([1.0, 2.0], name="w")
        given = tf.compat.v1.placeholder(tf.float32, [2])
        optimizer = on.optimizer(Nadam, 0.1, **hypers)
        step = optimizer.apply_gradients([(given, w)])
        session.run(tf.compat.v1.global_variables_initializer())
        for number, gradient in enumerate(GRADIENTS):
            session.run(step, {given: gradient})
            assert_close(session.run(w), expected[number][0], 1e-5, "step %d" % (number + 1))
        count = session.run(optimizer.variables[0].value if on.is_keras3 else optimizer.variables[0])
    assert int(count) == expected.iterations


def test_control_dependencies_order_steps(on):
    """Two steps in one run: the second waits for the first, and a read of w for both."""
    tf = require_tensorflow(on)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        w = tf.Variable([0.0], name="w")
        optimizer = on.optimizer(SGD, 1.0, momentum=0.5)
        first = optimizer.apply_gradients([(tf.constant([1.0]), w)])
        with tf.control_dependencies([first]):
            second = optimizer.apply_gradients([(tf.constant([1.0]), w)])
        with tf.control_dependencies([second]):
            after = w.read_value()
        session.run(tf.compat.v1.global_variables_initializer())
        assert_close(session.run(after), [-2.5], 1e-6)


def test_minimize_in_a_session(on):
    tf = require_tensorflow(on)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        w = tf.Variable([2.0], name="w")
        step = on.optimizer(SGD, 0.25).minimize(lambda: tf.reduce_sum(w * w), [w])
        session.run(tf.compat.v1.global_variables_initializer())
        session.run(step)
        assert_close(session.run(w), [1.0], 1e-6)


def test_jit_compile_makes_the_same_steps(on):
    """jit_compile=True where tf.function can compile; a clear error on TensorFlow 2.0."""
    tf = require_tensorflow(on)
    names = inspect.signature(tf.function).parameters
    w = on.variable([1.0, 2.0])
    optimizer = on.optimizer(Adam, 0.1, jit_compile=True, clipnorm=1.0)
    if "jit_compile" not in names and "experimental_compile" not in names:
        with pytest.raises(NotImplementedError, match="XLA.*jit_compile"):
            on.step(optimizer, (GRADIENTS[0], w))
        return
    expected = co.run_reference(Adam, [[1.0, 2.0]], [[g] for g in GRADIENTS], learning_rate=0.1, clipnorm=1.0)
    for gradient in GRADIENTS:
        on.step(optimizer, (gradient, w))
    on.assert_value(w, expected[-1][0], 1e-5)


def test_jit_compile_with_sparse_gradients(on):
    tf = require_tensorflow(on)
    names = inspect.signature(tf.function).parameters
    if "jit_compile" not in names and "experimental_compile" not in names:
        pytest.skip("no jit_compile or experimental_compile in tf.function")
    w = on.variable([[1.0], [1.0], [1.0]])
    optimizer = on.optimizer(SGD, 0.5, jit_compile=True)
    on.step(optimizer, (on.rows([[1.0], [1.0]], [2, 2], [3, 1]), w))
    on.assert_value(w, [[1.0], [1.0], [0.0]])


def test_a_whole_step_inside_a_function_compiled_by_xla(on):
    tf = require_tensorflow(on)
    names = inspect.signature(tf.function).parameters
    argument = next((n for n in ("jit_compile", "experimental_compile") if n in names), None)
    if argument is None:
        pytest.skip("no jit_compile or experimental_compile in tf.function")
    w = on.variable([1.0, 2.0])
    optimizer = on.optimizer(Adam, 0.1)
    optimizer.build([w])

    @tf.function(**{argument: True})
    def step(gradient):
        optimizer.apply_gradients([(gradient, w)])

    expected = co.run_reference(Adam, [[1.0, 2.0]], [[g] for g in GRADIENTS], learning_rate=0.1)
    for gradient in GRADIENTS:
        step(tf.constant(gradient))
    on.assert_value(w, expected[-1][0], 1e-5)


def test_compile_with_jit_compile(on):
    if "jit_compile" not in inspect.signature(on.keras.Model.compile).parameters:
        pytest.skip("no jit_compile in Model.compile")
    if on.target.backend == "torch":
        pytest.skip("jit_compile is torch.compile on the backend torch, which needs a C++ compiler")
    x, y = regression(rows=8)
    model = on.linear()
    first = model.get_weights()
    on.compile(model, on.optimizer(Adam, 0.05, global_clipnorm=0.5), jit_compile=True)
    on.fit(model, x, y, batch_size=4, epochs=2)
    batches = [(x[i : i + 4], y[i : i + 4]) for _ in range(2) for i in (0, 4)]
    assert_weights(model, reference_fit(Adam, first, batches, learning_rate=0.05, global_clipnorm=0.5), 1e-4)
    assert np.all(np.isfinite(model.get_weights()[0]))
