"""Layer-wise learning rates for fine-tuning a transformer: the nearer to the input, the smaller.

    python examples/layerwise_decay.py

Each block's rate is `decay` times that of the block above it, as for ELECTRA and BEiT; biases and layer
normalization get no weight decay. Runs on every TensorFlow 2.x; on Keras 3 also with JAX and torch.
"""

import numpy as np

import compat_opt as co
from compat_opt.optimizers import AdamW
from compat_opt.testing.digits import keras_of


def layerwise_groups(stages, decay=0.75):
    """A group for each stage but the last, which keeps the optimizer's own rate.

    Args:
        stages: patterns of variable names, from the input to the output.
        decay: a stage's rate divided by that of the next one.
    """
    top = len(stages) - 1
    return [
        co.Group(pattern, learning_rate_multiplier=decay ** (top - depth))
        for depth, pattern in enumerate(stages[:-1])
    ]


def transformer(keras, blocks=3, tokens=8, width=16, vocabulary=40):
    """A small encoder with one attention head; layers are named block_<number>_<part>."""
    layers = keras.layers
    given = keras.Input((tokens,), dtype="int32")
    hidden = layers.Embedding(vocabulary, width, name="embedding")(given)
    for block in range(blocks):
        part = "block_%d_" % block
        query, key, value = (layers.Dense(width, name=part + name)(hidden) for name in ("query", "key", "value"))
        attended = layers.Attention(name=part + "attention")([query, value, key])
        hidden = layers.LayerNormalization(name=part + "norm")(layers.Add()([hidden, attended]))
        wide = layers.Dense(2 * width, activation="relu", name=part + "wide")(hidden)
        hidden = layers.Add()([hidden, layers.Dense(width, name=part + "narrow")(wide)])
    pooled = layers.GlobalAveragePooling1D()(hidden)
    return keras.Model(given, layers.Dense(1, activation="sigmoid", name="head")(pooled))


def main():
    """Fine-tune on: does the sequence hold token 7? Print each group's rate and the accuracy."""
    keras = keras_of(co.default_target())
    model = transformer(keras)
    stages = ["embedding", "block_0_", "block_1_", "block_2_", "head"]
    optimizer = AdamW(5e-3, weight_decay=0.01, groups=layerwise_groups(stages))
    optimizer.exclude_from_weight_decay(var_names=["bias", "gamma", "beta"])
    model.compile(optimizer=optimizer, loss="binary_crossentropy", metrics=["accuracy"])
    random = np.random.RandomState(0)
    x = random.randint(0, 40, size=(2048, 8)).astype("int32")
    x[::2, 3] = 7
    y = (x == 7).any(axis=1).astype("float32")
    model.fit(x, y, batch_size=64, epochs=2, shuffle=False, verbose=0)
    for config in optimizer.get_config()["groups"]:
        rate, name = 5e-3 * config["hypers"]["learning_rate_multiplier"], config["name"]
        print("%-10s %2d variables, learning rate %.6f" % (name, len(optimizer.groups[name].variables), rate))
    print("accuracy %.2f" % model.evaluate(x, y, batch_size=256, verbose=0)[1])


if __name__ == "__main__":
    main()
