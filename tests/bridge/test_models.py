"""Models with a bridged optimizer: fit, save and load, callbacks, mixed precision, rules by name."""

import os

import numpy as np
import pytest
from bridged_models import assert_weights, compiled, fit, model_and_data, reference, saved_and_loaded
from bridging import location, needs_host

import compat_opt as co
from compat_opt import bridge
from compat_opt.testing.compare import assert_close

pytestmark = needs_host


def test_fit_with_an_embedding():
    model, x, y = compiled()
    expected = reference(model, x, y, 4)
    fit(model, x, y, 4)
    assert_weights(model, expected)


def test_a_rule_by_the_name_of_variables():
    model, x, y = compiled("NoBias")
    expected = reference(model, x, y, 3, frozen=("bias",))
    fit(model, x, y, 3)
    assert_weights(model, expected)


@pytest.mark.parametrize("suffix", [".keras", pytest.param(".h5", marks=pytest.mark.long)])
def test_saved_and_loaded(tmp_path, suffix):
    import tensorflow as tf

    path = os.path.join(str(tmp_path), "model" + suffix)
    model, x, y = compiled()
    expected = reference(model, x, y, 5)
    fit(model, x, y, 3)
    model.save(path)
    loaded = tf.keras.models.load_model(path)
    if not os.path.isfile(path):
        pytest.skip("Model.save writes another format than %s under that name" % suffix)
    assert type(loaded.optimizer) is type(model.optimizer)
    fit(loaded, x, y, 2)
    assert_weights(loaded, expected)


@pytest.mark.long
@pytest.mark.parametrize("built", [False, True], ids=["before the first step", "after build"])
def test_checkpoint(tmp_path, built):
    import tensorflow as tf

    model, x, y = compiled()
    expected = reference(model, x, y, 5)
    fit(model, x, y, 3)
    path = tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(os.path.join(str(tmp_path), "c"))
    other, _, _ = compiled()
    if built:
        other.optimizer.build(other.trainable_variables)
    tf.train.Checkpoint(model=other, optimizer=other.optimizer).restore(path)
    fit(other, x, y, 2)
    assert_weights(other, expected)


def test_what_the_legacy_config_forgets_is_saved(tmp_path):
    import tensorflow as tf

    model, x, y = compiled("Forgetful", momentum=0.5, skipped=["bias"])
    fit(model, x, y, 2)
    copy = type(model.optimizer).from_config(model.optimizer.get_config())
    assert copy.skipped == ["bias"]
    assert_close(tf.convert_to_tensor(copy.momentum).numpy(), 0.5, 1e-7)


@pytest.mark.long
def test_callbacks_change_the_rate():
    import tensorflow as tf

    model, x, y = compiled(momentum=0.0)
    first = reference(model, x, y, 1, rate=0.1, factor=0.0)
    fit(model, x, y, 2, callbacks=[tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.0 if epoch else 0.1)])
    assert_weights(model, first)
    reduce = tf.keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1, min_delta=1e9)
    model.optimizer.learning_rate = 0.4
    fit(model, x, y, 3, callbacks=[reduce])
    assert_close(float(np.array(model.optimizer.learning_rate)), 0.1, 1e-6)


@pytest.mark.long
def test_mixed_precision_scales_out():
    import tensorflow as tf

    scaling = getattr(tf.keras.optimizers, "LossScaleOptimizer", None) or tf.keras.mixed_precision.LossScaleOptimizer
    if not co.default_target().namespace == "keras" and not hasattr(scaling, "get_scaled_loss"):
        pytest.skip("no LossScaleOptimizer in tf.keras")
    model, x, y = model_and_data()
    expected = reference(model, x, y, 3)
    model.compile(scaling(bridge.load(location("momentum_v2.py", "Momentum"))(0.1)), tf.keras.losses.MeanSquaredError())
    fit(model, x, y, 3)
    assert_weights(model, expected)


@pytest.mark.long
def test_constraints_of_the_model():
    import tensorflow as tf

    given = tf.keras.Input((2,))
    layer = tf.keras.layers.Dense(1, use_bias=False, kernel_constraint=tf.keras.constraints.NonNeg())
    model = tf.keras.Model(given, layer(given))
    model.set_weights([np.array([[0.1], [0.2]], "float32")])
    model.compile(bridge.load(location("momentum_v2.py", "Momentum"))(1.0), tf.keras.losses.MeanSquaredError())
    model.fit(np.ones((4, 2)), -np.ones((4, 1)), epochs=1, verbose=0)
    assert_close(model.get_weights()[0], np.zeros((2, 1)), 1e-6)


@pytest.mark.long
@pytest.mark.parametrize("name", ["PerLayer", "ByFunction"])
def test_one_optimizer_per_layer(name, tmp_path):
    """A wrapper around optimizers for some of the model's layers; the rest of the model stays."""
    import tensorflow as tf

    model, x, y = model_and_data()
    momentum, cls = bridge.load(location("momentum_v2.py", "Momentum")), bridge.load(location("wrappers.py", name))
    head = model.get_layer("head")
    given = head if name == "PerLayer" else lambda: head.trainable_variables
    model.compile(cls([(momentum(0.1), given)]), tf.keras.losses.MeanSquaredError())
    expected = reference(model, x, y, 5, frozen=("words",))
    fit(model, x, y, 3)
    if name == "PerLayer":
        model = saved_and_loaded(model, tmp_path)
    fit(model, x, y, 2)
    assert_weights(model, expected)


@pytest.mark.long
def test_a_wrapper_and_a_model_without_an_input():
    """Keras 3 makes the model's variables inside of the first compiled step, where the wrapper can't copy them."""
    import tensorflow as tf

    x, y = np.ones((4, 1), "float32"), np.zeros((4, 1), "float32")

    def make(built):
        dense = tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
        model = tf.keras.Sequential([tf.keras.Input((1,)), dense] if built else [dense])
        model.compile(bridge.load(location("wrappers.py", "Lookahead"))("sgd"), tf.keras.losses.MeanSquaredError())
        return model

    model = make(True)
    fit(model, x, y, 2)
    assert_close(model.get_weights()[0], [[1 + 0.5 * ((1 - 0.02) ** 2 - 1)]], 1e-6)
    model = make(False)
    if co.default_target().generation == "keras3":
        with pytest.raises(co.errors.UnsupportedError, match="Input"):
            fit(model, x, y, 2)
    else:
        fit(model, x, y, 2)
        assert_close(model.get_weights()[0], [[1 + 0.5 * ((1 - 0.02) ** 2 - 1)]], 1e-6)
