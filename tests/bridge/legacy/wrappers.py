"""Optimizers around other optimizers."""

import tensorflow as tf
from keras.optimizers.legacy import Optimizer
from tensorflow import keras


class Lookahead(Optimizer):
    """After every `period` steps of the inner optimizer, slow += ratio * (var - slow); var = slow."""

    def __init__(self, optimizer, period=2, ratio=0.5, name="Lookahead", **kwargs):
        super().__init__(name, **kwargs)
        self._optimizer = keras.optimizers.get(optimizer)
        self.period = period
        self.ratio = ratio

    def apply_gradients(self, grads_and_vars, name=None, **kwargs):
        self._optimizer._iterations = self.iterations
        return super().apply_gradients(grads_and_vars, name, **kwargs)

    def _create_slots(self, var_list):
        self._optimizer._create_slots(var_list)
        for var in var_list:
            self.add_slot(var, "slow", initializer=var)

    def _create_hypers(self):
        self._optimizer._create_hypers()

    def _prepare(self, var_list):
        return self._optimizer._prepare(var_list=var_list)

    def _sync(self, var):
        slow = self.get_slot(var, "slow")
        due = tf.equal((self.iterations + 1) % self.period, 0)
        new = tf.where(due, slow + self.ratio * (var - slow), slow)
        with tf.control_dependencies([new]):
            return tf.group(var.assign(tf.where(due, new, var)), slow.assign(new))

    def _resource_apply_dense(self, grad, var):
        with tf.control_dependencies([self._optimizer._resource_apply_dense(grad, var)]):
            return self._sync(var)

    def _resource_apply_sparse(self, grad, var, indices):
        with tf.control_dependencies([self._optimizer._resource_apply_sparse(grad, var, indices)]):
            return self._sync(var)

    @property
    def learning_rate(self):
        return self._optimizer._get_hyper("learning_rate")

    @learning_rate.setter
    def learning_rate(self, value):
        self._optimizer._set_hyper("learning_rate", value)

    lr = learning_rate

    def get_config(self):
        inner = keras.optimizers.serialize(self._optimizer)
        return dict(super().get_config(), optimizer=inner, period=self.period, ratio=self.ratio)

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config["optimizer"] = keras.optimizers.deserialize(config["optimizer"], custom_objects=custom_objects)
        return cls(**config)


class Accumulated(Optimizer):
    """Keeps the sum of gradients, and has the inner optimizer apply it at every second call."""

    def __init__(self, optimizer, name="Accumulated", **kwargs):
        super().__init__(name, **kwargs)
        self.inner = keras.optimizers.get(optimizer)
        self.sums = []

    def apply_gradients(self, grads_and_vars, name=None, **kwargs):
        pairs = [(tf.convert_to_tensor(grad), var) for grad, var in grads_and_vars]
        if not self.sums:
            with tf.init_scope():
                self.sums.extend(tf.Variable(tf.zeros(var.shape), trainable=False) for _, var in pairs)
        for (grad, _), total in zip(pairs, self.sums):
            total.assign_add(grad)
        due = tf.equal(self.iterations % 2, 1)
        with tf.init_scope():
            self.inner._create_all_weights([var for _, var in pairs])

        def step():
            for (_, var), total in zip(pairs, self.sums):
                self.inner._resource_apply_dense(total, var, self.inner._prepare([v for _, v in pairs]))
                total.assign(tf.zeros_like(total))
            return 1

        tf.cond(due, step, lambda: 0)
        return self.iterations.assign_add(1)

    def get_config(self):
        return dict(super().get_config(), optimizer=keras.optimizers.serialize(self.inner))


class PerLayer(Optimizer):
    """One optimizer for the variables of each layer, which it knows by their names."""

    def __init__(self, pairs=None, specs=None, name="PerLayer", **kwargs):
        super().__init__(name, **kwargs)
        if specs is None:
            specs = [{"optimizer": inner, "names": [w.name for w in layer.weights]} for inner, layer in pairs]
        for spec in specs:
            if isinstance(spec["optimizer"], dict):
                spec["optimizer"] = keras.optimizers.deserialize(spec["optimizer"])
        self.specs = specs

    def apply_gradients(self, grads_and_vars, **kwargs):
        pairs = list(grads_and_vars)
        for spec in self.specs:
            spec["optimizer"].apply_gradients([(g, v) for g, v in pairs if v.name in spec["names"]], **kwargs)
        return self.iterations.assign_add(1)

    def get_config(self):
        return dict(super().get_config(), specs=self.specs)


class ByFunction(Optimizer):
    """One optimizer for the variables that each function gives."""

    def __init__(self, pairs, name="ByFunction", **kwargs):
        super().__init__(name, **kwargs)
        self.pairs = pairs

    def apply_gradients(self, grads_and_vars, **kwargs):
        gradients = {v.ref(): g for g, v in grads_and_vars}
        for inner, variables in self.pairs:
            inner.apply_gradients([(gradients[v.ref()], v) for v in variables()], **kwargs)
        return self.iterations.assign_add(1)
