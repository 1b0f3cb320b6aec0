"""Optimizers that change the update of another: a mixin, wrappers, classes over a base that is an argument."""

import tensorflow as tf


class Shrinking:
    """Takes a part of the weights away first."""

    def __init__(self, part=0.01, **kwargs):
        super().__init__(**kwargs)
        self._set_hyper("part", part)

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        apply_state[(var_device, var_dtype)]["part_t"] = tf.identity(self._get_hyper("part", var_dtype))

    def _shrink(self, var, apply_state):
        place = (var.device, var.dtype.base_dtype)
        state = (apply_state or {}).get(place) or self._fallback_apply_state(*place)
        return var.assign_sub(state["part_t"] * var, self._use_locking)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        with tf.control_dependencies([self._shrink(var, apply_state)]):
            return super()._resource_apply_dense(grad, var, apply_state=apply_state)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        with tf.control_dependencies([self._shrink(var, apply_state)]):
            return super()._resource_apply_sparse(grad, var, indices, apply_state=apply_state)


class Anchored(tf.keras.optimizers.Optimizer):
    """Returns to an anchor every few steps."""

    def __init__(self, optimizer, period=2, pull=0.5, name="Anchored", **kwargs):
        super().__init__(name, **kwargs)
        if isinstance(optimizer, str):
            optimizer = tf.keras.optimizers.get(optimizer)
        if not isinstance(optimizer, tf.keras.optimizers.Optimizer):
            raise TypeError("an optimizer is needed")
        self._inner = optimizer
        self._set_hyper("period", period)
        self._set_hyper("pull", pull)
        self._track_trackable(self._inner, "inner")

    def _create_slots(self, var_list):
        self._inner._create_slots(var_list=var_list)
        for var in var_list:
            self.add_slot(var, "anchor", initializer=var)

    def _create_hypers(self):
        self._inner._create_hypers()

    def _prepare(self, var_list):
        return self._inner._prepare(var_list=var_list)

    def apply_gradients(self, grads_and_vars, name=None, **kwargs):
        self._inner._iterations = self.iterations
        return super().apply_gradients(grads_and_vars, name, **kwargs)

    def _resource_apply_dense(self, grad, var):
        inner = self._inner._resource_apply_dense(grad, var)
        with tf.control_dependencies([inner]):
            anchor = self.get_slot(var, "anchor")
            step = tf.cast(self.iterations + 1, tf.int64)
            period = self._get_hyper("period", tf.int64)
            # the anchor follows at a distance
            due = tf.equal(tf.math.floormod(step, period), 0)
            moved = anchor + self._get_hyper("pull", var.dtype) * (var - anchor)
            kept = anchor.assign(tf.where(due, moved, anchor))
            return tf.group(inner, kept, var.assign(tf.where(due, moved, var)))

    @property
    def learning_rate(self):
        return self._inner._get_hyper("learning_rate")


def doubled(base):
    """A class whose gradients count twice, and whose variables are pulled to 0 by the learning rate afterwards."""

    class Doubled(base):
        # what is beneath sees twice the gradient
        def __init__(self, rate=0.1, **kwargs):
            super(Doubled, self).__init__(**kwargs)
            self.rate = rate

        def _resource_apply_dense(self, grad, var):
            op = super(Doubled, self)._resource_apply_dense(2.0 * grad, var)
            with tf.control_dependencies([op]):
                return var.assign_sub(self._decayed_lr(var.dtype) * self.rate * var)

    return Doubled


def clipped(base_class):
    """A Keras 2 class that clips each element."""

    class Clipped(Shrinking, base_class):
        def __init__(self, part=0.25, limit=0.5, **kwargs):
            super().__init__(part, **kwargs)
            self.limit = limit

        def _resource_apply_dense(self, grad, var, apply_state=None):
            limit = self.limit
            return super()._resource_apply_dense(tf.clip_by_value(grad, -limit, limit), var, apply_state)

    return Clipped


def signed(base_class):
    class Signed(base_class):
        def update_step(self, gradient, variable):
            super().update_step(tf.sign(gradient), variable)

    return Signed


def make(inner):
    if inner:
        return Anchored(inner, period=3)
    return None
