"""Adaptive moment estimation."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class Adam(UpdateRule):
    """Adam: momentum, divided by the root of the mean squared gradient.

    momentum = beta_1 * momentum + (1 - beta_1) * grad
    velocity = beta_2 * velocity + (1 - beta_2) * |grad|^2
    amsgrad: velocity_hat = max(velocity_hat, velocity), used in place of velocity
    step_size = learning_rate * sqrt(1 - beta_2^t) / (1 - beta_1^t)
    var = var - step_size * momentum / (sqrt(velocity) + epsilon)

    Args:
        learning_rate: step size. Default 0.001 (paper, Keras).
        beta_1: decay of the momentum. Default 0.9 (paper, Keras).
        beta_2: decay of the mean square. Default 0.999 (paper, Keras).
        epsilon: added to the root. Default 1e-7 (Keras; paper 1e-8).
        amsgrad: whether the mean square may never shrink. Default False (Keras).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros.
        velocity_hat: the variable's shape, real dtype, zeros; only with amsgrad.

    Differs from:
        paper: epsilon is the "epsilon hat" of the formula before section 2.1, as in TF and
            Keras; in Algorithm 1, torch and optax it is added after the bias correction, which
            makes it smaller by sqrt(1 - beta_2^t) here.
        amsgrad paper: no bias correction there; TF, Keras, torch and this rule correct by t of
            now; optax takes the maximum of corrected values.
        complex variables: |grad|^2 is used; TF and Keras square the complex number.

    Source:
        Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015,
        https://arxiv.org/abs/1412.6980; Reddi et al., "On the Convergence of Adam and Beyond",
        2018, https://arxiv.org/abs/1904.09237
    """

    capabilities = ("complex",)

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    epsilon = Hyper(1e-7, check=checks.non_negative)
    amsgrad = Hyper(False, static=True)

    momentum = Slot()
    velocity = Slot()
    velocity_hat = Slot(dtype="real", when=lambda rule, shape: rule.amsgrad)

    def prepare(self, shared, hyper, ops):
        correction_1 = 1 - hyper.beta_1 ** hyper.step
        correction_2 = 1 - hyper.beta_2 ** hyper.step
        return {"step_size": hyper.learning_rate * ops.sqrt(correction_2) / correction_1}

    def update(self, grad, var, slots, hyper, ops):
        momentum = hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * grad
        velocity = hyper.beta_2 * slots.velocity + (1 - hyper.beta_2) * ops.abs_square(grad)
        new_slots = {"momentum": momentum, "velocity": velocity}
        if self.amsgrad:
            velocity = ops.maximum(slots.velocity_hat, ops.real(velocity))
            new_slots["velocity_hat"] = velocity
        return var - hyper.step_size * momentum / (ops.sqrt(velocity) + hyper.epsilon), new_slots
