"""Optimizers that have no equal as a rule, or that the migrator must not pretend to understand."""

import tensorflow as tf
from keras import backend as K
from keras.optimizers import Optimizer

from somewhere import magic


class KeepsPythonState(tf.keras.optimizers.Optimizer):
    def _resource_apply_dense(self, grad, var):
        self.calls = self.calls + 1
        return var.assign_sub(grad)


def extend(base):
    class Wrapped(base, tf.keras.optimizers.Optimizer):
        def _resource_apply_dense(self, grad, var):
            return var.assign_sub(grad)

    return Wrapped


class ChangesGradients(tf.keras.optimizers.Optimizer):
    def apply_gradients(self, grads_and_vars, name=None):
        return super().apply_gradients([(tf.sign(g), v) for g, v in grads_and_vars])

    def _resource_apply_dense(self, grad, var):
        return var.assign_sub(grad)


class CallsUnknown(tf.keras.optimizers.Optimizer):
    def _resource_apply_dense(self, grad, var):
        return var.assign_sub(magic(grad))


class UsesRandom(tf.keras.optimizers.Optimizer):
    def _resource_apply_dense(self, grad, var):
        return var.assign_sub(grad + tf.random.normal(var.shape))


class ReadsAfterUpdate(Optimizer):
    def get_updates(self, loss, params):
        grads = self.get_gradients(loss, params)
        ms = [K.zeros(K.int_shape(p)) for p in params]
        for p, g, m in zip(params, grads, ms):
            self.updates.append(K.update(m, 0.9 * m + g))
            self.updates.append(K.update(p, p - 0.1 * m))
        return self.updates


class OtherShape(tf.keras.optimizers.Optimizer):
    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "rows", shape=[var.shape[0]])

    def _resource_apply_dense(self, grad, var):
        rows = self.get_slot(var, "rows")
        return var.assign_sub(grad * rows.assign(rows + 1))


class LooksAtNames(tf.keras.optimizers.Optimizer):
    def _resource_apply_dense(self, grad, var):
        if "bias" in var.name:
            return var.assign_sub(2 * grad)
        return var.assign_sub(grad)


class DoesNothing(tf.keras.optimizers.Optimizer):
    def _resource_apply_dense(self, grad, var):
        return tf.no_op()


class Loops(tf.keras.optimizers.Optimizer):
    def _resource_apply_dense(self, grad, var):
        for _ in range(3):
            grad = grad / 2
        return var.assign_sub(grad)


class WithoutUpdate(tf.keras.optimizers.Optimizer):
    def get_config(self):
        return {}


class Delegates(tf.keras.optimizers.Optimizer):
    def __init__(self, optimizer, name="D", **kwargs):
        super().__init__(name, **kwargs)
        self._optimizer = tf.keras.optimizers.get(optimizer)

    def _resource_apply_dense(self, grad, var):
        return self._optimizer._resource_apply_dense(grad, var)


class CountsInPython(tf.keras.optimizers.Optimizer):
    def __init__(self, name="CountsInPython", **kwargs):
        super().__init__(name, **kwargs)
        self.calls = 0

    def _resource_apply_dense(self, grad, var):
        self.calls = self.calls + 1
        return var.assign_sub(grad)


class AddsInPython(CountsInPython):
    def _resource_apply_dense(self, grad, var):
        self.calls += 1
        return var.assign_sub(grad / self.calls)


class SettledAndRead(tf.keras.optimizers.Optimizer):
    def __init__(self, total=0, warm=False, names=None, name="SettledAndRead", **kwargs):
        super().__init__(name, **kwargs)
        self.total = total
        self.warm = warm
        if names or total > 1:
            self.warm = False

    def _resource_apply_dense(self, grad, var):
        if self.warm:
            grad = 2.0 * grad
        return var.assign_sub(grad / (1.0 + self.total))


class MovesItsStart(tf.keras.optimizers.Optimizer):
    def __init__(self, start=1.0, name="MovesItsStart", **kwargs):
        super().__init__(name, **kwargs)
        self.start = tf.Variable(start)

    def _resource_apply_dense(self, grad, var):
        tf.compat.v1.assign_add(self.start, 1.0)
        return var.assign_sub(grad / self.start)


class Divides(tf.keras.optimizers.Optimizer):
    def __init__(self, optimizers, name="Divides", **kwargs):
        super().__init__(name, **kwargs)
        self.optimizers = optimizers

    def apply_gradients(self, grads_and_vars, name=None, **kwargs):
        pairs = list(grads_and_vars)
        return tf.group([optimizer.apply_gradients(pairs) for optimizer in self.optimizers])


class CollectsNames(tf.keras.optimizers.Optimizer):
    def __init__(self, name="CollectsNames", **kwargs):
        super().__init__(name, **kwargs)
        self.names = []

    def _create_slots(self, var_list):
        for var in var_list:
            self.names.append(var.name)

    def _resource_apply_dense(self, grad, var):
        if var.name in self.names:
            return var.assign_sub(2 * grad)
        return var.assign_sub(grad)
