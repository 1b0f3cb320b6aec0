"""Layer-wise adaptive rates."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class LARS(UpdateRule):
    """LARS: momentum whose step is scaled to each variable's own norm.

    direction = grad + decay_in_ratio * var
    ratio = trust_coefficient * ||var||
        / (||grad|| + decay_in_ratio * ||var|| + epsilon), or 1 where either norm is 0
    velocity = momentum * velocity + learning_rate * ratio * direction
    var = var - velocity
    nesterov: var = var - momentum * velocity - learning_rate * ratio * direction

    Args:
        learning_rate: step size. Default 0.1 (this package; paper's is a schedule up to 32).
        momentum: how much of the last step is kept. Default 0.9 (paper).
        trust_coefficient: the step's norm over the variable's. Default 0.001 (paper).
        decay_in_ratio: weight decay inside the direction. Default 0.0 (paper 0.0005).
        epsilon: added to the norm. Default 0.0 (paper).
        nesterov: whether the step looks ahead. Default False (paper).
        adapt_vectors: whether variables with fewer than two axes have the ratio. Default True
            (paper).

    Slots:
        velocity: the variable's shape, compute dtype, zeros.

    Differs from:
        paper: no difference. MLPerf's code leaves biases and normalizations out by name: here
            adapt_vectors=False.
        optax: takes ||grad + decay * var|| for the divisor; the same without decay_in_ratio. Its
            learning rate multiplies the velocity; the same while it is constant.

    Source:
        You, Gitman and Ginsburg, "Large Batch Training of Convolutional Networks", 2017,
        https://arxiv.org/abs/1708.03888
    """

    learning_rate = Hyper(0.1, check=checks.non_negative)
    momentum = Hyper(0.9, check=checks.closed_unit_interval)
    trust_coefficient = Hyper(1e-3, check=checks.non_negative)
    decay_in_ratio = Hyper(0.0, check=checks.non_negative)
    epsilon = Hyper(0.0, check=checks.non_negative)
    nesterov = Hyper(False, static=True)
    adapt_vectors = Hyper(True, static=True)

    capabilities = ("complex",)

    velocity = Slot()

    def update(self, grad, var, slots, hyper, ops):
        step = hyper.learning_rate * (grad + hyper.decay_in_ratio * var)
        if self.adapt_vectors or var.ndim > 1:
            var_norm, norm = ops.vector_norm(var), ops.vector_norm(grad)
            bottom = norm + hyper.decay_in_ratio * var_norm + hyper.epsilon
            both = ops.logical_and(var_norm > 0, norm > 0)
            step = ops.where(both, hyper.trust_coefficient * var_norm / bottom, 1.0) * step
        velocity = hyper.momentum * slots.velocity + step
        if self.nesterov:
            return var - hyper.momentum * velocity - step, {"velocity": velocity}
        return var - velocity, {"velocity": velocity}
