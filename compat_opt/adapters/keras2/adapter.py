"""Compiles a rule into a class of the Keras 2 optimizer API."""

import inspect

import tensorflow as tf

from compat_opt.adapters import registration, tensorflow_engine
from compat_opt.adapters.keras2.layout import Layout
from compat_opt.adapters.optimizer import CompiledOptimizer


def native_base(target):
    """The native base class in the target's namespace."""
    if target.namespace == "tf.keras":
        return tf.keras.optimizers.Optimizer
    if target.namespace == "tf.keras.experimental":
        return tf.keras.optimizers.experimental.Optimizer
    import tf_keras

    return tf_keras.optimizers.Optimizer


def is_generation(base):
    """Whether a class has this generation's hooks."""
    if not hasattr(base, "update_step"):
        return False
    return "learning_rate" not in inspect.signature(base.update_step).parameters


def adapter_for(target):
    """The adapter class; the same for every namespace of this generation."""
    return Adapter


class Adapter(CompiledOptimizer):
    """The glue between CompiledOptimizer and the Keras 2 Optimizer."""

    layout_class = Layout
    engine = tensorflow_engine

    def _start_native(self, name):
        # jit_compile=False: the native default compiles each variable's update on GPUs.
        super(CompiledOptimizer, self).__init__(name=name, jit_compile=False)

    def _track_native(self, node):
        self.compat_opt_state = node
        self._iterations = self._core.iterations

    def _native_built(self):
        self._built = True

    apply_gradients = tensorflow_engine.do_not_convert(CompiledOptimizer.apply_gradients)

    def _create_iteration_variable(self):
        """The counter belongs to the compiled optimizer's own state."""


def register(cls, name):
    """Register a compiled class with the Keras of its target."""
    if cls.target.namespace.startswith("tf_keras"):
        import tf_keras

        registration.register(tf_keras, cls, name)
    else:
        registration.register(tf.keras, cls, name)
