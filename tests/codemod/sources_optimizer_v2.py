"""Optimizers in the style of OptimizerV2, for the migrator's tests; nothing imports this file."""

import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.python.ops import control_flow_ops, math_ops, state_ops
from tensorflow.python.training import training_ops


class AdamLike(tf.keras.optimizers.Optimizer):
    """Moments, with coefficients of the step."""

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False, name="A", **kwargs):
        super(AdamLike, self).__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
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
        super(AdamLike, self)._prepare_local(var_device, var_dtype, apply_state)
        local_step = tf.cast(self.iterations + 1, var_dtype)
        beta_1_t = tf.identity(self._get_hyper("beta_1", var_dtype))
        beta_2_t = tf.identity(self._get_hyper("beta_2", var_dtype))
        lr = apply_state[(var_device, var_dtype)]["lr_t"] * (
            tf.sqrt(1 - tf.pow(beta_2_t, local_step)) / (1 - tf.pow(beta_1_t, local_step))
        )
        apply_state[(var_device, var_dtype)].update(dict(lr=lr, beta_1_t=beta_1_t, beta_2_t=beta_2_t))

    def _resource_apply_dense(self, grad, var, apply_state=None):
        var_device, var_dtype = var.device, var.dtype.base_dtype
        coefficients = (apply_state or {}).get((var_device, var_dtype)) or self._fallback_apply_state(var_device, var_dtype)
        m = self.get_slot(var, "m")
        v = self.get_slot(var, "v")
        # the first moment
        m_t = m.assign(coefficients["beta_1_t"] * m + (1 - coefficients["beta_1_t"]) * grad, use_locking=self._use_locking)
        v_t = v.assign(coefficients["beta_2_t"] * v + (1 - coefficients["beta_2_t"]) * tf.square(grad))
        if self.amsgrad:
            vhat = self.get_slot(var, "vhat")
            v_t = vhat.assign(tf.maximum(vhat, v_t))
        update = var.assign_sub(coefficients["lr"] * m_t / (tf.sqrt(v_t) + self.epsilon))
        return tf.group(update, m_t, v_t)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        coefficients = apply_state[(var.device, var.dtype.base_dtype)]
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m.assign(coefficients["beta_1_t"] * m)
        with tf.control_dependencies([m]):
            m_t = self._resource_scatter_add(m, indices, (1 - coefficients["beta_1_t"]) * grad)
        v.assign(coefficients["beta_2_t"] * v)
        v_t = self._resource_scatter_add(v, indices, (1 - coefficients["beta_2_t"]) * tf.square(grad))
        if self.amsgrad:
            vhat = self.get_slot(var, "vhat")
            v_t = vhat.assign(tf.maximum(vhat, v_t))
        return var.assign_sub(coefficients["lr"] * m_t / (tf.sqrt(v_t) + self.epsilon))


class Momentum(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.01, momentum=0.0, nesterov=False, name="M", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self._momentum = False
        if isinstance(momentum, tf.Tensor) or callable(momentum) or momentum > 0:
            self._momentum = True
        if isinstance(momentum, (int, float)) and (momentum < 0 or momentum > 1):
            raise ValueError("momentum must be between 0 and 1.")
        self._set_hyper("momentum", momentum)
        self.nesterov = nesterov

    def _create_slots(self, var_list):
        if self._momentum:
            for var in var_list:
                self.add_slot(var, "momentum")

    def _resource_apply_dense(self, grad, var):
        lr_t = self._decayed_lr(var.dtype.base_dtype)
        if not self._momentum:
            return var.assign_sub(lr_t * grad)
        accum = self.get_slot(var, "momentum")
        mu = self._get_hyper("momentum", var.dtype)
        step = accum.assign(mu * accum - lr_t * grad)
        if self.nesterov:
            return var.assign_add(mu * step - lr_t * grad)
        return var.assign_add(step)

    def _resource_apply_sparse(self, grad, var, indices):
        raise NotImplementedError("sparse gradients")


class Warmup(tf.keras.optimizers.Optimizer):
    """A learning rate that rises, then falls; a hyperparameter that steers Python code."""

    def __init__(self, learning_rate=0.1, warmup_steps=0, floor=0.01, name="W", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("warmup_steps", float(warmup_steps))
        self._set_hyper("floor", floor)
        self._initial_warmup = warmup_steps

    def _resource_apply_dense(self, grad, var):
        lr_t = self._decayed_lr(var.dtype.base_dtype)
        step = tf.cast(self.iterations + 1, var.dtype)
        if self._initial_warmup > 0:
            total = self._get_hyper("warmup_steps", var.dtype)
            lr_t = tf.where(step <= total, lr_t * step / total, tf.maximum(lr_t / step, self._get_hyper("floor")))
        return state_ops.assign_sub(var, lr_t * grad)


class SignMomentum(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.01, beta_1=0.9, beta_2=0.99, **kwargs):
        super().__init__(kwargs.pop("name", "S"), **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "m")

    def _resource_apply_dense(self, grad, var):
        m = self.get_slot(var, "m")
        b1, b2 = self._get_hyper("beta_1"), self._get_hyper("beta_2")
        direction = K.sign(b1 * m + (1 - b1) * grad)
        var_t = K.update(var, var - self._decayed_lr(var.dtype) * direction)
        with tf.control_dependencies([var_t]):
            return K.update(m, b2 * m + (1 - b2) * grad)

    def _resource_apply_sparse(self, grad, var, indices):
        grad = tf.convert_to_tensor(tf.IndexedSlices(grad, indices, K.shape(var)))
        return self._resource_apply_dense(grad, var)


class FusedAdagrad(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.1, initial_accumulator_value=0.1, epsilon=1e-7, name="F", **kwargs):
        if initial_accumulator_value < 0.0:
            raise ValueError("initial_accumulator_value must be non-negative")
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self._initial = initial_accumulator_value
        self.epsilon = epsilon or tf.keras.backend.epsilon()

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "accumulator", tf.constant_initializer(self._initial))

    def _resource_apply_dense(self, grad, var, apply_state=None):
        coefficients = (apply_state or {}).get((var.device, var.dtype.base_dtype))
        acc = self.get_slot(var, "accumulator")
        return tf.raw_ops.ResourceApplyAdagradV2(
            var=var.handle, accum=acc.handle, lr=coefficients["lr_t"], epsilon=self.epsilon, grad=grad, update_slots=True
        )

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        coefficients = (apply_state or {}).get((var.device, var.dtype.base_dtype))
        acc = self.get_slot(var, "accumulator")
        return tf.raw_ops.ResourceSparseApplyAdagradV2(
            var=var.handle, accum=acc.handle, lr=coefficients["lr_t"], epsilon=self.epsilon, grad=grad, indices=indices
        )


class FusedAdam(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.01, beta_1=0.9, beta_2=0.99, name="F", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "m")
            self.add_slot(var, "v")

    def _resource_apply_dense(self, grad, var):
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        step = math_ops.cast(self.iterations + 1, var.dtype)
        beta_1, beta_2 = self._get_hyper("beta_1"), self._get_hyper("beta_2")
        return training_ops.resource_apply_adam(
            var.handle, m.handle, v.handle, math_ops.pow(beta_1, step), math_ops.pow(beta_2, step),
            self._decayed_lr(var.dtype), beta_1, beta_2, 1e-6, grad, use_locking=self._use_locking)


def _ratio(weights, step):
    """How long the step may be."""
    long = tf.norm(weights)
    return tf.where(long > 0, long / (tf.norm(step) + 1e-9), 1.0)


class LayerScaled(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.1, trust=0.02, name="L", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self.trust = trust

    def _scaled(self, grad, var):
        return self.trust * _ratio(var, grad) * grad

    def _resource_apply_dense(self, grad, var):
        return control_flow_ops.group(var.assign_sub(self._decayed_lr(var.dtype) * self._scaled(grad, var)))


class Decayed(tf.keras.optimizers.Optimizer):
    """Weight decay of its own, inside the update."""

    def __init__(self, learning_rate=0.1, weight_decay=0.0, name="D", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("weight_decay", weight_decay)
        self._has_weight_decay = weight_decay != 0.0

    def _resource_apply_dense(self, grad, var):
        step = tf.tanh(grad)
        if self._has_weight_decay:
            step += self._get_hyper("weight_decay", var.dtype) * var
        return var.assign_sub(self._decayed_lr(var.dtype) * step)


class ClippedAdam(tf.keras.optimizers.Adam):
    """Clips by the global norm; decays weights, but for some names."""

    def __init__(self, learning_rate=0.001, weight_decay_rate=0.0, exclude=None, name="C", **kwargs):
        super().__init__(learning_rate, name=name, **kwargs)
        self.weight_decay_rate = weight_decay_rate
        self._exclude = exclude

    def apply_gradients(self, grads_and_vars, name=None):
        grads, tvars = list(zip(*grads_and_vars))
        (grads, _) = tf.clip_by_global_norm(grads, clip_norm=1.0)
        return super().apply_gradients(zip(grads, tvars), name=name)

    def _decays(self, name):
        return not any(part in name for part in self._exclude or ())

    def _resource_apply_dense(self, grad, var, apply_state=None):
        decay = tf.no_op()
        if self._decays(var.name):
            decay = var.assign_sub(self._decayed_lr(var.dtype) * var * self.weight_decay_rate)
        with tf.control_dependencies([decay]):
            return super()._resource_apply_dense(grad, var, apply_state=apply_state)


class LazyMomentum(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.1, rho=0.9, name="L", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("rho", rho)

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "m")

    def _resource_apply_dense(self, grad, var):
        m = self.get_slot(var, "m")
        m_t = m.assign(self._get_hyper("rho") * m + grad)
        return var.assign_sub(self._decayed_lr(var.dtype) * m_t)

    def _resource_apply_sparse(self, grad, var, indices):
        m = self.get_slot(var, "m")
        rows = self._get_hyper("rho") * tf.gather(m, indices) + grad
        self._resource_scatter_update(m, indices, rows)
        return self._resource_scatter_add(var, indices, -self._decayed_lr(var.dtype) * rows)


class HalfSparse(LazyMomentum):
    """Its sparse hook moves the slot of every row, and the variable of some."""

    def _resource_apply_sparse(self, grad, var, indices):
        m = self.get_slot(var, "m")
        m.assign(self._get_hyper("rho") * m)
        m_t = self._resource_scatter_add(m, indices, grad)
        return self._resource_scatter_add(var, indices, tf.gather(-self._decayed_lr(var.dtype) * m_t, indices))


class SummedMomentum(LazyMomentum):
    """Its sparse hook makes the gradient dense."""

    def _resource_apply_sparse(self, grad, var, indices):
        dense = tf.math.unsorted_segment_sum(grad, indices, tf.shape(var)[0])
        return self._resource_apply_dense(dense, var)


class Activation(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.1, activation="sign", scale=2.0, name="A", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self.activation = activation
        self.scale = scale

    def _resource_apply_dense(self, grad, var):
        if self.activation == "sign":
            step = tf.sign(grad)
        elif self.activation == "tanh":
            step = tf.tanh(self.scale * grad)
        else:
            raise NotImplementedError("activation can be sign or tanh")
        lr = self._decayed_lr(var.dtype)
        lr = lr / (1 + tf.cast(self.iterations, var.dtype))
        return var.assign_sub(lr * step)


class CornerValues(tf.keras.optimizers.Optimizer):
    """A slot of ones, one that starts as the variable, names that are taken, a name that is used twice."""

    def __init__(self, learning_rate=0.1, pull=0.3, name="C", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("pull", pull)

    def _create_slots(self, var_list):
        for handle in var_list:
            self.add_slot(handle, "average", initializer="ones")
            self.add_slot(handle, "anchor", initializer=handle)

    def _resource_apply_dense(self, grad, handle):
        ops = self.get_slot(handle, "average")
        anchor = self.get_slot(handle, "anchor")
        slots = ops.assign(0.5 * ops + 0.5 * tf.abs(grad))
        kept = slots
        slots = slots + 1.0
        anchor_t = anchor.assign(anchor + self._get_hyper("pull") * (handle - anchor))
        return handle.assign(handle - self._decayed_lr(handle.dtype) * (grad / slots + kept * (handle - anchor_t)))


class RawOperations(tf.keras.optimizers.Optimizer):
    """Assigns by raw operations, with arguments in dicts."""

    def __init__(self, learning_rate=0.1, keep=0.5, name="RawOperations", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("keep", keep)

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "m")

    def _resource_apply_dense(self, grad, var):
        m = self.get_slot(var, "m")
        arguments = {"resource": m.handle, "value": self._get_hyper("keep", var.dtype) * m + grad}
        tf.raw_ops.AssignVariableOp(**arguments)
        lr = self._get_hyper("learning_rate", var.dtype)
        return tf.raw_ops.AssignSubVariableOp(resource=var.handle, value=lr * m)

    def _resource_apply_sparse(self, grad, var, indices):
        m = self.get_slot(var, "m")
        tf.raw_ops.AssignVariableOp(resource=m.handle, value=self._get_hyper("keep", var.dtype) * m)
        arguments = {"resource": m.handle, "indices": indices, "updates": grad}
        tf.raw_ops.ResourceScatterAdd(**arguments)
        lr = self._get_hyper("learning_rate", var.dtype)
        return tf.raw_ops.AssignAddVariableOp(resource=var.handle, value=-lr * m)


class AtItsDefaults(tf.keras.optimizers.Optimizer):
    """Its constructor makes more of its arguments than is understood."""

    def __init__(self, learning_rate=0.1, scale=2.0, rates=None, total=0, warm=False, start=0, name="D", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self.scale = scale
        self.warm = warm
        self.rates = rates or {}
        if rates is not None:
            self.rates = {name: 2.0 * rate for name, rate in rates.items()}
        if (warm or rates) and total <= 1:
            self.warm = False
        self.count = tf.Variable(start, dtype="int64")

    def _resource_apply_dense(self, grad, var):
        rate = self._decayed_lr(var.dtype)
        if self.warm:
            rate = rate / tf.cast(self.count, var.dtype)
        if var.name in self.rates.keys():
            rate = rate * self.rates[var.name]
        counted = tf.compat.v1.assign_add(self.count, 1)
        self.last_rate = rate
        return tf.group(counted, var.assign_sub(rate * self.scale * grad))
