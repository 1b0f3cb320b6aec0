"""Each Keras's LossScaleOptimizer around a compiled optimizer: in compile with mixed_float16, and explicitly."""

import contextlib
import warnings

import numpy as np
import pytest

import compat_opt as co
from compat_opt.rules import LAMB, SGD, Adam
from on_target import assert_weights, file_holds_state, reference_fit, regression


LINEAR = [np.array([[-0.5], [0.5]], "float32"), np.ones(1, "float32")]


@contextlib.contextmanager
def mixed_float16(on):
    """The global policy mixed_float16; skips where this Keras has none."""
    precision = getattr(on.keras, "mixed_precision", None)
    setter = getattr(precision, "set_global_policy", None)
    if setter is None:
        setter = getattr(getattr(precision, "experimental", None), "set_policy", None)
    if setter is None:
        pytest.skip("no keras.mixed_precision policy in this Keras")
    setter("mixed_float16")
    try:
        yield
    finally:
        setter("float32")


def mild(rows):
    """(x, y) near the model's first weights: float16 holds the scaled gradients."""
    x, y = regression(rows)
    return 0.25 * x, 1 + 0.125 * y


def inner(optimizer):
    """The compiled optimizer inside of a LossScaleOptimizer."""
    for name in ("inner_optimizer", "_optimizer"):
        if hasattr(optimizer, name):
            return getattr(optimizer, name)
    raise AssertionError("%r wraps nothing" % optimizer)


def compiled_model(on, optimizer):
    """A model under mixed_float16 whose optimizer scales the loss; its outputs are float32."""
    layers, given = on.keras.layers, on.keras.Input((2,))
    outputs = layers.Activation("linear", dtype="float32")(layers.Dense(1)(given))
    model = on.keras.Model(given, outputs)
    model.set_weights(LINEAR)
    try:
        on.compile(model, optimizer)
    except TypeError as error:
        if "LossScaleOptimizerV3" not in str(error):
            raise
        pytest.skip("no mixed_float16 for experimental optimizers in Model.compile of this Keras")
    return model


def test_fit_with_mixed_float16_follows_the_reference(on):
    """Weights are float32; only the layer's product is rounded to float16."""
    x, y = mild(8)
    hypers = dict(learning_rate=0.05, clipnorm=None, weight_decay=0.1)
    with mixed_float16(on):
        model = compiled_model(on, on.optimizer(Adam, **hypers))
        first = model.get_weights()
        on.fit(model, x, y, batch_size=4, epochs=3)
    assert inner(model.optimizer) is not None
    batches = [(x[i : i + 4], y[i : i + 4]) for _ in range(3) for i in (0, 4)]
    assert_weights(model, reference_fit(Adam, first, batches, **hypers), 0.01)
    assert int(on.value(inner(model.optimizer).iterations)) == 6
    kernel = model.trainable_variables[0]
    assert "float32" in str(inner(model.optimizer).get_slot(kernel, "momentum").dtype)


def test_a_step_that_is_not_finite_leaves_variables_and_slots_alone(on):
    x, y = mild(4)
    with mixed_float16(on):
        model = compiled_model(on, on.optimizer(Adam, 0.05))
        on.fit(model, x, y)
        optimizer = inner(model.optimizer)
        before = [np.array(w) for w in model.get_weights()]
        slots = [on.value(optimizer.get_slot(v, "velocity")) for v in model.trainable_variables]
        on.fit(model, x * np.float32(np.inf), y)
        for actual, expected in zip(model.get_weights(), before):
            assert np.array_equal(actual, expected)
        for variable, expected in zip(model.trainable_variables, slots):
            assert np.array_equal(on.value(optimizer.get_slot(variable, "velocity")), expected)
        on.fit(model, x, y)
    assert all(np.all(np.isfinite(w)) for w in model.get_weights())
    assert not np.array_equal(model.get_weights()[0], before[0])


def wrapped(on, optimizer, scale):
    """A LossScaleOptimizer that starts with `scale`."""
    precision = getattr(on.keras, "mixed_precision", None)
    wrapper = getattr(precision, "LossScaleOptimizer", None)
    if wrapper is not None:
        return wrapper(optimizer, initial_scale=scale)
    experimental = getattr(precision, "experimental", None)
    if experimental is None:
        pytest.skip("no keras.mixed_precision in this Keras")
    place = getattr(on.tf, "mixed_precision", None) or on.tf.train  # TF 2.0: tf.train.experimental
    scaling = place.experimental.DynamicLossScale(initial_loss_scale=scale)
    return experimental.LossScaleOptimizer(optimizer, scaling)


def test_an_explicit_wrapper_in_a_custom_loop(on):
    """Gradients that would be lost in float16 come through; a NaN step changes nothing."""
    if on.target.backend != "tensorflow":
        pytest.skip("no tf.GradientTape on the backend %s" % on.target.backend)
    tf, w = on.tf, on.variable([1.0, 2.0])
    compiled = on.optimizer(SGD, 0.5, momentum=0.5)
    compiled.build([w])
    optimizer = wrapped(on, compiled, 1024.0)
    if on.is_keras3:
        optimizer.build([w])

    @tf.function
    def step(factor):
        with tf.GradientTape() as tape:
            loss = co.scale_loss(optimizer, tf.reduce_sum(w) * factor)
        gradients = co.unscale_gradients(optimizer, tape.gradient(loss, [w]))
        optimizer.apply_gradients(zip(gradients, [w]))

    step(tf.constant(1.0))
    on.assert_value(w, [0.5, 1.5])
    step(tf.constant(float("nan")))
    on.assert_value(w, [0.5, 1.5])
    step(tf.constant(1.0))
    on.assert_value(w, [0.5 - 0.75, 1.5 - 0.75])


def test_minimize_of_the_wrapper(on):
    wrapper = wrapped(on, on.optimizer(SGD, 0.25), 1024.0)
    if not hasattr(wrapper, "minimize"):
        pytest.skip("no LossScaleOptimizer.minimize in this Keras")
    w = on.variable([2.0])
    wrapper.minimize(lambda: on.tf.reduce_sum(w * w), [w])
    on.assert_value(w, [1.0])


def test_hyperparameters_are_reached_through_the_wrapper(on):
    optimizer = on.optimizer(Adam, 0.5)
    wrapper = wrapped(on, optimizer, 1024.0)
    on.assert_value(wrapper.learning_rate, 0.5)
    wrapper.learning_rate = 0.25
    on.assert_value(optimizer.learning_rate, 0.25)


@pytest.mark.long
def test_a_model_in_mixed_precision_is_loaded_with_its_optimizer(on, tmp_path):
    import os

    x, y = mild(4)
    with mixed_float16(on):
        model = compiled_model(on, on.optimizer(LAMB, 0.05))
        on.fit(model, x, y, epochs=2)
        path = os.path.join(str(tmp_path), "model" + (".keras" if on.is_keras3 else ".h5"))
        try:
            model.save(path)
        except AttributeError as error:
            if "_variables" not in str(error):
                raise
            pytest.skip("no variables in LossScaleOptimizerV3, which Model.save of this Keras asks for")
        try:
            loaded = on.keras.models.load_model(path)
        except ValueError as error:
            if "Unknown optimizer: 'LAMB'" not in str(error):
                raise
            pytest.skip("no registered name of the inner optimizer in the H5 files of Keras 2.13+")
        assert type(inner(loaded.optimizer)) is type(inner(model.optimizer))
        if not file_holds_state(path):
            pytest.skip("no optimizer weights in the H5 files of this Keras for this generation")
        for continued in (model, loaded):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                on.fit(continued, x, y)
    for actual, expected in zip(loaded.get_weights(), model.get_weights()):
        on.assert_value(np.asarray(actual), expected, 1e-5)
