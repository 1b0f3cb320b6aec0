"""Quasi-hyperbolic Adam."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class QHAdam(UpdateRule):
    """QHAdam: Adam with weighted means of the gradient and its moments.

    momentum = beta_1 * momentum + (1 - beta_1) * grad
    velocity = beta_2 * velocity + (1 - beta_2) * |grad|^2
    top = (1 - nu_1) * grad + nu_1 * momentum / (1 - beta_1^t)
    square = (1 - nu_2) * |grad|^2 + nu_2 * velocity / (1 - beta_2^t)
    var = var - learning_rate * top / (sqrt(square) + epsilon)

    Args:
        learning_rate: step size. Default 0.001 (authors).
        beta_1: decay of the momentum. Default 0.995 (paper).
        beta_2: decay of the mean square. Default 0.999 (paper).
        nu_1: weight of the momentum. Default 0.7 (paper).
        nu_2: weight of the mean square. Default 1.0 (paper).
        epsilon: added to the root. Default 1e-8 (authors).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros.

    Differs from:
        paper: no difference.
        authors' code: the defaults there are nu_1=1, beta_1=0.9, which is Adam; it keeps
            corrected moments, the same numbers.

    Source:
        Ma and Yarats, "Quasi-hyperbolic momentum and Adam for deep learning", 2019,
        https://arxiv.org/abs/1810.06801, https://github.com/facebookresearch/qhoptim
    """

    capabilities = ("complex",)

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    beta_1 = Hyper(0.995, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    nu_1 = Hyper(0.7)
    nu_2 = Hyper(1.0, check=checks.closed_unit_interval)
    epsilon = Hyper(1e-8, check=checks.non_negative)

    momentum = Slot()
    velocity = Slot()

    def prepare(self, shared, hyper, ops):
        return {
            "momentum_weight": hyper.nu_1 / (1 - hyper.beta_1 ** hyper.step),
            "velocity_weight": hyper.nu_2 / (1 - hyper.beta_2 ** hyper.step),
        }

    def update(self, grad, var, slots, hyper, ops):
        square = ops.abs_square(grad)
        momentum = hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * grad
        velocity = hyper.beta_2 * slots.velocity + (1 - hyper.beta_2) * square
        top = (1 - hyper.nu_1) * grad + hyper.momentum_weight * momentum
        bottom = (1 - hyper.nu_2) * square + hyper.velocity_weight * velocity
        new_var = var - hyper.learning_rate * top / (ops.sqrt(bottom) + hyper.epsilon)
        return new_var, {"momentum": momentum, "velocity": velocity}
