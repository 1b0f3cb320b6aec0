"""Compiles a rule into an OptimizerV2 class."""

import tensorflow as tf

from compat_opt.adapters import registration, tensorflow_engine
from compat_opt.adapters.optimizer import CompiledOptimizer
from compat_opt.adapters.optimizer_v2 import quirks
from compat_opt.adapters.optimizer_v2.layout import Layout


def native_base(target):
    """The native base class in the target's namespace."""
    if target.namespace == "tf.keras":
        return tf.keras.optimizers.Optimizer
    if target.namespace == "tf.keras.legacy":
        return tf.keras.optimizers.legacy.Optimizer
    import tf_keras

    return tf_keras.optimizers.legacy.Optimizer


def is_generation(base):
    """Whether a class has this generation's hooks."""
    return hasattr(base, "_resource_apply_dense")


def adapter_for(target):
    """The adapter class; the same for every namespace of this generation."""
    return Adapter


class Adapter(CompiledOptimizer):
    """The glue between CompiledOptimizer and OptimizerV2."""

    layout_class = Layout
    engine = tensorflow_engine
    _HAS_AGGREGATE_GRAD = True

    def _start_native(self, name):
        super(CompiledOptimizer, self).__init__(name)
        # The LossScaleOptimizer of this generation finds hyperparameters by the keys of `_hyper`.
        hypers = self.rule_class.hypers()
        self._hyper = {name: None for name, hyper in hypers.items() if not hyper.static}

    def _track_native(self, node):
        self._track_trackable(node, name="compat_opt_state")

    def _native_built(self):
        self._hypers_created = True

    def _hidden_options(self):
        return quirks.missing_when_none(native_base(self.target))

    def _returned(self, made):
        # In every graph an op, as OptimizerV2 does: LossScaleOptimizer has it in a tf.cond beside an op.
        if tf.executing_eagerly():
            return self.iterations
        return tf.group(*[] if made is None else [made])

    apply_gradients = tensorflow_engine.do_not_convert(CompiledOptimizer.apply_gradients)

    def _get_hyper(self, name, dtype=None):
        value = self._core.hypers.get(name, self._core.iterations)
        return value if dtype is None else tf.cast(value, dtype)

    def _set_hyper(self, name, value):
        self._core.set_hyper(name, value)

    def _create_hypers(self):
        pass

    def _create_slots(self, var_list):
        self.build(var_list)

    def _create_all_weights(self, var_list):
        self.build(var_list)

    def _clip_gradients(self, grads):
        # Clipping is done after aggregation, in the step. Only fit() of TensorFlow 2.2 and 2.3 comes
        # here: it does not let the optimizer scale the loss, and apply_gradients will divide.
        return [self._scaled(gradient) for gradient in grads]

    def _scaled(self, gradient):
        factor = self.loss_scale_factor
        if gradient is None or not factor:
            return gradient
        if isinstance(gradient, tf.IndexedSlices):
            return tf.IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
        return gradient * factor

    def _compute_gradients(self, loss, var_list, grad_loss=None, tape=None):
        return self.compute_gradients(loss, var_list, tape, grad_loss)

    def get_gradients(self, loss, params):
        """Gradients of a symbolic loss, as tf.keras asks for in graphs."""
        return [self._scaled(g) for g in tf.gradients(loss, [self._core.layout.raw(p) for p in params])]

    def get_updates(self, loss, params):
        """The ops of one step, as tf.keras asks for in graphs."""
        return [self._step(zip(self.get_gradients(loss, params), params))]

    @property
    def _create_or_restore_slot_variable(self):
        raise AttributeError(quirks.SLOTS_OF_CHECKPOINTS.workaround)


def register(cls, name):
    """Register a compiled class with the Keras of its target."""
    if cls.target.namespace.startswith("tf_keras"):
        import tf_keras

        registration.register(tf_keras, cls, name)
    else:
        registration.register(tf.keras, cls, name)
