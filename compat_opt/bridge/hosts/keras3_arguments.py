"""Layers, variables and functions of Keras 3 among the arguments of a legacy constructor, as it can use them.

A wrapper with one optimizer per layer compares the variables that gradients come with, which are tf.Variables, to those
of the layers it was given.
"""

import functools
import types

import keras

from compat_opt.adapters.keras3.layout import VARIABLE_CLASS
from compat_opt.bridge.frameworks import keras_of, target_with


def layers_in(values):
    """The layers and models of Keras 3 among values, also in lists and tuples."""
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from layers_in(value)
        elif isinstance(value, keras.layers.Layer):
            yield value


class LegacyLayer:
    """A layer or model of Keras 3 whose variables are the tf.Variables inside of them, which is what gradients are of."""

    def __init__(self, layer):
        self._layer = layer

    @property
    def __class__(self):
        """Legacy code may ask whether it is a layer, and means one of its own Keras."""
        return keras_of(target_with("optimizer_v2").namespace).layers.Layer

    def __getattr__(self, name):
        return with_raw_variables(getattr(self._layer, name))


def with_raw_variables(value):
    """A constructor argument whose layers, variables and functions of Keras 3 give tf.Variables."""
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(with_raw_variables(item) for item in value)
    if isinstance(value, keras.layers.Layer):
        return LegacyLayer(value)
    if isinstance(value, types.FunctionType):
        return functools.wraps(value)(lambda *args, **kwargs: with_raw_variables(value(*args, **kwargs)))
    return value.value if isinstance(value, VARIABLE_CLASS) else value
