"""Layer-wise adaptive moments for large batches."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class LAMB(UpdateRule):
    """LAMB: Adam's direction, scaled to each variable's own norm.

    momentum = beta_1 * momentum + (1 - beta_1) * grad
    velocity = beta_2 * velocity + (1 - beta_2) * |grad|^2
    direction = momentum / (1 - beta_1^t) / (sqrt(velocity / (1 - beta_2^t)) + epsilon)
        + decay_in_ratio * var
    ratio = ||var|| / ||direction||, or 1 where either norm is 0
    var = var - learning_rate * ratio * direction

    Args:
        learning_rate: step size. Default 0.001 (Keras 3).
        beta_1: decay of the momentum. Default 0.9 (paper, Keras 3).
        beta_2: decay of the mean square. Default 0.999 (paper, Keras 3).
        epsilon: added to the root. Default 1e-7 (Keras 3; paper and TFA 1e-6).
        decay_in_ratio: weight decay inside the direction. Default 0.0 (paper 0.01).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros.

    Differs from:
        paper and TFA: their weight decay is decay_in_ratio; weight_decay is that of Keras 3,
            which acts before the update and outside the ratio.
        Keras 3: no difference. optax: the weight decay is in the ratio.

    Source:
        You et al., "Large Batch Optimization for Deep Learning: Training BERT in 76 minutes",
        2020, https://arxiv.org/abs/1904.00962
    """

    capabilities = ("complex",)

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    epsilon = Hyper(1e-7, check=checks.non_negative)
    decay_in_ratio = Hyper(0.0, check=checks.non_negative)

    momentum = Slot()
    velocity = Slot()

    def prepare(self, shared, hyper, ops):
        return {
            "correction_1": 1 - hyper.beta_1 ** hyper.step,
            "correction_2": 1 - hyper.beta_2 ** hyper.step,
        }

    def update(self, grad, var, slots, hyper, ops):
        momentum = hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * grad
        velocity = hyper.beta_2 * slots.velocity + (1 - hyper.beta_2) * ops.abs_square(grad)
        root = ops.sqrt(velocity / hyper.correction_2) + hyper.epsilon
        direction = momentum / hyper.correction_1 / root + hyper.decay_in_ratio * var
        var_norm, norm = ops.vector_norm(var), ops.vector_norm(direction)
        apart = ops.logical_and(var_norm > 0, norm > 0)
        ratio = ops.where(apart, var_norm / norm, 1.0)
        new_var = var - hyper.learning_rate * ratio * direction
        return new_var, {"momentum": momentum, "velocity": velocity}
