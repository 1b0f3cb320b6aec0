"""Keras 3's variables on the tensorflow backend: keras.Variables around tf.Variables."""

import keras
import tensorflow as tf

from compat_opt.adapters.keras3.layout import VARIABLE_CLASS, KerasVariables
from compat_opt.adapters.tensorflow_distribution import in_strategy_of
from compat_opt.adapters.tensorflow_layout import TensorFlowLayout, exact

#: What the adapter has to inherit so that tf.train.Checkpoint takes it, see quirks.NOT_TRACKABLE.
TRACKABLE_BASES = (
    () if hasattr(keras.optimizers.Optimizer, "_track_trackable") else (tf.__internal__.tracking.Trackable,)
)


class Layout(KerasVariables, TensorFlowLayout):
    """Steps run on the raw tf.Variables; state is kept in keras.Variables."""

    backend = "tensorflow"

    def __init__(self, optimizer):
        TensorFlowLayout.__init__(self, optimizer)

    def _filled(self, shape, value, dtype):
        return tf.fill(shape, exact(value, dtype))

    def _placed(self, variable, make):
        raw = self.raw(variable)
        with tf.init_scope(), in_strategy_of(raw):
            with tf.distribute.get_strategy().extended.colocate_vars_with(raw):
                return make()

    def scalar(self, name, first, dtype):
        """A scalar variable of the optimizer."""
        with tf.init_scope():
            variable = KerasVariables.scalar(self, name, first, dtype)
        setattr(self.node, name, variable)
        return variable

    def slot(self, plan, variable, index):
        """A slot of a model variable, placed beside it."""
        return KerasVariables.slot(self, self._settled(plan, variable, index), variable, index)

    def _first_value(self, variable):
        return TensorFlowLayout._first_value(self, self.raw(variable))

    def raw(self, variable):
        """The tf.Variable."""
        return variable.value if isinstance(variable, VARIABLE_CLASS) else variable

    def key(self, variable):
        """What identifies a model variable, also seen from inside a replica."""
        return TensorFlowLayout.key(self, self.raw(variable))

    def to_numpy(self, variable):
        """The value as a NumPy array."""
        return TensorFlowLayout.to_numpy(self, variable)
