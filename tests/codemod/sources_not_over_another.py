"""Optimizers over another that must not become rules over another: what is beneath would not be given what it was."""

import tensorflow as tf


class OwnSteps(tf.keras.optimizers.Optimizer):
    def __init__(self, optimizer, name="OwnSteps", **kwargs):
        super().__init__(name, **kwargs)
        self.inner = optimizer

    def _resource_apply_dense(self, grad, var):
        return self.inner._resource_apply_dense(grad, var)


class TwoInside(tf.keras.optimizers.Optimizer):
    def __init__(self, first, second, name="TwoInside", **kwargs):
        super().__init__(name, **kwargs)
        self.first, self.second = first, second

    def _resource_apply_dense(self, grad, var):
        return tf.group(self.first._resource_apply_dense(grad, var), self.second._resource_apply_dense(grad, var))


class Twice:
    def _resource_apply_dense(self, grad, var):
        super()._resource_apply_dense(grad, var)
        return super()._resource_apply_dense(grad, var)


class Sometimes:
    def __init__(self, skipped=False, **kwargs):
        super().__init__(**kwargs)
        self.skipped = skipped

    def _resource_apply_dense(self, grad, var):
        if self.skipped:
            return var.assign_sub(grad)
        return super()._resource_apply_dense(grad, var)


class OtherRate:
    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        apply_state[(var_device, var_dtype)]["lr_t"] = 0.5 * apply_state[(var_device, var_dtype)]["lr_t"]

    def _resource_apply_dense(self, grad, var, apply_state=None):
        return super()._resource_apply_dense(grad, var, apply_state)


class OtherMomentum:
    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        apply_state[(var_device, var_dtype)]["momentum"] = tf.constant(0.5)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        return super()._resource_apply_dense(grad, var, apply_state)


class SetsBeneath:
    def __init__(self, **kwargs):
        super().__init__(momentum=0.5, **kwargs)

    def _resource_apply_dense(self, grad, var):
        return super()._resource_apply_dense(-grad, var)


class OtherSlots:
    def get_slot(self, var, name):
        return super().get_slot(var, name + "_again")

    def _resource_apply_dense(self, grad, var):
        return super()._resource_apply_dense(-grad, var)


def scaled(base, scale):
    class Scaled(base):
        def _resource_apply_dense(self, grad, var):
            return super()._resource_apply_dense(scale * grad, var)

    return Scaled


def not_over(base):
    class NotOver(base):
        def _resource_apply_dense(self, grad, var):
            return var.assign_sub(grad)

    return NotOver


def other_order(base):
    class OtherOrder(base, Twice):
        def _resource_apply_dense(self, grad, var):
            return super()._resource_apply_dense(-grad, var)

    return OtherOrder
