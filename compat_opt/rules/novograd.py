"""Moments normalized by layer."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class NovoGrad(UpdateRule):
    """NovoGrad: momentum over gradients that are normalized by each variable's norm.

    velocity = beta_2 * velocity + (1 - beta_2) * ||grad||^2, or ||grad||^2 at the first step
    amsgrad: velocity_hat = max(velocity_hat, velocity), used in place of velocity
    direction = grad / (sqrt(velocity) + epsilon) + decay_in_momentum * var
    grad_averaging: direction = (1 - beta_1) * direction, but for the first step
    momentum = beta_1 * momentum + direction
    var = var - learning_rate * momentum

    Args:
        learning_rate: step size. Default 0.001 (TFA; paper 0.01).
        beta_1: decay of the momentum. Default 0.9 (TFA; paper 0.95).
        beta_2: decay of the norm. Default 0.999 (TFA; paper 0.98).
        epsilon: added to the root. Default 1e-7 (TFA; paper 1e-8).
        amsgrad: whether the norm may never shrink. Default False (TFA).
        grad_averaging: whether the momentum is an average. Default False (TFA, paper).
        decay_in_momentum: weight decay inside the momentum. Default 0.0 (TFA).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: a scalar, real dtype, 0.
        velocity_hat: a scalar, real dtype, 0; only with amsgrad.

    Differs from:
        paper: no difference.
        TFA: its weight_decay is decay_in_momentum; the learning rate is inside its momentum,
            which is the same while it is constant; its vhat has the variable's shape.
        optax: no difference; it has no grad_averaging.

    Source:
        Ginsburg et al., "Stochastic Gradient Methods with Layer-wise Adaptive Moments for
        Training of Deep Networks", 2019, https://arxiv.org/abs/1905.11286
    """

    capabilities = ("complex",)

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    epsilon = Hyper(1e-7, check=checks.non_negative)
    amsgrad = Hyper(False, static=True)
    grad_averaging = Hyper(False, static=True)
    decay_in_momentum = Hyper(0.0, check=checks.non_negative)

    momentum = Slot()
    velocity = Slot(shape=lambda shape: (), dtype="real")
    velocity_hat = Slot(
        shape=lambda shape: (), dtype="real", when=lambda rule, shape: rule.amsgrad
    )

    def prepare(self, shared, hyper, ops):
        first = hyper.step == 1
        return {
            "kept": ops.where(first, 0.0, hyper.beta_2),
            "direction_weight": ops.where(first, 1.0, 1 - hyper.beta_1),
        }

    def update(self, grad, var, slots, hyper, ops):
        square = ops.square(ops.vector_norm(grad))
        velocity = hyper.kept * slots.velocity + (1 - hyper.kept) * square
        new_slots = {"velocity": velocity}
        if self.amsgrad:
            velocity = ops.maximum(slots.velocity_hat, velocity)
            new_slots["velocity_hat"] = velocity
        direction = grad / (ops.sqrt(velocity) + hyper.epsilon) + hyper.decay_in_momentum * var
        if self.grad_averaging:
            direction = hyper.direction_weight * direction
        new_slots["momentum"] = hyper.beta_1 * slots.momentum + direction
        return var - hyper.learning_rate * new_slots["momentum"], new_slots
