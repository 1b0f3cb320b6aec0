"""One optimizer step on given gradients, as a function, on every backend."""

import time

import numpy as np

from workloads import gradients


def native_place(target):
    """The module that holds a target's native optimizers."""
    if target.namespace == "keras":
        import keras

        return keras.optimizers
    first = target.namespace.split(".")[0]
    if first == "tf_keras":
        import tf_keras

        place = tf_keras.optimizers
    else:
        import tensorflow as tf

        place = tf.keras.optimizers
    for part in target.namespace.replace("tf.keras", "tf_keras").split(".")[1:]:
        place = getattr(place, part)
    return place


def native_class(target, name):
    """The native optimizer class of a target, or None where it has none of that name."""
    return getattr(native_place(target), name, None)


def keras_of(target):
    """The Keras module whose models take a target's optimizers."""
    if target.namespace == "keras":
        import keras
    elif target.namespace.startswith("tf_keras"):
        import tf_keras as keras
    else:
        from tensorflow import keras
    return keras


def make_step(target, optimizer_class, hypers, shapes, mode):
    """(function that makes one step, seconds until the first step is done, graph nodes or None)."""
    make = tensorflow_step if target.backend == "tensorflow" else keras_step
    return make(optimizer_class, hypers, shapes, mode)


def tensorflow_step(optimizer_class, hypers, shapes, mode):
    """`make_step` on TensorFlow."""
    import tensorflow as tf

    variables = [tf.Variable(tf.random.normal(shape), name="v%d" % i) for i, shape in enumerate(shapes)]
    given = []
    for gradient, shape in zip(gradients(shapes, mode), shapes):
        if mode.startswith("sparse"):
            gradient = tf.IndexedSlices(
                tf.constant(gradient[1]), tf.constant(gradient[0]), tf.constant(shape)
            )
        else:
            gradient = tf.constant(gradient)
        given.append(gradient)
    optimizer = optimizer_class(**hypers)
    if hasattr(optimizer, "build"):
        optimizer.build(variables)

    def step():
        optimizer.apply_gradients(list(zip(given, variables)))

    if mode != "eager":
        step = tf.function(step)
    start = time.perf_counter()
    step()
    first = time.perf_counter() - start
    nodes = None
    if mode != "eager" and hasattr(step, "get_concrete_function"):
        nodes = len(step.get_concrete_function().graph.get_operations())
    return step, first, nodes


def keras_step(optimizer_class, hypers, shapes, mode):
    """`make_step` on JAX, where steps are jitted, and on torch."""
    import keras

    random = np.random.RandomState(0)
    variables = [keras.Variable(random.normal(size=shape).astype("float32")) for shape in shapes]
    given = [keras.ops.convert_to_tensor(g) for g in gradients(shapes, mode)]
    optimizer = optimizer_class(**hypers)
    optimizer.build(variables)
    if keras.backend.backend() == "torch":
        import torch

        def step():
            with torch.no_grad():
                optimizer.apply(given, variables)

    else:
        import jax

        apply = jax.jit(optimizer.stateless_apply, donate_argnums=(0, 2))
        state = [[v.value + 0 for v in optimizer.variables], [v.value + 0 for v in variables]]

        def step():
            values, own = apply(state[0], given, state[1])
            jax.block_until_ready(values)
            state[:] = own, values

    start = time.perf_counter()
    step()
    return step, time.perf_counter() - start, None


def fit_epoch(target, optimizer_class, hypers):
    """A function that trains a small classifier for an epoch of 128 batches with ``fit``."""
    keras = keras_of(target)
    random = np.random.RandomState(0)
    images = random.normal(size=(4096, 64)).astype("float32")
    labels = random.randint(0, 10, size=4096)
    layers = [keras.layers.Dense(64, activation="relu") for _ in range(4)] + [keras.layers.Dense(10)]
    model = keras.Sequential(layers)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=optimizer_class(**hypers), loss=loss)
    return lambda: model.fit(images, labels, batch_size=32, epochs=1, verbose=0, shuffle=False)
