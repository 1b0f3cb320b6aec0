"""Momentum after normalization."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class LaProp(UpdateRule):
    """LaProp: RMSprop's quotient first, then momentum.

    velocity = beta_2 * velocity + (1 - beta_2) * |grad|^2
    ratio = grad / (sqrt(velocity / (1 - beta_2^t)) + epsilon)
    momentum = beta_1 * momentum + (1 - beta_1) * ratio
    var = var - learning_rate * momentum / (1 - beta_1^t)

    Args:
        learning_rate: step size. Default 0.0004 (authors).
        beta_1: decay of the momentum. Default 0.9 (authors).
        beta_2: decay of the mean square. Default 0.999 (authors).
        epsilon: added to the root. Default 1e-15 (authors).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros.

    Differs from:
        paper: no difference.
        authors' code: the learning rate is inside its momentum and in both corrections; the same
            while the learning rate is constant. It has amsgrad and centered besides.

    Source:
        Ziyin, Wang and Ueda, "LaProp: Separating Momentum and Adaptivity in Adam", 2020,
        https://arxiv.org/abs/2002.04839, https://github.com/Z-T-WANG/LaProp-Optimizer
    """

    capabilities = ("complex",)

    learning_rate = Hyper(4e-4, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    epsilon = Hyper(1e-15, check=checks.positive)

    momentum = Slot()
    velocity = Slot()

    def prepare(self, shared, hyper, ops):
        return {
            "step_size": hyper.learning_rate / (1 - hyper.beta_1 ** hyper.step),
            "correction": 1 - hyper.beta_2 ** hyper.step,
        }

    def update(self, grad, var, slots, hyper, ops):
        velocity = hyper.beta_2 * slots.velocity + (1 - hyper.beta_2) * ops.abs_square(grad)
        ratio = grad / (ops.sqrt(velocity / hyper.correction) + hyper.epsilon)
        momentum = hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * ratio
        return var - hyper.step_size * momentum, {"momentum": momentum, "velocity": velocity}
