"""Training goes on as if it had not been stopped: after saving, weight files, backups, clones."""

import os

import numpy as np
import pytest
from bridged_models import assert_weights, compiled, fit, model_and_data, reference, saved_and_loaded
from bridging import location, needs_host

import compat_opt as co
from compat_opt import bridge

pytestmark = [needs_host, pytest.mark.long]


def schedule():
    import tensorflow as tf

    return tf.keras.optimizers.schedules.ExponentialDecay(0.2, 2, 0.5)


def rate(step):
    return 0.2 * 0.5 ** (step / 2)


def test_a_schedule(tmp_path):
    model, x, y = compiled(learning_rate=schedule())
    expected = reference(model, x, y, 5, rate)
    fit(model, x, y, 3)
    loaded = saved_and_loaded(model, tmp_path)
    fit(loaded, x, y, 2)
    assert_weights(loaded, expected)


@pytest.mark.parametrize("built", [False, True], ids=["before the first step", "after build"])
def test_a_file_of_weights(tmp_path, built):
    import h5py

    path = os.path.join(str(tmp_path), "some.weights.h5")
    model, x, y = compiled()
    expected = reference(model, x, y, 5)
    fit(model, x, y, 3)
    model.save_weights(path)
    with h5py.File(path, "r") as file:
        if "optimizer" not in file and "_optimizer" not in file:
            pytest.skip("this Keras writes no optimizer state into a file of weights")
    other, _, _ = compiled()
    if built:
        other.optimizer.build(other.trainable_variables)
    other.load_weights(path)
    fit(other, x, y, 2)
    assert_weights(other, expected)


def test_a_backup(tmp_path):
    import tensorflow as tf

    class Stopped(Exception):
        pass

    class Stop(tf.keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            if epoch == 2:
                raise Stopped

    def backup():
        callbacks = getattr(tf.keras.callbacks, "experimental", tf.keras.callbacks)
        return getattr(tf.keras.callbacks, "BackupAndRestore", None) or callbacks.BackupAndRestore

    model, x, y = compiled()
    expected = reference(model, x, y, 6)
    with pytest.raises(Stopped):
        fit(model, x, y, 6, callbacks=[backup()(str(tmp_path)), Stop()])
    other, _, _ = compiled()
    done = fit(other, x, y, 6, callbacks=[backup()(str(tmp_path))]).epoch
    # An epoch whose end was not reached is made again, from the backup of the epoch before.
    assert 0 < len(done) < 6
    assert_weights(other, expected)


def test_a_compile_config():
    model, x, y = compiled(momentum=0.5)
    if not hasattr(model, "get_compile_config"):
        pytest.skip("this Keras has no compile config")
    other, _, _ = model_and_data()
    other.compile_from_config(model.get_compile_config())
    assert type(other.optimizer) is type(model.optimizer)
    expected = reference(model, x, y, 3, factor=0.5)
    fit(other, x, y, 3)
    assert_weights(other, expected)


@pytest.mark.parametrize("inside", ["adam", "Momentum"])
def test_a_wrapper(tmp_path, inside):
    """Its own state, and that of the optimizer inside of it: one of Keras, or another bridged one."""
    if inside == "Momentum":
        inside = bridge.load(location("momentum_v2.py", "Momentum"))(0.1)
    model, x, y = compiled("Lookahead", "wrappers.py", inside)
    fit(model, x, y, 3)
    loaded = saved_and_loaded(model, tmp_path)
    fit(model, x, y, 3)
    fit(loaded, x, y, 3)
    assert_weights(loaded, [w.astype("float64") for w in model.get_weights()], 1e-6)


def test_mixed_precision(tmp_path):
    import tensorflow as tf

    policy = tf.keras.mixed_precision
    if not hasattr(policy, "set_global_policy"):
        pytest.skip("no mixed precision in this Keras")
    policy.set_global_policy("mixed_float16")
    try:
        model, x, y = compiled()
        assert type(model.optimizer).__name__.startswith("LossScaleOptimizer")
        expected = reference(model, x, y, 5)
        fit(model, x, y, 3)
        loaded = saved_and_loaded(model, tmp_path)
        fit(loaded, x, y, 2)
    finally:
        policy.set_global_policy("float32")
    assert_weights(loaded, expected, 5e-3, smallest=0.1)


def test_a_step_whose_gradients_overflow_is_left_out():
    import tensorflow as tf

    scaling = getattr(tf.keras.optimizers, "LossScaleOptimizer", None) or tf.keras.mixed_precision.LossScaleOptimizer
    inner = bridge.load(location("momentum_v2.py", "Momentum"))(0.5)
    optimizer, variable = scaling(inner), tf.Variable([1.0, 2.0])
    scale = getattr(optimizer, "scale_loss", None) or optimizer.get_scaled_loss
    unscale = getattr(optimizer, "get_unscaled_gradients", lambda gradients: gradients)
    if hasattr(optimizer, "build"):
        optimizer.build([variable])
    for gradient, after in (([np.inf, 1.0], [1.0, 2.0]), ([1.0, 2.0], [0.5, 1.0])):
        scaled = unscale([scale(tf.constant(gradient, "float32"))])
        optimizer.apply_gradients(list(zip(scaled, [variable])))
        assert variable.numpy().tolist() == after
    counted = 1 if co.default_target().generation == "keras3" else 2  # Keras 2 counts steps that it leaves out
    assert int(np.array(inner.iterations)) == counted
