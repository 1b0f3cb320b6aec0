"""A PID controller on the gradient."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class PID(UpdateRule):
    """PID: the gradient, its decaying sum and its decaying change.

    total = momentum * total + grad
    change = momentum * change + (1 - momentum) * (grad - previous_grad), 0 at the first step
    var = var - learning_rate * (grad + integral * total + derivative * change)
    previous_grad = grad

    Args:
        learning_rate: step size. Default 0.01 (authors' examples).
        momentum: decay of sum and change. Default 0.9 (authors).
        integral: weight of the sum. Default 5.0 (authors).
        derivative: weight of the change. Default 10.0 (authors).

    Slots:
        total: the variable's shape, compute dtype, zeros.
        change: the variable's shape, compute dtype, zeros.
        previous_grad: the variable's shape, compute dtype, zeros.

    Differs from:
        paper: the learning rate is inside its sum; the weights are K_i and K_d there.
        authors' code: no difference without dampening.

    Source:
        An et al., "A PID Controller Approach for Stochastic Optimization of Deep Networks", 2018,
        https://doi.org/10.1109/CVPR.2018.00889, https://github.com/tensorboy/PIDOptimizer
    """

    capabilities = ("complex",)

    learning_rate = Hyper(0.01, check=checks.non_negative)
    momentum = Hyper(0.9, check=checks.unit_interval)
    integral = Hyper(5.0, check=checks.non_negative)
    derivative = Hyper(10.0, check=checks.non_negative)

    total = Slot()
    change = Slot()
    previous_grad = Slot()

    def prepare(self, shared, hyper, ops):
        return {"change_weight": ops.where(hyper.step > 1, 1 - hyper.momentum, 0.0)}

    def update(self, grad, var, slots, hyper, ops):
        total = hyper.momentum * slots.total + grad
        change = hyper.momentum * slots.change + hyper.change_weight * (grad - slots.previous_grad)
        step = grad + hyper.integral * total + hyper.derivative * change
        new_slots = {"total": total, "change": change, "previous_grad": grad}
        return var - hyper.learning_rate * step, new_slots
