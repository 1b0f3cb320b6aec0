"""Adaptive Nesterov momentum."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class Adan(UpdateRule):
    """Adan: Nesterov momentum from the difference of gradients, in Adam's scale.

    change = grad - previous_grad, or 0 at the first step
    momentum = beta_1 * momentum + (1 - beta_1) * grad
    difference = beta_2 * difference + (1 - beta_2) * change
    velocity = beta_3 * velocity + (1 - beta_3) * |grad + beta_2 * change|^2
    direction = momentum / (1 - beta_1^t) + beta_2 * difference / (1 - beta_2^t)
    root = sqrt(velocity / (1 - beta_3^t)) + epsilon
    var = (var - learning_rate * direction / root) / (1 + learning_rate * proximal_decay)
    previous_grad = grad

    Args:
        learning_rate: step size. Default 0.001 (authors' code).
        beta_1: decay of the momentum. Default 0.98 (authors).
        beta_2: decay of the difference. Default 0.92 (authors).
        beta_3: decay of the mean square. Default 0.99 (authors).
        epsilon: added to the root. Default 1e-8 (authors).
        proximal_decay: weight decay as a proximal step. Default 0.0 (authors).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        difference: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros.
        previous_grad: the variable's shape, compute dtype, zeros.

    Differs from:
        paper: its betas are one minus these, and it has no bias correction.
        authors' code: no difference; its weight decay is proximal_decay, or with no_prox=True
            weight_decay.
        optax 0.2.8: weights the difference by 1 - beta_2 (0.08) in place of beta_2 (0.92).

    Source:
        Xie et al., "Adan: Adaptive Nesterov Momentum Algorithm for Faster Optimizing Deep
        Models", 2022, https://arxiv.org/abs/2208.06677, https://github.com/sail-sg/Adan
    """

    capabilities = ("complex",)

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    beta_1 = Hyper(0.98, check=checks.unit_interval)
    beta_2 = Hyper(0.92, check=checks.unit_interval)
    beta_3 = Hyper(0.99, check=checks.unit_interval)
    epsilon = Hyper(1e-8, check=checks.non_negative)
    proximal_decay = Hyper(0.0, check=checks.non_negative)

    momentum = Slot()
    difference = Slot()
    velocity = Slot()
    previous_grad = Slot()

    def prepare(self, shared, hyper, ops):
        return {
            "has_previous": ops.where(hyper.step > 1, 1.0, 0.0),
            "correction_1": 1 - hyper.beta_1 ** hyper.step,
            "correction_2": 1 - hyper.beta_2 ** hyper.step,
            "correction_3": 1 - hyper.beta_3 ** hyper.step,
        }

    def update(self, grad, var, slots, hyper, ops):
        beta_1, beta_2, beta_3 = hyper.beta_1, hyper.beta_2, hyper.beta_3
        change = hyper.has_previous * (grad - slots.previous_grad)
        momentum = beta_1 * slots.momentum + (1 - beta_1) * grad
        difference = beta_2 * slots.difference + (1 - beta_2) * change
        ahead = ops.abs_square(grad + beta_2 * change)
        velocity = beta_3 * slots.velocity + (1 - beta_3) * ahead
        direction = momentum / hyper.correction_1 + beta_2 * difference / hyper.correction_2
        step = direction / (ops.sqrt(velocity / hyper.correction_3) + hyper.epsilon)
        shrink = 1 + hyper.learning_rate * hyper.proximal_decay
        new_slots = {
            "momentum": momentum,
            "difference": difference,
            "velocity": velocity,
            "previous_grad": grad,
        }
        return (var - hyper.learning_rate * step) / shrink, new_slots
