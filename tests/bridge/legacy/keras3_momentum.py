"""A class of Keras 3."""

import keras
from keras import ops


class Keras3Momentum(keras.optimizers.Optimizer):
    """update_step(gradient, variable, learning_rate)."""

    def __init__(self, learning_rate=0.1, momentum=0.9, name="keras3_momentum", **kwargs):
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        self.momentum = momentum

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self.velocity = [self.add_variable_from_reference(v, name="velocity") for v in variables]

    def update_step(self, gradient, variable, learning_rate):
        lr = ops.cast(learning_rate, variable.dtype)
        v = self.velocity[self._get_variable_index(variable)]
        self.assign(v, ops.add(ops.multiply(v, self.momentum), gradient))
        self.assign_sub(variable, ops.multiply(v, lr))

    def get_config(self):
        return dict(super().get_config(), momentum=self.momentum)
