"""An optimizer written for TensorFlow 2.4: Adam with the partial adaptivity of Padam."""

import tensorflow as tf


class PartialAdam(tf.keras.optimizers.Optimizer):
    """Adam whose denominator is the root to the power 2 * partial (Chen et al., 2018)."""

    _HAS_AGGREGATE_GRAD = True

    def __init__(self, learning_rate=0.01, beta_1=0.9, beta_2=0.999, partial=0.25, epsilon=1e-7, name="PartialAdam", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)
        self.partial = partial
        self.epsilon = epsilon

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "m")
        for var in var_list:
            self.add_slot(var, "v")

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        step = tf.cast(self.iterations + 1, var_dtype)
        beta_1 = tf.identity(self._get_hyper("beta_1", var_dtype))
        beta_2 = tf.identity(self._get_hyper("beta_2", var_dtype))
        # Both corrections of the bias in one number.
        correction = tf.sqrt(1 - tf.pow(beta_2, step)) / (1 - tf.pow(beta_1, step))
        apply_state[(var_device, var_dtype)].update(dict(beta_1=beta_1, beta_2=beta_2, correction=correction))

    def _resource_apply_dense(self, grad, var, apply_state=None):
        device, dtype = var.device, var.dtype.base_dtype
        c = (apply_state or {}).get((device, dtype)) or self._fallback_apply_state(device, dtype)
        m = self.get_slot(var, "m")
        v = self.get_slot(var, "v")
        m_t = m.assign(c["beta_1"] * m + (1 - c["beta_1"]) * grad, use_locking=self._use_locking)
        v_t = v.assign(c["beta_2"] * v + (1 - c["beta_2"]) * tf.square(grad), use_locking=self._use_locking)
        step = c["lr_t"] * c["correction"] * m_t / (tf.pow(v_t, self.partial) + self.epsilon)
        return var.assign_sub(step, use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        dense = tf.math.unsorted_segment_sum(grad, indices, tf.shape(var)[0])
        return self._resource_apply_dense(dense, var, apply_state)

    def get_config(self):
        config = super().get_config()
        config.update(
            learning_rate=self._serialize_hyperparameter("learning_rate"),
            decay=self._serialize_hyperparameter("decay"),
            beta_1=self._serialize_hyperparameter("beta_1"),
            beta_2=self._serialize_hyperparameter("beta_2"),
            partial=self.partial,
            epsilon=self.epsilon,
        )
        return config
