"""Second-order clipped momentum."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class Sophia(UpdateRule):
    """Sophia: momentum over a diagonal Hessian estimate, clipped element by element.

    momentum = beta_1 * momentum + (1 - beta_1) * grad
    at steps 1, 1 + update_period, ...: hessian = beta_2 * hessian + (1 - beta_2) * estimate
    estimator "given": estimate = hessian_estimate, which the user writes
    estimator "squared_gradient": estimate = batch_size * grad^2
    var = var - learning_rate * clip(momentum / max(gamma * hessian, epsilon), -1, 1)

    Args:
        learning_rate: step size. Default 0.0001 (paper's range).
        beta_1: decay of the momentum. Default 0.96 (paper).
        beta_2: decay of the Hessian. Default 0.99 (paper).
        gamma: the Hessian's weight; smaller clips more. Default 0.01 (paper, Hutchinson).
        epsilon: least curvature. Default 1e-12 (paper).
        update_period: steps between Hessian updates. Default 10 (paper).
        estimator: "given" or "squared_gradient". Default "given" (this package).
        batch_size: scales the squared gradient. Default 1.0 (this package).
        initial_estimate: what hessian_estimate is before it is written. Default 0.0 (this package).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        hessian: the variable's shape, compute dtype, zeros.
        hessian_estimate: the variable's shape, compute dtype, initial_estimate; never changed by
            the rule; only with estimator "given".

    Differs from:
        paper: the estimate is taken inside the optimizer there (Hutchinson's, or the squared
            gradient of sampled labels): write it to the slot before the steps that use it.
            "squared_gradient" takes the loss's own gradient instead of that of sampled labels.
        authors' code (Sophia-G): clips |momentum| / (rho * batch_size * hessian + 1e-15) at 1.
        optax: the same with Hutchinson's estimate made by the optimizer.

    Source:
        Liu et al., "Sophia: A Scalable Stochastic Second-order Optimizer for Language Model
        Pre-training", 2023, https://arxiv.org/abs/2305.14342
    """

    constant_slots = ("hessian_estimate",)

    learning_rate = Hyper(1e-4, check=checks.non_negative)
    beta_1 = Hyper(0.96, check=checks.unit_interval)
    beta_2 = Hyper(0.99, check=checks.unit_interval)
    gamma = Hyper(0.01, check=checks.non_negative)
    epsilon = Hyper(1e-12, check=checks.positive)
    update_period = Hyper(10, static=True, check=checks.positive)
    estimator = Hyper("given", static=True, check=checks.one_of("given", "squared_gradient"))
    batch_size = Hyper(1.0, check=checks.positive)
    initial_estimate = Hyper(0.0, static=True)

    momentum = Slot()
    hessian = Slot()
    hessian_estimate = Slot(
        init=initial_estimate, when=lambda rule, shape: rule.estimator == "given"
    )

    def prepare(self, shared, hyper, ops):
        done = (hyper.step - 1) / self.update_period
        return {"kept": ops.where(done == ops.floor(done), hyper.beta_2, 1.0)}

    def update(self, grad, var, slots, hyper, ops):
        if self.estimator == "given":
            estimate = slots.hessian_estimate
        else:
            estimate = hyper.batch_size * ops.square(grad)
        momentum = hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * grad
        hessian = hyper.kept * slots.hessian + (1 - hyper.kept) * estimate
        curvature = ops.maximum(hyper.gamma * hessian, hyper.epsilon)
        new_var = var - hyper.learning_rate * ops.clip(momentum / curvature, -1.0, 1.0)
        return new_var, {"momentum": momentum, "hessian": hessian}
