"""The update of Keras' own optimizers, in the style of the old API, for classes that derive from them.

Written from the documented formulas of TensorFlow 2.0 to 2.10; the slots have the names of their checkpoints.
"""

import functools

from compat_opt.codemod.module import Module

_ADAM = '''
class Adam(Optimizer):
    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False, name="Adam", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)
        self.epsilon = epsilon
        self.amsgrad = amsgrad

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "m")
        for var in var_list:
            self.add_slot(var, "v")
        if self.amsgrad:
            for var in var_list:
                self.add_slot(var, "vhat")

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        beta_1_t = self._get_hyper("beta_1", var_dtype)
        beta_2_t = self._get_hyper("beta_2", var_dtype)
        local_step = tf.cast(self.iterations + 1, var_dtype)
        beta_1_power = beta_1_t ** local_step
        beta_2_power = beta_2_t ** local_step
        step_size = apply_state[(var_device, var_dtype)]["lr_t"] * tf.sqrt(1 - beta_2_power) / (1 - beta_1_power)
        apply_state[(var_device, var_dtype)].update(
            dict(
                lr=step_size,
                epsilon=self.epsilon,
                beta_1_t=beta_1_t,
                beta_1_power=beta_1_power,
                one_minus_beta_1_t=1 - beta_1_t,
                beta_2_t=beta_2_t,
                beta_2_power=beta_2_power,
                one_minus_beta_2_t=1 - beta_2_t,
            )
        )

    def _resource_apply_dense(self, grad, var, apply_state=None):
        place = (var.device, var.dtype)
        coefficients = (apply_state or {}).get(place) or self._fallback_apply_state(*place)
        m = self.get_slot(var, "m")
        v = self.get_slot(var, "v")
        m_t = m.assign(coefficients["beta_1_t"] * m + coefficients["one_minus_beta_1_t"] * grad)
        v_t = v.assign(coefficients["beta_2_t"] * v + coefficients["one_minus_beta_2_t"] * tf.square(grad))
        if self.amsgrad:
            vhat = self.get_slot(var, "vhat")
            vhat_t = vhat.assign(tf.maximum(vhat, v_t))
            denominator = tf.sqrt(vhat_t) + coefficients["epsilon"]
        else:
            denominator = tf.sqrt(v_t) + coefficients["epsilon"]
        var.assign_sub(coefficients["lr"] * m_t / denominator)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        place = (var.device, var.dtype)
        coefficients = (apply_state or {}).get(place) or self._fallback_apply_state(*place)
        m = self.get_slot(var, "m")
        v = self.get_slot(var, "v")
        m.assign(m * coefficients["beta_1_t"])
        m_t = self._resource_scatter_add(m, indices, grad * coefficients["one_minus_beta_1_t"])
        v.assign(v * coefficients["beta_2_t"])
        v_t = self._resource_scatter_add(v, indices, tf.square(grad) * coefficients["one_minus_beta_2_t"])
        if self.amsgrad:
            vhat = self.get_slot(var, "vhat")
            vhat_t = vhat.assign(tf.maximum(vhat, v_t))
            denominator = tf.sqrt(vhat_t) + coefficients["epsilon"]
        else:
            denominator = tf.sqrt(v_t) + coefficients["epsilon"]
        var.assign_sub(coefficients["lr"] * m_t / denominator)
'''

_SGD = '''
class SGD(Optimizer):
    def __init__(self, learning_rate=0.01, momentum=0.0, nesterov=False, name="SGD", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("momentum", momentum)
        self._momentum = momentum > 0
        self.nesterov = nesterov

    def _create_slots(self, var_list):
        if self._momentum:
            for var in var_list:
                self.add_slot(var, "momentum")

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        apply_state[(var_device, var_dtype)]["momentum"] = self._get_hyper("momentum", var_dtype)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        place = (var.device, var.dtype)
        coefficients = (apply_state or {}).get(place) or self._fallback_apply_state(*place)
        if self._momentum:
            accum = self.get_slot(var, "momentum")
            velocity = accum.assign(accum * coefficients["momentum"] - grad * coefficients["lr_t"])
            if self.nesterov:
                var.assign_add(velocity * coefficients["momentum"] - grad * coefficients["lr_t"])
            else:
                var.assign_add(velocity)
        else:
            var.assign_sub(grad * coefficients["lr_t"])

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        place = (var.device, var.dtype)
        coefficients = (apply_state or {}).get(place) or self._fallback_apply_state(*place)
        step = grad * coefficients["lr_t"]
        if self._momentum:
            m = self.get_slot(var, "momentum")
            rows = tf.gather(m, indices) * coefficients["momentum"] - step
            self._resource_scatter_update(m, indices, rows)
            if self.nesterov:
                self._resource_scatter_add(var, indices, rows * coefficients["momentum"] - step)
            else:
                self._resource_scatter_add(var, indices, rows)
        else:
            self._resource_scatter_sub(var, indices, step)
'''

_SOURCES = {"Adam": _ADAM, "SGD": _SGD}


@functools.lru_cache(maxsize=None)
def base_module(name):
    """The `Module` of a built-in optimizer, or None where its update is not known here."""
    return Module(_SOURCES[name]) if name in _SOURCES else None
