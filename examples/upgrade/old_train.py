"""The project as it was: TensorFlow 2.4, a class of its own, a checkpoint of model and optimizer.

    python old_train.py FOLDER
"""

import sys

import numpy as np
import tensorflow as tf

from data import batches
from old_optimizer import PartialAdam


def build(keras):
    """The model, with first weights that are the same on every version."""
    model = keras.Sequential(
        [
            keras.layers.Dense(64, activation="relu", input_shape=(64,), name="hidden"),
            keras.layers.Dense(10, name="scores"),
        ]
    )
    random = np.random.RandomState(0)
    model.set_weights([random.normal(scale=0.1, size=w.shape) for w in model.get_weights()])
    return model


def epoch_loss(model, epoch):
    """Train an epoch; the mean loss of its batches."""
    return float(np.mean([float(model.train_on_batch(x, y)) for x, y in batches(epoch)]))


if __name__ == "__main__":
    folder = sys.argv[1]
    schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.02, 28, 0.9)
    model = build(tf.keras)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=PartialAdam(schedule), loss=loss)
    for epoch in range(6):
        print("epoch %d  loss %.6f" % (epoch, epoch_loss(model, epoch)))
        if epoch == 2:
            tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(folder + "/checkpoint")
            model.save_weights(folder + "/weights.h5")
