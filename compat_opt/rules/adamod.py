"""Adam with a momental bound on its step sizes."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class AdaMod(UpdateRule):
    """AdaMod: Adam whose step sizes stay below their own running mean.

    momentum = beta_1 * momentum + (1 - beta_1) * grad
    velocity = beta_2 * velocity + (1 - beta_2) * grad^2
    rate = learning_rate * sqrt(1 - beta_2^t) / (1 - beta_1^t) / (sqrt(velocity) + epsilon)
    mean_rate = beta_3 * mean_rate + (1 - beta_3) * rate
    var = var - min(rate, mean_rate) * momentum

    Args:
        learning_rate: step size. Default 0.001 (authors).
        beta_1: decay of the momentum. Default 0.9 (authors).
        beta_2: decay of the mean square. Default 0.999 (authors).
        beta_3: decay of the mean rate. Default 0.999 (authors).
        epsilon: added to the root. Default 1e-8 (authors).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros.
        mean_rate: the variable's shape, compute dtype, zeros.

    Differs from:
        paper: epsilon is added before the bias correction here, as in the authors' code.
        authors' code: no difference.

    Source:
        Ding et al., "An Adaptive and Momental Bound Method for Stochastic Learning", 2019,
        https://arxiv.org/abs/1910.12249, https://github.com/lancopku/AdaMod
    """

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    beta_3 = Hyper(0.999, check=checks.unit_interval)
    epsilon = Hyper(1e-8, check=checks.positive)

    momentum = Slot()
    velocity = Slot()
    mean_rate = Slot()

    def prepare(self, shared, hyper, ops):
        correction_1 = 1 - hyper.beta_1 ** hyper.step
        correction_2 = 1 - hyper.beta_2 ** hyper.step
        return {"step_size": hyper.learning_rate * ops.sqrt(correction_2) / correction_1}

    def update(self, grad, var, slots, hyper, ops):
        momentum = hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * grad
        velocity = hyper.beta_2 * slots.velocity + (1 - hyper.beta_2) * ops.square(grad)
        rate = hyper.step_size / (ops.sqrt(velocity) + hyper.epsilon)
        mean_rate = hyper.beta_3 * slots.mean_rate + (1 - hyper.beta_3) * rate
        new_slots = {"momentum": momentum, "velocity": velocity, "mean_rate": mean_rate}
        return var - ops.minimum(rate, mean_rate) * momentum, new_slots
