"""What every script of this folder trains: a table, a dense layer, fixed batches, Adam with everything on.

The optimizer clips each gradient, decays weights and keeps moving averages, since those are the
things that go wrong when they happen once per replica instead of once per step.
"""

import importlib
import json

import numpy as np

import compat_opt as co
from compat_opt.rules.adam import Adam

STEPS = 6
GLOBAL_BATCH = 8
WORDS, WIDTH, OUTPUTS = 40, 4, 3


def batch(step):
    """The global batch of one step: word numbers (8, 2) and wanted outputs (8, 3)."""
    random = np.random.RandomState(step)
    words = random.randint(0, 8, size=(GLOBAL_BATCH, 2)).astype("int32")
    return words, 3 * random.normal(size=(GLOBAL_BATCH, OUTPUTS)).astype("float32")


def optimizer_class(target=None):
    """Adam, compiled for `target` or for the optimizer API that this environment's models take."""
    return co.compile_rule(Adam, target)


def optimizer(target=None, **changes):
    """The optimizer; `changes` replace some of its arguments."""
    settings = dict(learning_rate=0.05, weight_decay=0.1, clipnorm=0.3, use_ema=True, ema_momentum=0.9)
    settings.update(changes)
    return optimizer_class(target)(**settings)


def keras_of(target=None):
    """The Keras that the optimizer's models belong to."""
    package = optimizer_class(target).target.namespace.split(".")[0]
    return importlib.import_module("tensorflow").keras if package == "tf" else importlib.import_module(package)


def fixed(seed):
    """An initializer that gives every process the same first values."""

    def initialize(shape, dtype=None):
        return np.random.RandomState(seed).normal(size=tuple(shape)).astype("float32")

    return initialize


def model(target=None):
    """Two words in, three numbers out."""
    keras = keras_of(target)
    words = keras.Input((2,), dtype="int32")
    rows = keras.layers.Embedding(WORDS, WIDTH, embeddings_initializer=fixed(1))(words)
    flat = keras.layers.Reshape((2 * WIDTH,))(rows)
    return keras.Model(words, keras.layers.Dense(OUTPUTS, kernel_initializer=fixed(2))(flat))


def train_step(model, optimizer):
    """A function of a part of the global batch: its gradient step, to be run in each replica."""
    import tensorflow as tf

    def step(words, wanted):
        variables = list(model.trainable_variables)
        tensors = [getattr(v, "value", v) if not callable(getattr(v, "value", None)) else v for v in variables]
        with tf.GradientTape() as tape:
            error = model(words, training=True) - wanted
            loss = tf.reduce_sum(error * error) / GLOBAL_BATCH  # replicas' gradients are summed
        optimizer.apply_gradients(zip(tape.gradient(loss, tensors), variables))
        return loss

    return step


def components(variable):
    """The tf.Variables behind a variable: one, or one for each replica."""
    value = getattr(variable, "value", variable)
    tensor = variable if callable(value) else value  # Keras 3 keeps its tf.Variable in .value
    return list(getattr(tensor, "values", [tensor]))


def placement(optimizer, variables):
    """[(variable's name, slot, devices of the variable, devices of the slot)]."""
    found = []
    for variable in variables:
        own = [c.device for c in components(variable)]
        for name in optimizer.get_slot_names():
            slot = optimizer.get_slot(variable, name)
            found.append((variable.name, name, own, [c.device for c in components(slot)]))
    return found


def report(path, model, optimizer, **more):
    """Write weights, optimizer state and placement, for `compare.py`."""
    weights = [np.asarray(w) for w in model.get_weights()]
    state = [np.asarray(w) for w in optimizer.get_weights()]
    arrays = {"weight_%02d" % i: w for i, w in enumerate(weights)}
    arrays.update({"state_%02d" % i: w for i, w in enumerate(state)})
    facts = {"target": str(type(optimizer).target), "iterations": int(state[0])}
    facts["placement"] = placement(optimizer, model.trainable_variables)
    facts.update(more)
    np.savez(path, facts=json.dumps(facts), **arrays)
