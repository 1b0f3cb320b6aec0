"""Evolved sign momentum."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class Lion(UpdateRule):
    """Lion: the sign of an interpolation between momentum and gradient.

    var = var - learning_rate * sign(beta_1 * momentum + (1 - beta_1) * grad)
    momentum = beta_2 * momentum + (1 - beta_2) * grad

    Args:
        learning_rate: step size. Default 0.001 (Keras 3; paper and Keras 2 1e-4).
        beta_1: weight of the momentum in the direction. Default 0.9 (paper, Keras).
        beta_2: decay of the momentum. Default 0.99 (paper, Keras).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.

    Differs from:
        paper, Keras, optax: no difference in the formula.
        complex variables: sign(z) is z / |z|.

    Source:
        Chen et al., "Symbolic Discovery of Optimization Algorithms", 2023,
        https://arxiv.org/abs/2302.06675
    """

    capabilities = ("complex",)

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.closed_unit_interval)
    beta_2 = Hyper(0.99, check=checks.unit_interval)

    momentum = Slot()

    def update(self, grad, var, slots, hyper, ops):
        direction = ops.sign(hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * grad)
        momentum = hyper.beta_2 * slots.momentum + (1 - hyper.beta_2) * grad
        return var - hyper.learning_rate * direction, {"momentum": momentum}
