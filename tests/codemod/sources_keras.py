"""Optimizers in the style of Keras 2.11 and of Keras 3, for the migrator's tests; nothing imports this file."""

import keras
import tensorflow as tf
from keras import ops


class ListMomentum(tf.keras.optimizers.Optimizer):
    """Keras 2: lists of slots, a branch for sparse gradients."""

    def __init__(self, learning_rate=0.01, momentum=0.9, name="ListMomentum", **kwargs):
        super().__init__(name=name, **kwargs)
        self._learning_rate = self._build_learning_rate(learning_rate)
        self.momentum = momentum

    def build(self, var_list):
        super().build(var_list)
        if hasattr(self, "_built") and self._built:
            return
        self.momentums = []
        for var in var_list:
            self.momentums.append(self.add_variable_from_reference(model_variable=var, variable_name="m"))
        self._built = True

    def update_step(self, gradient, variable):
        lr = tf.cast(self.learning_rate, variable.dtype)
        m = self.momentums[self._index_dict[self._var_key(variable)]]
        if isinstance(gradient, tf.IndexedSlices):
            m.assign(m * self.momentum)
            m.scatter_add(tf.IndexedSlices(-lr * gradient.values, gradient.indices))
            variable.assign_add(m)
        else:
            m.assign(m * self.momentum - lr * gradient)
            variable.assign_add(m)


class ThreeAdam(keras.optimizers.Optimizer):
    """Keras 3: self.assign, keras.ops, the base's weight decay."""

    def __init__(self, learning_rate=0.001, beta=0.9, rho=0.99, epsilon=1e-7, weight_decay=None, name="t", **kwargs):
        super().__init__(learning_rate=learning_rate, weight_decay=weight_decay, name=name, **kwargs)
        self.beta = beta
        self.rho = rho
        self.epsilon = epsilon

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self._m, self._v = self.add_optimizer_variables(variables, ["m", "v"])

    def update_step(self, gradient, variable, learning_rate):
        lr = ops.cast(learning_rate, variable.dtype)
        gradient = ops.cast(gradient, variable.dtype)
        step = ops.cast(self.iterations + 1, variable.dtype)
        m = self._m[self._get_variable_index(variable)]
        v = self._v[self._get_variable_index(variable)]
        self.assign(m, self.beta * m + (1 - self.beta) * gradient)
        self.assign(v, self.rho * v + (1 - self.rho) * ops.square(gradient))
        corrected = m / (1 - ops.power(self.beta, step))
        self.assign_sub(variable, lr * corrected / (ops.sqrt(v) + self.epsilon))


class ConditionalSlots(keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.1, centered=False, start=0.5, name="c", **kwargs):
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        self.centered = centered
        self.start = start

    def build(self, variables):
        super().build(variables)
        self._square = [
            self.add_variable_from_reference(
                reference_variable=v, name="square", initializer=keras.initializers.Constant(self.start)
            )
            for v in variables
        ]
        if self.centered:
            self._mean = [self.add_variable_from_reference(reference_variable=v, name="mean") for v in variables]

    def update_step(self, gradient, variable, learning_rate):
        index = self._get_variable_index(variable)
        square = self._square[index]
        self.assign(square, 0.9 * square + 0.1 * ops.square(gradient))
        if self.centered:
            mean = self._mean[index]
            self.assign(mean, 0.9 * mean + 0.1 * gradient)
            root = ops.sqrt(square - ops.square(mean) + 1e-3)
        else:
            root = ops.sqrt(square + 1e-3)
        self.assign_sub(variable, learning_rate * gradient / root)
