"""What variables can be: constrained, of any float dtype, without gradient, frozen and unfrozen."""

import warnings

import numpy as np
import pytest

import compat_opt as co
from compat_opt.errors import CompatOptError
from compat_opt.rules import SGD, Adam
from compat_opt.testing.compare import assert_close
from on_target import assert_weights, regression


def test_constraints_are_applied_in_fit(on):
    x, y = regression(rows=8)
    model = on.keras.Sequential(
        [on.keras.Input((2,)), on.keras.layers.Dense(1, kernel_constraint=on.keras.constraints.NonNeg())]
    )
    model.set_weights([np.array([[0.1], [0.1]], "float32"), np.zeros(1, "float32")])
    weights = model.get_weights()
    on.fit(on.compile(model, on.optimizer(SGD, 1.0)), x, -10 * y, batch_size=8)
    kernel = model.get_weights()[0]
    if not np.all(kernel == 0.0):
        model.set_weights(weights)
        on.fit(on.compile(model, on.keras.optimizers.SGD(1.0)), x, -10 * y, batch_size=8)
        if not np.all(model.get_weights()[0] == 0.0):
            pytest.skip("no constraints in Model.fit: this Keras hands tf.Variables without them to optimizers")
    assert np.all(kernel == 0.0), kernel


def test_a_constraint_holds_for_a_sparse_gradient(on):
    if on.tf is None:
        pytest.skip("no sparse gradients: the %s backend has no tf.IndexedSlices" % on.target.backend)
    w = on.tf.Variable([[1.0], [1.0]], constraint=lambda value: on.tf.maximum(value, 0.5))
    on.step(on.optimizer(SGD, 1.0), (on.rows([[1.0]], [1], [2, 1]), w))
    on.assert_value(w, [[1.0], [0.5]])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_variables_of_every_dtype(on, dtype):
    """Three steps in the variable's own dtype, against the reference in float64."""
    need = {"float64": "float64", "complex64": "complex", "complex128": "complex"}.get(dtype)
    if need:
        on.require(need)
    unit = 1j if dtype.startswith("complex") else 1.0
    values, gradients = np.array([1.0, 2.0]) * (1 + unit - 1.0), [np.array([1.0, -0.5]) * unit] * 3
    w = on.variable(values, dtype)
    optimizer = on.optimizer(Adam, 0.125)
    for gradient in gradients:
        on.step(optimizer, (on.gradient(gradient, dtype), w))
    expected = co.run_reference(Adam, [values], [[g] for g in gradients], learning_rate=0.125)[-1][0]
    tolerance = {"float16": 3e-3, "bfloat16": 3e-2, "float64": 1e-12, "complex128": 1e-12}.get(dtype, 1e-5)
    assert_close(on.value(w), expected, tolerance)


class Detached:
    """A layer with a weight that the loss does not depend on."""

    @staticmethod
    def of(on):
        class WithUnused(on.keras.layers.Layer):
            def build(self, shape):
                self.unused = self.add_weight(name="unused", shape=(1,), initializer="ones")
                super().build(shape)

            def call(self, inputs):
                return inputs

            def compute_output_shape(self, shape):
                return shape

        return WithUnused()


def test_a_weight_without_gradient_is_left_alone_in_fit(on):
    x, y = regression(rows=8)
    model = on.keras.Sequential([on.keras.Input((2,)), Detached.of(on), on.keras.layers.Dense(1)])
    unused = next(v for v in model.trainable_variables if "unused" in v.name)
    before = [np.array(w) for w in model.get_weights()]
    optimizer = on.optimizer(Adam, 0.1, weight_decay=0.5)
    on.fit(on.compile(model, optimizer), x, y, epochs=2)
    changed = sum(not np.array_equal(a, b) for a, b in zip(model.get_weights(), before))
    if on.target.backend == "jax":
        assert changed == 3  # jax.grad gives zeros instead of None, so that weight decay acts
        return
    assert changed == 2
    on.assert_value(unused, [1.0], 0)


def two_layers(on):
    layers = on.keras.layers
    model = on.keras.Sequential([on.keras.Input((2,)), layers.Dense(2, name="base"), layers.Dense(1, name="head")])
    model.set_weights([np.eye(2, dtype="float32"), np.zeros(2, "f4"), np.ones((2, 1), "f4"), np.zeros(1, "f4")])
    return model


def gradients_of_two(weights, x, y, frozen):
    kernel, bias, head, offset = weights
    hidden = x @ kernel + bias
    error = 2 * (hidden @ head + offset - y) / len(x)
    base = [x.T @ (error @ head.T), (error @ head.T).sum(axis=0)]
    return ([None, None] if frozen else base) + [hidden.T @ error, error.sum(axis=0)]


def fit_again(on, model, x, y, **kwargs):
    """fit after a change of `trainable` and compile(); on JAX the step can't grow, and the error says what to do."""
    optimizer = model.optimizer
    if on.target.backend == "jax" and optimizer.built:
        # Not through fit: Keras gives the values of all variables away before it traces the step.
        values = [v.value for v in model.trainable_variables]
        with pytest.raises(CompatOptError, match=r"optimizer\.build\(model\.trainable_variables\)"):
            optimizer.stateless_apply([v.value for v in optimizer.variables], values, values)
        optimizer.build(model.trainable_variables)
    on.fit(model, x, y, **kwargs)


def test_unfreezing_a_layer_between_two_fits(on):
    """After compile() with the same optimizer the base joins; the head keeps its momentum."""
    x, y = regression(rows=8)
    model = two_layers(on)
    first = [np.asarray(w, "float64") for w in model.get_weights()]
    optimizer = on.optimizer(SGD, 0.05, momentum=0.9)
    model.layers[-2].trainable = False
    on.fit(on.compile(model, optimizer), x, y, epochs=2)
    model.layers[-2].trainable = True
    on.compile(model, optimizer)
    fit_again(on, model, x, y, epochs=2)
    now, gradients = first, []
    for step in range(4):
        gradients.append(gradients_of_two(now, x, y, frozen=step < 2))
        now = co.run_reference(SGD, first, gradients, learning_rate=0.05, momentum=0.9)[-1]
    assert_weights(model, now, 1e-4)


@pytest.mark.long
def test_freezing_a_layer_leaves_its_state(on):
    """A layer that is frozen for a while keeps its momentum."""
    x, y = regression(rows=8)
    model = two_layers(on)
    first = [np.asarray(w, "float64") for w in model.get_weights()]
    optimizer = on.optimizer(SGD, 0.05, momentum=0.9)
    for frozen in (False, True, False):
        model.layers[-2].trainable = not frozen
        on.compile(model, optimizer)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit_again(on, model, x, y)
    now, gradients = first, []
    for frozen in (False, True, False):
        gradients.append(gradients_of_two(now, x, y, frozen))
        now = co.run_reference(SGD, first, gradients, learning_rate=0.05, momentum=0.9)[-1]
    assert_weights(model, now, 1e-4)
