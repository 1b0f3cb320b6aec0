"""A training script of TensorFlow 2.4."""

import sys

import numpy as np
import tensorflow as tf


class Momentum(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.1, name="Momentum", **kwargs):
        super(Momentum, self).__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "velocity")

    def _resource_apply_dense(self, grad, var, apply_state=None):
        velocity = self.get_slot(var, "velocity")
        new = velocity.assign(0.9 * velocity + grad)
        return var.assign_sub(self._get_hyper("learning_rate", var.dtype.base_dtype) * new)

    def get_config(self):
        return dict(super(Momentum, self).get_config(), learning_rate=self._serialize_hyperparameter("learning_rate"))


if __name__ == "__main__":
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="zeros")])
    optimizer = Momentum(float(sys.argv[1]))
    model.compile(optimizer, tf.keras.losses.MeanSquaredError())
    model.fit(np.ones((4, 1)), np.ones((4, 1)), epochs=2, batch_size=4, verbose=0)
    print("weight %.6f" % float(model.get_weights()[0][0, 0]), isinstance(optimizer, Momentum))
    adam = tf.keras.optimizers.Adam(lr=0.5, decay=1.0)
    variable = tf.Variable(0.0)
    for _ in range(2):
        adam.apply_gradients([(tf.constant(1.0), variable)])
    print("adam %.4f" % float(variable.numpy()))
