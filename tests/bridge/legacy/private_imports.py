"""Imports of private modules that TensorFlow 2.16 and later no longer answer, and a subclass of Adam."""

import re

import tensorflow.compat.v2 as tf
from tensorflow.keras import backend as K
from tensorflow.python.framework import ops
from tensorflow.python.keras import backend_config
from tensorflow.python.keras.optimizer_v2 import adam
from tensorflow.python.keras.optimizer_v2 import optimizer_v2
from tensorflow.python.ops import math_ops, state_ops
from tensorflow.python.training import gen_training_ops, training_ops

GENERATED = gen_training_ops.resource_apply_keras_momentum  # the kernel below, by its generated name


class Accelerated(optimizer_v2.OptimizerV2):
    """TensorFlow's fused momentum kernel, with _prepare_local."""

    def __init__(self, learning_rate=0.1, momentum=0.9, epsilon=None, name="Accelerated", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("momentum", momentum)
        self.epsilon = epsilon or backend_config.epsilon()

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "momentum")

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        apply_state[var_device, var_dtype]["momentum"] = tf.identity(self._get_hyper("momentum", var_dtype))

    def _resource_apply_dense(self, grad, var, apply_state=None):
        local = apply_state[var.device, var.dtype.base_dtype]
        return training_ops.ResourceApplyKerasMomentum(
            var=var.handle, accum=self.get_slot(var, "momentum").handle, lr=local["lr_t"], grad=grad,
            momentum=local["momentum"], use_locking=self._use_locking, use_nesterov=False,
        )  # fmt: skip

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        dense = math_ops.unsorted_segment_sum(grad, indices, var.shape[0])
        return self._resource_apply_dense(ops.convert_to_tensor(dense), var, apply_state)

    def get_config(self):
        config = super().get_config()
        for name in ("learning_rate", "decay", "momentum"):
            config[name] = self._serialize_hyperparameter(name)
        return config


class DecayedAdam(adam.Adam):
    """Adam with decoupled weight decay outside of biases, and clipping by the global norm in apply_gradients."""

    def __init__(self, learning_rate=0.001, rate=0.0, norm=1.0, name="DecayedAdam", **kwargs):
        super().__init__(learning_rate, name=name, **kwargs)
        self.rate = rate
        self.norm = norm

    def apply_gradients(self, grads_and_vars, name=None, **kwargs):
        grads, variables = zip(*grads_and_vars)
        grads, _ = tf.clip_by_global_norm(grads, clip_norm=self.norm)
        return super().apply_gradients(zip(grads, variables), name=name, **kwargs)

    def _decay(self, var):
        if re.search("bias", var.name):
            return tf.no_op()
        lr = self._decayed_lr(var.dtype.base_dtype)
        return state_ops.assign_sub(var, lr * K.cast(self.rate, var.dtype.base_dtype) * var)

    def _resource_apply_dense(self, grad, var, **kwargs):
        with tf.control_dependencies([self._decay(var)]):
            return super()._resource_apply_dense(grad, var, **kwargs)

    def _resource_apply_sparse(self, grad, var, indices, **kwargs):
        with tf.control_dependencies([self._decay(var)]):
            return super()._resource_apply_sparse(grad, var, indices, **kwargs)

    def get_config(self):
        return dict(super().get_config(), rate=self.rate, norm=self.norm)
