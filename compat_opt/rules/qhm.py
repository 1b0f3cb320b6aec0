"""Quasi-hyperbolic momentum."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class QHM(UpdateRule):
    """QHM: the weighted mean of a gradient step and a momentum step.

    momentum = beta * momentum + (1 - beta) * grad
    var = var - learning_rate * ((1 - nu) * grad + nu * momentum)

    Args:
        learning_rate: step size; ten times that of SGD with momentum 0.9. Default 1.0 (paper).
        beta: decay of the momentum. Default 0.999 (paper).
        nu: weight of the momentum. Default 0.7 (paper).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.

    Differs from:
        paper and authors' code: no difference.

    Source:
        Ma and Yarats, "Quasi-hyperbolic momentum and Adam for deep learning", 2019,
        https://arxiv.org/abs/1810.06801, https://github.com/facebookresearch/qhoptim
    """

    capabilities = ("complex",)

    learning_rate = Hyper(1.0, check=checks.non_negative)
    beta = Hyper(0.999, check=checks.unit_interval)
    nu = Hyper(0.7, check=checks.closed_unit_interval)

    momentum = Slot()

    def update(self, grad, var, slots, hyper, ops):
        momentum = hyper.beta * slots.momentum + (1 - hyper.beta) * grad
        direction = (1 - hyper.nu) * grad + hyper.nu * momentum
        return var - hyper.learning_rate * direction, {"momentum": momentum}
