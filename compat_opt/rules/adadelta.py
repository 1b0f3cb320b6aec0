"""Adaptive learning rates from accumulated steps."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class Adadelta(UpdateRule):
    """Adadelta: the gradient in units of past steps over past gradients.

    mean_square = rho * mean_square + (1 - rho) * |grad|^2
    step = grad * sqrt(mean_square_step + epsilon) / sqrt(mean_square + epsilon)
    mean_square_step = rho * mean_square_step + (1 - rho) * |step|^2
    var = var - learning_rate * step

    Args:
        learning_rate: multiplies the step. Default 0.001 (Keras; paper and torch 1.0).
        rho: decay of both means. Default 0.95 (paper, Keras; torch 0.9).
        epsilon: added to both means. Default 1e-7 (Keras; paper and torch 1e-6).

    Slots:
        mean_square: the variable's shape, compute dtype, zeros.
        mean_square_step: the variable's shape, compute dtype, zeros.

    Differs from:
        paper: has no learning rate (1.0).
        TF and Keras: no difference; the slots are accumulated_grad, accumulated_delta_var.
        torch and optax: no difference but the defaults.

    Source:
        Zeiler, "ADADELTA: An Adaptive Learning Rate Method", 2012,
        https://arxiv.org/abs/1212.5701
    """

    capabilities = ("complex",)

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    rho = Hyper(0.95, check=checks.unit_interval)
    epsilon = Hyper(1e-7, check=checks.non_negative)

    mean_square = Slot()
    mean_square_step = Slot()

    def update(self, grad, var, slots, hyper, ops):
        rho = hyper.rho
        mean_square = rho * slots.mean_square + (1 - rho) * ops.abs_square(grad)
        scale = ops.sqrt(slots.mean_square_step + hyper.epsilon)
        step = grad * scale / ops.sqrt(mean_square + hyper.epsilon)
        mean_square_step = rho * slots.mean_square_step + (1 - rho) * ops.abs_square(step)
        new_var = var - hyper.learning_rate * step
        return new_var, {"mean_square": mean_square, "mean_square_step": mean_square_step}
