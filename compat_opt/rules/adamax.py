"""Adam with the infinity norm."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class Adamax(UpdateRule):
    """Adamax: Adam, with a decaying maximum in place of the root mean square.

    momentum = beta_1 * momentum + (1 - beta_1) * grad
    norm = max(beta_2 * norm, |grad|)
    var = var - learning_rate / (1 - beta_1^t) * momentum / (norm + epsilon)

    Args:
        learning_rate: step size. Default 0.001 (Keras; paper and torch 0.002).
        beta_1: decay of the momentum. Default 0.9 (paper, Keras).
        beta_2: decay of the maximum. Default 0.999 (paper, Keras).
        epsilon: added to the maximum. Default 1e-7 (Keras).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        norm: the variable's shape, real dtype, zeros.

    Differs from:
        paper: no epsilon there.
        TF and Keras: no difference.
        torch: epsilon inside the maximum, |grad| + 1e-8. optax: the same as torch.

    Source:
        Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015, section 7.1,
        https://arxiv.org/abs/1412.6980
    """

    capabilities = ("complex",)

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.closed_unit_interval)
    epsilon = Hyper(1e-7, check=checks.non_negative)

    momentum = Slot()
    norm = Slot(dtype="real")

    def prepare(self, shared, hyper, ops):
        return {"step_size": hyper.learning_rate / (1 - hyper.beta_1 ** hyper.step)}

    def update(self, grad, var, slots, hyper, ops):
        momentum = hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * grad
        norm = ops.maximum(hyper.beta_2 * slots.norm, ops.abs(grad))
        new_var = var - hyper.step_size * momentum / (norm + hyper.epsilon)
        return new_var, {"momentum": momentum, "norm": norm}
