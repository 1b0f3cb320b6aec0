"""Reports on half precision, double precision and complex variables, and on loss scaling."""

import numpy as np
import pytest

import compat_opt as co
from compat_opt.rules import LAMB, SGD, Adam
from compat_opt.testing.compare import assert_close


def test_adam_on_float16_moves_by_the_learning_rate(on):
    """keras#11860, tensorflow#9047: squares underflow in float16, and the first step was 50 times too large."""
    w = on.variable([1.0, 1.0], "float16")
    on.step(on.optimizer(Adam, 0.01), (on.gradient([1e-4, 0.0], "float16"), w))
    moved = 1 - on.value(w).astype("float64")
    assert_close(moved, [0.01, 0.0], 0.03)


def test_lamb_on_bfloat16_stays_finite(on):
    """keras#21238: 0.999 rounds to 1 in bfloat16."""
    w = on.variable([1.0, 2.0], "bfloat16")
    optimizer = on.optimizer(LAMB, 0.125)
    for _ in range(3):
        on.step(optimizer, (on.gradient([1.0, 0.0], "bfloat16"), w))
    values = on.value(w)
    assert np.all(np.isfinite(values)) and values[0] < 0.8 and values[1] == 2.0


def test_adam_squares_the_modulus_of_a_complex_gradient(on):
    """tf-keras#30, tensorflow#38541, keras#18372: the imaginary part was lost."""
    on.require("complex")
    w = on.variable([1 + 0j], "complex64")
    on.step(on.optimizer(Adam, 0.1), (on.gradient([3 + 4j], "complex64"), w))
    on.assert_value(w, np.array([1 - 0.06 - 0.08j]), 1e-5)


def test_sgd_takes_complex_variables(on):
    """keras#20581: NotFoundError on TensorFlow 2.0."""
    on.require("complex")
    w = on.variable([3 + 2j], "complex64")
    on.step(on.optimizer(SGD, 0.1), (on.gradient([6 + 4j], "complex64"), w))
    on.assert_value(w, np.array([2.4 + 1.6j]), 1e-6)


def test_a_float64_variable_moves_by_the_exact_rate(on):
    """keras#15791, tensorflow#39878, tensorflow#761: a rate kept in float32 is off by 1.5e-9."""
    on.require("float64")
    w = on.variable(1.0, "float64")
    on.step(on.optimizer(SGD, 0.1), (on.gradient(1.0, "float64"), w))
    assert abs(float(on.value(w)) - 0.9) < 1e-15


def loss_scale_optimizer(on, optimizer):
    """A LossScaleOptimizer of the target's Keras around `optimizer`."""
    precision = getattr(on.keras, "mixed_precision", None)
    wrapper = getattr(precision, "LossScaleOptimizer", None)
    if wrapper is not None:
        return wrapper(optimizer)
    experimental = getattr(precision, "experimental", None)
    if experimental is None:
        pytest.skip("no keras.mixed_precision in this Keras")
    return experimental.LossScaleOptimizer(optimizer, "dynamic")


def skip_unless_the_wrapper_steps_eagerly(on):
    """Keras 3's wrapper assigns inside jax.lax.cond, which works in a stateless step only."""
    w = on.variable([1.0])
    wrapper = loss_scale_optimizer(on, on.keras.optimizers.SGD(0.5))
    try:
        wrapper.apply_gradients([(on.gradient([0.0]), w)])
    except Exception as error:
        if "racer" not in type(error).__name__:
            raise
        pytest.skip("keras.optimizers.LossScaleOptimizer can't make an eager step on the backend jax")


def test_one_pair_of_functions_scales_and_unscales(on):
    """keras#20894: get_scaled_loss and get_unscaled_gradients are gone in Keras 3."""
    if on.target.backend == "jax":
        skip_unless_the_wrapper_steps_eagerly(on)
    w = on.variable([1.0, 2.0])
    compiled = on.optimizer(SGD, 0.5)
    compiled.build([w])
    optimizer = loss_scale_optimizer(on, compiled)
    if on.is_keras3:
        optimizer.build([w])
    scaled = co.scale_loss(optimizer, on.gradient(3.0))
    on.assert_value(scaled, 3.0 * 2.0**15)
    gradients = co.unscale_gradients(optimizer, [on.gradient([2.0**15, -(2.0**16)])])
    optimizer.apply_gradients([(gradients[0], w)])
    on.assert_value(w, [0.5, 3.0])


def test_the_pair_is_harmless_around_other_optimizers(on):
    """keras#20894: the same loop serves optimizers that scale nothing, or by a fixed factor."""
    for factor in (None, 8.0):
        w = on.variable([1.0])
        optimizer = on.optimizer(SGD, 0.5, loss_scale_factor=factor)
        scaled = co.scale_loss(optimizer, on.gradient(3.0))
        on.assert_value(scaled, 3.0 * (factor or 1.0))
        gradients = co.unscale_gradients(optimizer, [on.gradient([factor or 1.0])])
        on.step(optimizer, (gradients[0], w))
        on.assert_value(w, [0.5])
