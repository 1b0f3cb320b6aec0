"""Classes of the two newer APIs."""

import tensorflow as tf


class Keras2Momentum(tf.keras.optimizers.Optimizer):
    """update_step(gradient, variable)."""

    def __init__(self, learning_rate=0.1, momentum=0.9, name="Keras2Momentum", **kwargs):
        super().__init__(name=name, **kwargs)
        self._learning_rate = self._build_learning_rate(learning_rate)
        self.momentum = momentum

    def build(self, var_list):
        super().build(var_list)
        if hasattr(self, "_built") and self._built:
            return
        self.velocity = [self.add_variable_from_reference(model_variable=v, variable_name="v") for v in var_list]
        self._built = True

    def update_step(self, gradient, variable):
        lr = tf.cast(self.learning_rate, variable.dtype)
        v = self.velocity[self._index_dict[self._var_key(variable)]]
        if isinstance(gradient, tf.IndexedSlices):
            gradient = tf.convert_to_tensor(gradient)
        v.assign(self.momentum * v + gradient)
        variable.assign_sub(lr * v)

    def get_config(self):
        config = super().get_config()
        config.update(learning_rate=self._serialize_hyperparameter(self._learning_rate), momentum=self.momentum)
        return config
