"""Averaged stochastic gradient descent."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class ASGD(UpdateRule):
    """ASGD: gradient descent with falling steps, beside the mean of its iterates.

    rate = learning_rate / (1 + lambd * learning_rate * (t - 1))^alpha
    var = var * (1 - lambd * rate) - rate * grad
    mean = mean + (var - mean) / max(1, t - 1 - t0)

    Args:
        learning_rate: step size of the start. Default 0.01 (torch).
        lambd: decay of weights and steps. Default 0.0001 (torch).
        alpha: power with which steps fall. Default 0.75 (torch, Xu).
        t0: step after which iterates are averaged. Default 1e6 (torch).

    Slots:
        mean: the variable's shape, compute dtype, a copy of the variable; equals it until t0.

    Differs from:
        paper: Polyak and Juditsky average all iterates (t0=0); steps are those of Xu (2011).
        torch: no difference; the slot is "ax". Evaluate with the mean.

    Source:
        Polyak and Juditsky, "Acceleration of stochastic approximation by averaging", 1992,
        https://doi.org/10.1137/0330046; Xu, "Towards Optimal One Pass Large Scale Learning with
        Averaged Stochastic Gradient Descent", 2011, https://arxiv.org/abs/1107.2490
    """

    capabilities = ("complex", "averaged")

    learning_rate = Hyper(0.01, check=checks.non_negative)
    lambd = Hyper(1e-4, check=checks.non_negative)
    alpha = Hyper(0.75, check=checks.non_negative)
    t0 = Hyper(1e6, check=checks.non_negative)

    mean = Slot(init="variable")

    def prepare(self, shared, hyper, ops):
        fall = 1 + hyper.lambd * hyper.learning_rate * (hyper.step - 1)
        return {
            "rate": hyper.learning_rate / fall ** hyper.alpha,
            "weight": 1 / ops.maximum(1.0, hyper.step - 1 - hyper.t0),
        }

    def update(self, grad, var, slots, hyper, ops):
        new_var = var * (1 - hyper.lambd * hyper.rate) - hyper.rate * grad
        return new_var, {"mean": slots.mean + (new_var - slots.mean) * hyper.weight}

    def evaluate(self, var, slots, hyper, ops):
        return slots.mean
