"""Adam's size with the gradient's sign."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class Grams(UpdateRule):
    """Grams: steps of Adam's size in the direction of the present gradient's signs.

    momentum = beta_1 * momentum + (1 - beta_1) * grad
    velocity = beta_2 * velocity + (1 - beta_2) * grad^2
    step = momentum / (1 - beta_1^t) / (sqrt(velocity / (1 - beta_2^t)) + epsilon)
    var = var - learning_rate * |step| * sign(grad)

    Args:
        learning_rate: step size. Default 0.001 (authors).
        beta_1: decay of the momentum. Default 0.9 (authors).
        beta_2: decay of the mean square. Default 0.999 (authors).
        epsilon: added to the root. Default 1e-6 (authors).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros.

    Differs from:
        paper: no difference.
        authors' code: its weight decay acts after the moments; the same formula else.

    Source:
        Cao et al., "Grams: Gradient Descent with Adaptive Momentum Scaling", 2024,
        https://arxiv.org/abs/2412.17107
    """

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    epsilon = Hyper(1e-6, check=checks.non_negative)

    momentum = Slot()
    velocity = Slot()

    def prepare(self, shared, hyper, ops):
        return {
            "correction_1": 1 - hyper.beta_1 ** hyper.step,
            "correction_2": 1 - hyper.beta_2 ** hyper.step,
        }

    def update(self, grad, var, slots, hyper, ops):
        momentum = hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * grad
        velocity = hyper.beta_2 * slots.velocity + (1 - hyper.beta_2) * ops.square(grad)
        root = ops.sqrt(velocity / hyper.correction_2) + hyper.epsilon
        size = ops.abs(momentum / hyper.correction_1 / root)
        new_var = var - hyper.learning_rate * size * ops.sign(grad)
        return new_var, {"momentum": momentum, "velocity": velocity}
