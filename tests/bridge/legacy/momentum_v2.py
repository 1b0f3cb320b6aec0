"""Momentum as written for tf.keras of TensorFlow 2.0 to 2.10, and classes made from it."""

import tensorflow as tf


class Momentum(tf.keras.optimizers.Optimizer):
    """v = momentum * v + grad; var -= lr * v, with the legacy time decay. Sparse: the rows given only."""

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
        return var.assign_sub(self._decayed_lr(dtype) * new)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        dtype = var.dtype.base_dtype
        velocity = self.get_slot(var, "velocity")
        rows = self._get_hyper("momentum", dtype) * tf.gather(velocity, indices) + grad
        with tf.control_dependencies([velocity.scatter_update(tf.IndexedSlices(rows, indices))]):
            return self._resource_scatter_add(var, indices, -self._decayed_lr(dtype) * rows)

    def get_config(self):
        config = super(Momentum, self).get_config()
        config.update(
            learning_rate=self._serialize_hyperparameter("learning_rate"),
            momentum=self._serialize_hyperparameter("momentum"),
            decay=self._serialize_hyperparameter("decay"),
        )
        return config


class NoBias(Momentum):
    """Leaves variables called bias of the layer called head alone: a rule by the variable's name."""

    def _resource_apply_dense(self, grad, var, apply_state=None):
        if "head/bias" in var.name:
            return tf.no_op()
        return super(NoBias, self)._resource_apply_dense(grad, var, apply_state)


class Halved(Momentum):
    """A gradient hook of minimize."""

    def _compute_gradients(self, loss, var_list, grad_loss=None, tape=None):
        pairs = super(Halved, self)._compute_gradients(loss, var_list, grad_loss=grad_loss, tape=tape)
        return [(0.5 * tf.convert_to_tensor(grad), var) for grad, var in pairs]


class Noisy(Momentum):
    """Overrides a hook that no fit calls."""

    def get_gradients(self, loss, params):
        return [2.0 * grad for grad in super(Noisy, self).get_gradients(loss, params)]


class Scaled(Momentum):
    """Overrides what only minimize calls with the loss."""

    def _transform_loss(self, loss):
        return 2.0 * loss


class Forgetful(Momentum):
    """Its get_config forgets an argument, as many published ones do."""

    def __init__(self, learning_rate=0.1, momentum=0.9, skipped=None, name="Forgetful", **kwargs):
        super(Forgetful, self).__init__(learning_rate, momentum, name, **kwargs)
        self.skipped = skipped
