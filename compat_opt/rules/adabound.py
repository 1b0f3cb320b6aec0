"""Adam between two bounds that close in on a constant."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class AdaBound(UpdateRule):
    """AdaBound: Adam whose step sizes are clipped to an interval that narrows to SGD's.

    momentum = beta_1 * momentum + (1 - beta_1) * grad
    velocity = beta_2 * velocity + (1 - beta_2) * grad^2
    amsbound: velocity_hat = max(velocity_hat, velocity), used in place of velocity
    rate = learning_rate * sqrt(1 - beta_2^t) / (1 - beta_1^t) / (sqrt(velocity) + epsilon)
    lower = final_learning_rate * (1 - 1 / (gamma * t + 1))
    upper = final_learning_rate * (1 + 1 / (gamma * t))
    var = var - clip(rate, lower, upper) * momentum

    Args:
        learning_rate: step size of the start. Default 0.001 (authors).
        final_learning_rate: SGD's step size, that of the end. Default 0.1 (authors).
        beta_1: decay of the momentum. Default 0.9 (authors).
        beta_2: decay of the mean square. Default 0.999 (authors).
        gamma: how fast the bounds close. Default 0.001 (authors).
        epsilon: added to the root. Default 1e-8 (authors).
        amsbound: whether the mean square may never shrink. Default False (authors).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros.
        velocity_hat: the variable's shape, compute dtype, zeros; only with amsbound.

    Differs from:
        paper: its Algorithm 2 has no bias correction, and divides by sqrt(t).
        authors' code: multiplies the bounds by learning_rate over its first value; here
            final_learning_rate takes a schedule of its own.

    Source:
        Luo et al., "Adaptive Gradient Methods with Dynamic Bound of Learning Rate", 2019,
        https://arxiv.org/abs/1902.09843, https://github.com/Luolc/AdaBound
    """

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    final_learning_rate = Hyper(0.1, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    gamma = Hyper(1e-3, check=checks.positive)
    epsilon = Hyper(1e-8, check=checks.non_negative)
    amsbound = Hyper(False, static=True)

    momentum = Slot()
    velocity = Slot()
    velocity_hat = Slot(when=lambda rule, shape: rule.amsbound)

    def prepare(self, shared, hyper, ops):
        correction_1 = 1 - hyper.beta_1 ** hyper.step
        correction_2 = 1 - hyper.beta_2 ** hyper.step
        closing = hyper.gamma * hyper.step
        return {
            "step_size": hyper.learning_rate * ops.sqrt(correction_2) / correction_1,
            "lower": hyper.final_learning_rate * (1 - 1 / (closing + 1)),
            "upper": hyper.final_learning_rate * (1 + 1 / closing),
        }

    def update(self, grad, var, slots, hyper, ops):
        momentum = hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * grad
        velocity = hyper.beta_2 * slots.velocity + (1 - hyper.beta_2) * ops.square(grad)
        new_slots = {"momentum": momentum, "velocity": velocity}
        if self.amsbound:
            velocity = ops.maximum(slots.velocity_hat, velocity)
            new_slots["velocity_hat"] = velocity
        rate = hyper.step_size / (ops.sqrt(velocity) + hyper.epsilon)
        return var - ops.clip(rate, hyper.lower, hyper.upper) * momentum, new_slots
