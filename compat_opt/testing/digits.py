"""The digits workload: a small classifier on the 1797 images of 8 x 8 pixels that scikit-learn ships."""

import collections

#: accuracy and loss on the held-out fifth; loss_before: there, before the first step.
DigitsResult = collections.namedtuple("DigitsResult", "accuracy loss loss_before epochs")

#: What to do where the images are missing.
REMEDY = "pip install scikit-learn"

EPOCHS = 8
BATCH = 32


def digits():
    """``(train_x, train_y, test_x, test_y)`` as NumPy arrays, shuffled once with a fixed seed.

    Raises:
        ImportError: scikit-learn is not installed.
    """
    import numpy as np
    from sklearn import datasets

    images, labels = datasets.load_digits(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(images))
    images, labels = (images[order] / 16.0).astype("float32"), labels[order].astype("int32")
    held_out = len(images) // 5
    return images[held_out:], labels[held_out:], images[:held_out], labels[:held_out]


def keras_of(target):
    """The Keras module whose models take the target's optimizers."""
    if target.namespace == "keras":
        import keras

        return keras
    if target.namespace.startswith("tf_keras"):
        import tf_keras

        return tf_keras
    import tensorflow as tf

    return tf.keras


def make_model(keras):
    """A net of 64 inputs, 32 hidden units and 10 classes, with the same first weights everywhere."""
    import numpy as np

    inputs = keras.Input(shape=(64,))
    hidden = keras.layers.Dense(32, activation="relu")(inputs)
    model = keras.Model(inputs, keras.layers.Dense(10, activation="softmax")(hidden))
    random = np.random.RandomState(0)
    weights = []
    for rows, columns in ((64, 32), (32, 10)):
        limit = np.sqrt(6.0 / (rows + columns))
        weights += [random.uniform(-limit, limit, (rows, columns)).astype("float32"), np.zeros(columns, "float32")]
    model.set_weights(weights)
    return model


def train_digits(optimizer, target, epochs=EPOCHS):
    """Train the classifier with ``model.fit`` and evaluate it on images that it has not seen.

    Args:
        optimizer: an optimizer of `target`.
        target: a `Target`.
        epochs: passes over the 1438 training images, in batches of 32, always in the same order.

    Returns:
        A `DigitsResult`.

    Raises:
        ImportError: scikit-learn is not installed.
    """
    train_x, train_y, test_x, test_y = digits()
    model = make_model(keras_of(target))
    model.compile(optimizer=optimizer, loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    before, _ = model.evaluate(test_x, test_y, batch_size=len(test_x), verbose=0)
    model.fit(train_x, train_y, batch_size=BATCH, epochs=epochs, shuffle=False, verbose=0)
    loss, accuracy = model.evaluate(test_x, test_y, batch_size=len(test_x), verbose=0)
    return DigitsResult(float(accuracy), float(loss), float(before), epochs)
