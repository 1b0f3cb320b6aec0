"""Adam with a friction where gradients stop changing."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class DiffGrad(UpdateRule):
    """DiffGrad: Adam times the sigmoid of the gradient's change.

    momentum = beta_1 * momentum + (1 - beta_1) * grad
    velocity = beta_2 * velocity + (1 - beta_2) * grad^2
    friction = 1 / (1 + exp(-|previous_grad - grad|))
    step_size = learning_rate * sqrt(1 - beta_2^t) / (1 - beta_1^t)
    var = var - step_size * friction * momentum / (sqrt(velocity) + epsilon)
    previous_grad = grad

    Args:
        learning_rate: step size. Default 0.001 (authors).
        beta_1: decay of the momentum. Default 0.9 (authors).
        beta_2: decay of the mean square. Default 0.999 (authors).
        epsilon: added to the root. Default 1e-8 (authors).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros.
        previous_grad: the variable's shape, compute dtype, zeros.

    Differs from:
        paper: epsilon is added before the bias correction here, as in the authors' code.
        authors' code: no difference in its version with corrected friction (2020).

    Source:
        Dubey et al., "diffGrad: An Optimization Method for Convolutional Neural Networks", 2019,
        https://arxiv.org/abs/1909.11015, https://github.com/shivram1987/diffGrad
    """

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    epsilon = Hyper(1e-8, check=checks.non_negative)

    momentum = Slot()
    velocity = Slot()
    previous_grad = Slot()

    def prepare(self, shared, hyper, ops):
        correction_1 = 1 - hyper.beta_1 ** hyper.step
        correction_2 = 1 - hyper.beta_2 ** hyper.step
        return {"step_size": hyper.learning_rate * ops.sqrt(correction_2) / correction_1}

    def update(self, grad, var, slots, hyper, ops):
        momentum = hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * grad
        velocity = hyper.beta_2 * slots.velocity + (1 - hyper.beta_2) * ops.square(grad)
        friction = ops.sigmoid(ops.abs(slots.previous_grad - grad))
        step = friction * momentum / (ops.sqrt(velocity) + hyper.epsilon)
        new_slots = {"momentum": momentum, "velocity": velocity, "previous_grad": grad}
        return var - hyper.step_size * step, new_slots
