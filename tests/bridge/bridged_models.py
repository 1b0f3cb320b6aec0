"""A model with an Embedding and a bridged optimizer, and its trajectory in float64."""

import os

import numpy as np
import pytest
from bridging import location

from compat_opt import bridge
from compat_opt.testing.compare import assert_close


def model_and_data(dtype=None):
    """A model with an Embedding that knows a word that never comes, and a batch for it."""
    import tensorflow as tf

    layers, given = tf.keras.layers, tf.keras.Input((2,), dtype="int32")
    last = layers.Flatten()(layers.Embedding(5, 3, name="words")(given))
    model = tf.keras.Model(given, layers.Dense(1, name="head", dtype=dtype)(last))
    random = np.random.RandomState(0)
    model.set_weights([random.uniform(-1, 1, np.shape(w)).astype("float32") for w in model.get_weights()])
    return model, random.randint(0, 4, (8, 2)), random.uniform(-1, 1, (8, 1)).astype("float32")


def compiled(name="Momentum", file="momentum_v2.py", *given, **arguments):
    """The model with a bridged optimizer, and its data."""
    import tensorflow as tf

    model, x, y = model_and_data()
    model.compile(bridge.load(location(file, name))(*given, **arguments), tf.keras.losses.MeanSquaredError())
    return model, x, y


def fit(model, x, y, epochs, **options):
    """One step per epoch."""
    return model.fit(x, y, epochs=epochs, batch_size=len(x), shuffle=False, verbose=0, **options)


def reference(model, x, y, steps, rate=0.1, factor=0.9, frozen=()):
    """Momentum on the model above in NumPy float64: the weights after `steps`; rows without gradient stay.

    Args:
        rate: the learning rate, or a function that gives that of a step (0 first).
        frozen: "words" and "bias", where these stay.
    """
    table, kernel, bias = [np.array(w, "float64") for w in model.get_weights()]
    moved = [np.zeros_like(w) for w in (table, kernel, bias)]
    rates = [rate(step) if callable(rate) else rate for step in range(steps)]
    for rate in rates:
        flat = table[x].reshape(len(x), -1)
        error = 2 * (flat @ kernel + bias - y) / len(x)
        rows = np.zeros_like(table)
        np.add.at(rows, x.ravel(), (error @ kernel.T).reshape(-1, table.shape[1]))
        used = np.isin(np.arange(len(table)), x)[:, None]
        moved[0] = np.where(used, factor * moved[0] + rows, moved[0])
        moved[1] = factor * moved[1] + flat.T @ error
        moved[2] = factor * moved[2] + error.sum(0)
        table = table if "words" in frozen else table - rate * np.where(used, moved[0], 0)
        kernel = kernel - rate * moved[1]
        bias = bias if "bias" in frozen else bias - rate * moved[2]
    return [table, kernel, bias]


def assert_weights(model, expected, tolerance=1e-4, **options):
    """The model's weights are these."""
    for actual, wanted in zip(model.get_weights(), expected):
        assert_close(actual, wanted, tolerance, **options)


def saved_and_loaded(model, folder):
    """The model out of a `.keras` file.

    TensorFlow 2.11 writes it as H5, which takes no two variables of one name, as wrappers have, and no
    LossScaleOptimizer.
    """
    import tensorflow as tf

    if tf.__version__.startswith("2.11.") and type(model.optimizer).__name__ != "Momentum":
        pytest.skip("no .keras archives in TensorFlow 2.11: H5 can't hold a wrapper of optimizers")
    path = os.path.join(str(folder), "model.keras")
    model.save(path)
    return tf.keras.models.load_model(path)
