"""Diagonal quasi-Newton steps."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class Apollo(UpdateRule):
    """Apollo: momentum over a diagonal Hessian that is learned from changes of the momentum.

    alpha = (1 - beta) / (1 - beta^t)
    change = grad - momentum
    momentum = momentum + alpha * change
    bound = 0.01, or max|change| with rebound "belief"
    e = epsilon / 0.01, or epsilon with "belief"
    norm = (sum of direction^4)^(1/4) + e
    unit = direction / norm
    curvature = -alpha * sum(change / norm * unit) - sum(hessian * unit^2)
    hessian = hessian + curvature * unit^2
    direction = momentum / max(|hessian|, bound), plus e / alpha in the divisor with "belief"
    var = var - learning_rate * direction

    Args:
        learning_rate: step size; with a warm-up up to 1. Default 0.01 (pytorch-optimizer).
        beta: decay of the momentum. Default 0.9 (authors).
        epsilon: added to the direction's norm. Default 1e-4 (authors).
        rebound: "constant" or "belief". Default "constant" (authors).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        hessian: the variable's shape, compute dtype, zeros.
        direction: the variable's shape, compute dtype, zeros.

    Differs from:
        paper: its Algorithm 1 has no epsilon / 0.01; it is as in the authors' code.
        authors' code: the warm-up (from init_lr over 500 steps) is a learning-rate schedule here;
            its weight decay is coupled, or "decoupled", or "stable" (over mean |hessian|).

    Source:
        Ma, "Apollo: An Adaptive Parameter-wise Diagonal Quasi-Newton Method for Nonconvex
        Stochastic Optimization", 2020, https://arxiv.org/abs/2009.13586,
        https://github.com/XuezheMax/apollo
    """

    learning_rate = Hyper(0.01, check=checks.non_negative)
    beta = Hyper(0.9, check=checks.unit_interval)
    epsilon = Hyper(1e-4, check=checks.positive)
    rebound = Hyper("constant", static=True, check=checks.one_of("constant", "belief"))

    momentum = Slot()
    hessian = Slot()
    direction = Slot()

    def prepare(self, shared, hyper, ops):
        return {"alpha": (1 - hyper.beta) / (1 - hyper.beta ** hyper.step)}

    def update(self, grad, var, slots, hyper, ops):
        change = grad - slots.momentum
        momentum = slots.momentum + hyper.alpha * change
        bound, epsilon = 0.01, hyper.epsilon / 0.01
        if self.rebound == "belief":
            bound, epsilon = ops.max(ops.abs(change)), hyper.epsilon
        norm = ops.sum(slots.direction ** 4) ** 0.25 + epsilon
        unit = slots.direction / norm
        secant = -hyper.alpha * ops.sum(change / norm * unit)
        curvature = secant - ops.sum(slots.hessian * ops.square(unit))
        hessian = slots.hessian + curvature * ops.square(unit)
        divisor = ops.maximum(ops.abs(hessian), bound)
        if self.rebound == "belief":
            divisor = divisor + epsilon / hyper.alpha
        direction = momentum / divisor
        new_slots = {"momentum": momentum, "hessian": hessian, "direction": direction}
        return var - hyper.learning_rate * direction, new_slots
