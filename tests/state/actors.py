"""Optimizers of one environment that state is moved between: compiled for a target, or the target's own."""

import importlib
import warnings

import numpy as np

import compat_opt as co
from compat_opt.adapters import compile_rule

FIRST = {
    "d1/kernel": np.linspace(-1, 1, 12).reshape(4, 3).astype("float32"),
    "d1/bias": np.linspace(-0.5, 0.5, 3).astype("float32"),
    "d2/kernel": np.linspace(1, -1, 6).reshape(3, 2).astype("float32"),
}


def gradients(steps=10, seed=0):
    """Random gradients for the variables of `FIRST`, a list by step."""
    random = np.random.RandomState(seed)
    return [[random.normal(size=a.shape).astype("float32") for a in FIRST.values()] for _ in range(steps)]


class Actor:
    """One way to make an optimizer of an algorithm.

    Args:
        target: a `Target`.
        name: the algorithm: a rule's name, which is the native class's too (but for Keras 3's Lamb).
        native: whether to make the target's own class.
    """

    def __init__(self, target, name, native):
        self.target, self.name, self.native = target, name, native

    def __str__(self):
        kind = "native" if self.native else "compiled"
        return "%s-%s" % (kind, self.target.namespace)

    def native_class(self):
        """The target's own class, or None."""
        return getattr(optimizers_of(self.target), "Lamb" if self.name == "LAMB" else self.name, None)

    def make(self, **hypers):
        """The optimizer."""
        cls = self.native_class() if self.native else compile_rule(getattr(co.rules, self.name), self.target)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return cls(**hypers)

    def variables(self, values=None, names=None):
        """Trainable variables of the target's Keras."""
        values = list(FIRST.values()) if values is None else values
        return [self._variable(value, name) for value, name in zip(values, names or FIRST)]

    def _variable(self, value, name):
        if self.target.namespace != "keras":
            import tensorflow as tf

            return tf.Variable(value, name=name)
        import keras

        layer, _, own = name.rpartition("/")
        with keras.name_scope(layer) if layer else keras.name_scope("model"):
            return keras.Variable(value, name=own)

    def run(self, optimizer, variables, rows):
        """Make the steps; the variables' values after the last one."""
        for row in rows:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                optimizer.apply_gradients([(self.tensor(g), v) for g, v in zip(row, variables)])
        return self.values(variables)

    def tensor(self, array):
        """An array as a gradient."""
        if self.target.backend == "tensorflow":
            import tensorflow as tf

            return tf.constant(array)
        import keras

        return keras.ops.convert_to_tensor(array)

    def values(self, variables):
        """Arrays of the variables."""
        return [np.array(v.numpy()) for v in variables]


def optimizers_of(target):
    """The module with the target's own classes."""
    if target.namespace.startswith("tf.keras"):
        import tensorflow as tf

        found = tf.keras.optimizers
        return getattr(found, target.namespace.split(".")[2]) if target.namespace.count(".") > 1 else found
    package, _, sub = target.namespace.partition(".")
    found = importlib.import_module(package).optimizers
    return getattr(found, sub) if sub else found


def actors(name):
    """Every `Actor` of an algorithm here: compiled for each target, and native where the class exists."""
    found = []
    for target in co.targets():
        found.append(Actor(target, name, False))
        if Actor(target, name, True).native_class() is not None:
            found.append(Actor(target, name, True))
    return found
