"""Momentumized dual averaging with adaptive steps."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class MADGRAD(UpdateRule):
    """MADGRAD: dual averaging in the cube root of the weighted sum of squares.

    weight = learning_rate * sqrt(t)
    gradient_sum = gradient_sum + weight * grad
    square_sum = square_sum + weight * grad^2
    z = first_value - gradient_sum / (square_sum^(1/3) + epsilon)
    var = momentum * var + (1 - momentum) * z

    Args:
        learning_rate: step size. Default 0.01 (authors).
        momentum: weight of the old value. Default 0.9 (authors).
        epsilon: added to the cube root. Default 1e-6 (authors).

    Slots:
        gradient_sum: the variable's shape, compute dtype, zeros.
        square_sum: the variable's shape, compute dtype, zeros.
        first_value: the variable's shape, compute dtype, a copy of the variable.

    Differs from:
        paper: no difference.
        authors' code and optax: they take learning_rate + epsilon for the learning rate.

    Source:
        Defazio and Jelassi, "Adaptivity without Compromise: A Momentumized, Adaptive, Dual
        Averaged Gradient Method for Stochastic Optimization", 2021,
        https://arxiv.org/abs/2101.11075
    """

    constant_slots = ("first_value",)

    learning_rate = Hyper(0.01, check=checks.non_negative)
    momentum = Hyper(0.9, check=checks.unit_interval)
    epsilon = Hyper(1e-6, check=checks.positive)

    gradient_sum = Slot()
    square_sum = Slot()
    first_value = Slot(init="variable")

    def prepare(self, shared, hyper, ops):
        return {"weight": hyper.learning_rate * ops.sqrt(hyper.step)}

    def update(self, grad, var, slots, hyper, ops):
        gradient_sum = slots.gradient_sum + hyper.weight * grad
        square_sum = slots.square_sum + hyper.weight * ops.square(grad)
        z = slots.first_value - gradient_sum / (square_sum ** (1 / 3) + hyper.epsilon)
        new_var = hyper.momentum * var + (1 - hyper.momentum) * z
        return new_var, {"gradient_sum": gradient_sum, "square_sum": square_sum}
