"""Variance-reduced Adam."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class MARS(UpdateRule):
    """MARS: Adam on gradients corrected by their change, for matrices; Adam for other shapes.

    matrices:
    corrected = grad + gamma * beta_1 / (1 - beta_1) * (grad - previous_grad)
    corrected = corrected / max(1, ||corrected||)
    previous_grad = grad
    other shapes: corrected = grad, with beta_1 = beta_1_1d, beta_2 = beta_2_1d
    momentum = beta_1 * momentum + (1 - beta_1) * corrected
    velocity = beta_2 * velocity + (1 - beta_2) * corrected^2
    root = sqrt(velocity / (1 - beta_2^t)) + epsilon
    var = var - learning_rate * momentum / (1 - beta_1^t) / root
    direction "lion": matrices take the sign of momentum in place of the quotient

    Args:
        learning_rate: step size. Default 0.003 (authors).
        beta_1: decay of the momentum. Default 0.95 (authors).
        beta_2: decay of the mean square. Default 0.99 (authors).
        gamma: weight of the correction. Default 0.025 (authors).
        epsilon: added to the root. Default 1e-8 (authors).
        direction: "adamw" or "lion". Default "adamw" (authors).
        beta_1_1d: beta_1 of other shapes. Default 0.9 (authors).
        beta_2_1d: beta_2 of other shapes. Default 0.95 (authors).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros; not for matrices with "lion".
        previous_grad: the variable's shape, compute dtype, zeros; only for matrices.

    Differs from:
        paper: its exact form takes both gradients on the new batch; this is MARS-approx.
        authors' code: no difference; it has lr_1d and weight_decay_1d besides, an amsgrad, and a
            "shampoo" direction (Newton-Schulz; here Muon).

    Source:
        Yuan et al., "MARS: Unleashing the Power of Variance Reduction for Training Large
        Models", 2024, https://arxiv.org/abs/2411.10438, https://github.com/AGI-Arena/MARS
    """

    learning_rate = Hyper(3e-3, check=checks.non_negative)
    beta_1 = Hyper(0.95, check=checks.unit_interval)
    beta_2 = Hyper(0.99, check=checks.unit_interval)
    gamma = Hyper(0.025, check=checks.non_negative)
    epsilon = Hyper(1e-8, check=checks.non_negative)
    direction = Hyper("adamw", static=True, check=checks.one_of("adamw", "lion"))
    beta_1_1d = Hyper(0.9, check=checks.unit_interval)
    beta_2_1d = Hyper(0.95, check=checks.unit_interval)

    momentum = Slot()
    velocity = Slot(when=lambda rule, shape: rule.direction != "lion" or len(shape) != 2)
    previous_grad = Slot(when=lambda rule, shape: len(shape) == 2)

    def update(self, grad, var, slots, hyper, ops):
        beta_1, beta_2 = hyper.beta_1_1d, hyper.beta_2_1d
        corrected, new_slots = grad, {}
        if "previous_grad" in slots:
            beta_1, beta_2 = hyper.beta_1, hyper.beta_2
            weight = hyper.gamma * beta_1 / (1 - beta_1)
            corrected = grad + weight * (grad - slots.previous_grad)
            corrected = corrected / ops.maximum(1.0, ops.vector_norm(corrected))
            new_slots["previous_grad"] = grad
        momentum = beta_1 * slots.momentum + (1 - beta_1) * corrected
        new_slots["momentum"] = momentum
        if "velocity" not in slots:
            return var - hyper.learning_rate * ops.sign(momentum), new_slots
        velocity = beta_2 * slots.velocity + (1 - beta_2) * ops.square(corrected)
        new_slots["velocity"] = velocity
        root = ops.sqrt(velocity / (1 - beta_2 ** hyper.step)) + hyper.epsilon
        step = momentum / (1 - beta_1 ** hyper.step) / root
        return var - hyper.learning_rate * step, new_slots
