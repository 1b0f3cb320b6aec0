"""Resilient backpropagation."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class Rprop(UpdateRule):
    """Rprop: step sizes that grow while a gradient keeps its sign, and shrink when it turns.

    agreement = grad * previous_grad
    factor = factor * (eta_plus if agreement > 0, eta_minus if agreement < 0, else 1)
    factor = clip(factor, factor_min, factor_max)
    previous_grad = 0 if agreement < 0, else grad
    var = var - learning_rate * factor * sign(previous_grad)

    Args:
        learning_rate: first step size. Default 0.01 (torch).
        eta_minus: shrinks a step. Default 0.5 (paper, torch).
        eta_plus: grows a step. Default 1.2 (paper, torch).
        factor_min: least step size over learning_rate. Default 0.0001 (torch).
        factor_max: largest step size over learning_rate. Default 5000.0 (torch).

    Slots:
        factor: the variable's shape, compute dtype, ones.
        previous_grad: the variable's shape, compute dtype, zeros.

    Differs from:
        paper: takes the last step back when a gradient turns; this is Rprop- of Igel and Huesken
            (2000), as in torch. It is meant for full batches.
        torch: its bounds are step sizes: learning_rate times these. A schedule scales all steps
            here.
        optax: does not move at the first step.

    Source:
        Riedmiller and Braun, "A direct adaptive method for faster backpropagation learning: the
        RPROP algorithm", 1993, https://doi.org/10.1109/ICNN.1993.298623
    """

    learning_rate = Hyper(0.01, check=checks.non_negative)
    eta_minus = Hyper(0.5, check=checks.positive)
    eta_plus = Hyper(1.2, check=checks.positive)
    factor_min = Hyper(1e-4, check=checks.positive)
    factor_max = Hyper(5000.0, check=checks.positive)

    factor = Slot("ones")
    previous_grad = Slot()

    def update(self, grad, var, slots, hyper, ops):
        agreement = ops.sign(grad) * slots.previous_grad
        growth = ops.where(agreement > 0, hyper.eta_plus, 1.0)
        growth = ops.where(agreement < 0, hyper.eta_minus, growth)
        factor = ops.clip(slots.factor * growth, hyper.factor_min, hyper.factor_max)
        kept = ops.where(agreement < 0, 0.0, grad)
        new_var = var - hyper.learning_rate * factor * ops.sign(kept)
        return new_var, {"factor": factor, "previous_grad": kept}
