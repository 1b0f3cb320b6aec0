"""Adam that converges with any beta_2."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class ADOPT(UpdateRule):
    """ADOPT: the gradient over the past root mean square, then momentum.

    step 1: velocity = |grad|^2, and nothing else
    ratio = grad / max(sqrt(velocity), epsilon), of the velocity before this step
    clipped: ratio = clip(ratio, -(t - 1)^0.25, (t - 1)^0.25)
    momentum = beta_1 * momentum + (1 - beta_1) * ratio
    var = var - learning_rate * momentum
    velocity = beta_2 * velocity + (1 - beta_2) * |grad|^2

    Args:
        learning_rate: step size. Default 0.001 (authors).
        beta_1: decay of the momentum. Default 0.9 (authors).
        beta_2: decay of the mean square. Default 0.9999 (authors).
        epsilon: least root. Default 1e-6 (authors).
        clipped: whether ratios are clipped. Default True (authors' code, second version).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros.

    Differs from:
        paper: its Algorithm 1 has no clipping (clipped=False).
        authors' code and optax: no difference.

    Source:
        Taniguchi et al., "ADOPT: Modified Adam Can Converge with Any beta_2 with the Optimal
        Rate", 2024, https://arxiv.org/abs/2411.02853, https://github.com/iShohei220/adopt
    """

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.9999, check=checks.unit_interval)
    epsilon = Hyper(1e-6, check=checks.positive)
    clipped = Hyper(True, static=True)

    momentum = Slot()
    velocity = Slot()

    def prepare(self, shared, hyper, ops):
        limit = (hyper.step - 1) ** 0.25
        if not self.clipped:
            limit = ops.where(hyper.step == 1, 0.0, float("inf"))
        return {"limit": limit, "kept": ops.where(hyper.step == 1, 0.0, hyper.beta_2)}

    def update(self, grad, var, slots, hyper, ops):
        ratio = grad / ops.maximum(ops.sqrt(slots.velocity), hyper.epsilon)
        ratio = ops.clip(ratio, -hyper.limit, hyper.limit)
        momentum = hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * ratio
        velocity = hyper.kept * slots.velocity + (1 - hyper.kept) * ops.square(grad)
        new_var = var - hyper.learning_rate * momentum
        return new_var, {"momentum": momentum, "velocity": velocity}
