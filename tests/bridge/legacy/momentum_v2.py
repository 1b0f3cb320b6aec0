"""Momentum as written for tf.keras of TensorFlow 2.0 to 2.10."""

import tensorflow as tf


class Momentum(tf.keras.optimizers.Optimizer):
    """v = momentum * v + grad; var -= lr * v, with the legacy time decay."""

    def __init__(self, learning_rate=0.1, momentum=0.9, name="Momentum", **kwargs):
        super(Momentum, self).__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("momentum", momentum)
        self._set_hyper("decay", self._initial_decay)

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "velocity")

    def _resource_apply_dense(self, grad, var, apply_state=None):
        dtype = var.dtype.base_dtype
        velocity = self.get_slot(var, "velocity")
        new = velocity.assign(self._get_hyper("momentum", dtype) * velocity + grad)
        return var.assign_sub(self._decayed_lr(dtype) * new).op if not tf.executing_eagerly() else var.assign_sub(self._decayed_lr(dtype) * new)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        dtype = var.dtype.base_dtype
        velocity = self.get_slot(var, "velocity")
        rows = self._get_hyper("momentum", dtype) * tf.gather(velocity, indices) + grad
        self._resource_scatter_update(velocity, indices, rows)
        return self._resource_scatter_add(var, indices, -self._decayed_lr(dtype) * rows)

    def _resource_scatter_update(self, x, i, v):
        return x.scatter_update(tf.IndexedSlices(v, i))

    def get_config(self):
        config = super(Momentum, self).get_config()
        config.update(
            learning_rate=self._serialize_hyperparameter("learning_rate"),
            momentum=self._serialize_hyperparameter("momentum"),
            decay=self._serialize_hyperparameter("decay"),
        )
        return config
