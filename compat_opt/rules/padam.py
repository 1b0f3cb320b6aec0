"""Partially adaptive momentum."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class Padam(UpdateRule):
    """Padam: AMSGrad with a power of the mean square between SGD's 0 and Adam's 1/2.

    momentum = beta_1 * momentum + (1 - beta_1) * grad
    velocity = beta_2 * velocity + (1 - beta_2) * grad^2
    velocity_hat = max(velocity_hat, velocity)
    step_size = learning_rate * sqrt(1 - beta_2^t) / (1 - beta_1^t)
    var = var - step_size * momentum / (sqrt(velocity_hat) + epsilon)^(2 * partial)

    Args:
        learning_rate: step size. Default 0.1 (authors).
        beta_1: decay of the momentum. Default 0.9 (authors).
        beta_2: decay of the mean square. Default 0.999 (authors).
        partial: the power; 1/2 is AMSGrad. Default 0.25 (authors; paper 0.125).
        epsilon: added to the root. Default 1e-8 (authors).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros.
        velocity_hat: the variable's shape, compute dtype, zeros.

    Differs from:
        paper: its Algorithm 1 has no bias correction; it is as in the authors' code.
        authors' code: no difference.

    Source:
        Chen et al., "Closing the Generalization Gap of Adaptive Gradient Methods in Training Deep
        Neural Networks", 2018, https://arxiv.org/abs/1806.06763
    """

    learning_rate = Hyper(0.1, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    partial = Hyper(0.25, check=checks.non_negative)
    epsilon = Hyper(1e-8, check=checks.positive)

    momentum = Slot()
    velocity = Slot()
    velocity_hat = Slot()

    def prepare(self, shared, hyper, ops):
        correction_1 = 1 - hyper.beta_1 ** hyper.step
        correction_2 = 1 - hyper.beta_2 ** hyper.step
        return {"step_size": hyper.learning_rate * ops.sqrt(correction_2) / correction_1}

    def update(self, grad, var, slots, hyper, ops):
        momentum = hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * grad
        velocity = hyper.beta_2 * slots.velocity + (1 - hyper.beta_2) * ops.square(grad)
        velocity_hat = ops.maximum(slots.velocity_hat, velocity)
        bottom = (ops.sqrt(velocity_hat) + hyper.epsilon) ** (2 * hyper.partial)
        new_slots = {"momentum": momentum, "velocity": velocity, "velocity_hat": velocity_hat}
        return var - hyper.step_size * momentum / bottom, new_slots
