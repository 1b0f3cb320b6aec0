"""Keras 3 on JAX: the same training on one device, data parallel, and model parallel.

    KERAS_BACKEND=jax XLA_FLAGS=--xla_force_host_platform_device_count=4 python jax_parallel.py

XLA_FLAGS makes four devices of the CPU; on a machine with several accelerators leave it out.
"""

import json

import jax
import keras
import numpy as np

import task

WIDTH = 8


def data_parallel():
    """Each device has all variables and a part of each batch."""
    return keras.distribution.DataParallel(devices=keras.distribution.list_devices())


def model_parallel():
    """Two parts of each batch by two parts of the wide kernel and of the table."""
    mesh = keras.distribution.DeviceMesh((2, 2), ["batch", "model"], keras.distribution.list_devices()[:4])
    layout_map = keras.distribution.LayoutMap(mesh)
    layout_map["wide/kernel"] = (None, "model")
    layout_map["table/embeddings"] = (None, "model")
    return keras.distribution.ModelParallel(layout_map=layout_map, batch_dim_name="batch")


def train(distribution):
    """(weights, optimizer state, sharding of each slot and of its variable) after a few steps of fit."""
    keras.distribution.set_distribution(distribution)
    words = keras.Input((2,), dtype="int32")
    rows = keras.layers.Embedding(task.WORDS, WIDTH, embeddings_initializer=task.fixed(1), name="table")(words)
    wide = keras.layers.Dense(WIDTH, kernel_initializer=task.fixed(2), name="wide")(keras.layers.Flatten()(rows))
    model = keras.Model(words, keras.layers.Dense(task.OUTPUTS, kernel_initializer=task.fixed(3), name="out")(wide))
    optimizer = task.optimizer("keras3")
    model.compile(optimizer=optimizer, loss="mse")
    batches = [task.batch(number) for number in range(task.STEPS)]
    x, y = (np.concatenate(parts) for parts in zip(*batches))
    model.fit(x, y, batch_size=task.GLOBAL_BATCH, shuffle=False, epochs=1, verbose=0)
    pairs = []
    for variable in model.trainable_variables:
        pairs.extend((variable, optimizer.get_slot(variable, name)) for name in optimizer.get_slot_names())
    keras.distribution.set_distribution(None)
    return model.get_weights(), optimizer.get_weights(), pairs


def difference(some, others):
    """The largest absolute difference."""
    pairs = ((np.asarray(a, "float64"), np.asarray(b, "float64")) for a, b in zip(some, others))
    return max(float(np.nanmax(np.abs(a - b))) if a.size else 0.0 for a, b in pairs)


def main():
    found = {"devices": len(jax.devices())}
    weights, state, _ = train(None)
    for kind in (data_parallel, model_parallel):
        own_weights, own_state, pairs = train(kind())
        alike = [slot.value.sharding.is_equivalent_to(v.value.sharding, v.value.ndim) for v, slot in pairs]
        split = [v.path for v, slot in pairs if not slot.value.sharding.is_fully_replicated]
        found[kind.__name__] = {
            "weights differ by": difference(weights, own_weights),
            "state differs by": difference(state, own_state),
            "iterations": int(own_state[0]),
            "slots laid out as their variables": "%d of %d" % (sum(alike), len(alike)),
            "variables with slots in parts": sorted(set(split)),
        }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
