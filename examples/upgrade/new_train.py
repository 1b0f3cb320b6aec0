"""The project on the TensorFlow of today: the migrated rule, the old weights and the old optimizer state.

    compat-opt migrate old_optimizer.py > new_optimizer.py
    python new_train.py FOLDER
"""

import sys

import keras
import numpy as np

from compat_opt import compile_rule, state
from data import batches
from new_optimizer import PartialAdam


def build():
    """The model, with its old layer names."""
    return keras.Sequential(
        [
            keras.layers.Input((64,)),
            keras.layers.Dense(64, activation="relu", name="hidden"),
            keras.layers.Dense(10, name="scores"),
        ]
    )


if __name__ == "__main__":
    folder = sys.argv[1]
    model = build()
    model.load_weights(folder + "/weights.h5")
    schedule = keras.optimizers.schedules.ExponentialDecay(0.02, 28, 0.9)
    optimizer = compile_rule(PartialAdam)(learning_rate=schedule)
    state.register_names("PartialAdam", PartialAdam, {"m": "m", "v": "v"})
    record = state.read_file(folder + "/checkpoint-1", class_name="PartialAdam")
    print(state.write(optimizer, record, model.trainable_variables))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=optimizer, loss=loss)
    for epoch in range(3, 6):
        losses = []
        for images, labels in batches(epoch):
            model.reset_metrics()  # Keras 3 gives the mean over the batches since then
            losses.append(float(model.train_on_batch(images, labels)))
        print("epoch %d  loss %.6f" % (epoch, float(np.mean(losses))))
