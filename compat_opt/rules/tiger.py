"""Tight-fisted sign momentum."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class Tiger(UpdateRule):
    """Tiger: the sign of the momentum; Lion with one beta, and Signum.

    momentum = beta * momentum + (1 - beta) * grad
    var = var - learning_rate * sign(momentum)

    Args:
        learning_rate: step size. Default 0.001 (author).
        beta: decay of the momentum. Default 0.965 (author).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.

    Differs from:
        paper: none; Signum (Bernstein et al., 2018, https://arxiv.org/abs/1802.04434) has the
            same formula and beta=0.9.
        author's code: weight_decay is 0.01 there, scales steps by each variable's root mean
            square and treats biases apart; here neither.

    Source:
        Su, "Tiger: A Tight-fisted Optimizer", 2023, https://kexue.fm/archives/9512,
        https://github.com/bojone/tiger
    """

    capabilities = ("complex",)

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    beta = Hyper(0.965, check=checks.unit_interval)

    momentum = Slot()

    def update(self, grad, var, slots, hyper, ops):
        momentum = hyper.beta * slots.momentum + (1 - hyper.beta) * grad
        return var - hyper.learning_rate * ops.sign(momentum), {"momentum": momentum}
