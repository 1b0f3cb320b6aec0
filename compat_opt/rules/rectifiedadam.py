"""Adam with a rectified warm-up."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class RectifiedAdam(UpdateRule):
    """RectifiedAdam: Adam whose step is scaled by the variance of its own mean square.

    momentum = beta_1 * momentum + (1 - beta_1) * grad
    velocity = beta_2 * velocity + (1 - beta_2) * |grad|^2
    amsgrad: velocity_hat = max(velocity_hat, velocity), used in place of velocity
    sma_inf = 2 / (1 - beta_2) - 1
    sma = sma_inf - 2 * t * beta_2^t / (1 - beta_2^t)
    r = sqrt((sma - 4) * (sma - 2) * sma_inf / ((sma_inf - 4) * (sma_inf - 2) * sma))
    m_hat = momentum / (1 - beta_1^t)
    var = var - learning_rate * r * m_hat / (sqrt(velocity / (1 - beta_2^t)) + epsilon)
    while sma < sma_threshold: var = var - learning_rate * m_hat

    Args:
        learning_rate: step size. Default 0.001 (TFA, authors).
        beta_1: decay of the momentum. Default 0.9 (TFA, authors).
        beta_2: decay of the mean square. Default 0.999 (TFA, authors).
        epsilon: added to the root. Default 1e-7 (TFA; authors 1e-8).
        amsgrad: whether the mean square may never shrink. Default False (TFA).
        sma_threshold: least length of the average that is trusted. Default 5.0 (TFA, authors).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros.
        velocity_hat: the variable's shape, real dtype, zeros; only with amsgrad.

    Differs from:
        paper: the threshold is 4 and exclusive there; authors' code and TFA take 5.
        TFA: its total_steps, warmup_proportion and min_lr are a learning-rate schedule; its
            weight decay acts after the moments.
        torch: epsilon inside the bias correction. optax: no difference.

    Source:
        Liu et al., "On the Variance of the Adaptive Learning Rate and Beyond", 2020,
        https://arxiv.org/abs/1908.03265
    """

    capabilities = ("complex",)

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    epsilon = Hyper(1e-7, check=checks.non_negative)
    amsgrad = Hyper(False, static=True)
    sma_threshold = Hyper(5.0, check=checks.at_least(4))

    momentum = Slot()
    velocity = Slot()
    velocity_hat = Slot(dtype="real", when=lambda rule, shape: rule.amsgrad)

    def prepare(self, shared, hyper, ops):
        power = hyper.beta_2 ** hyper.step
        sma_inf = 2 / (1 - hyper.beta_2) - 1
        sma = sma_inf - 2 * hyper.step * power / (1 - power)
        ratio = (sma - 4) * (sma - 2) * sma_inf / ((sma_inf - 4) * (sma_inf - 2) * sma)
        return {
            "correction_1": 1 - hyper.beta_1 ** hyper.step,
            "correction_2": 1 - power,
            "rectified": sma >= hyper.sma_threshold,
            "rectifier": ops.sqrt(ratio),
        }

    def update(self, grad, var, slots, hyper, ops):
        momentum = hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * grad
        velocity = hyper.beta_2 * slots.velocity + (1 - hyper.beta_2) * ops.abs_square(grad)
        new_slots = {"momentum": momentum, "velocity": velocity}
        if self.amsgrad:
            velocity = ops.maximum(slots.velocity_hat, ops.real(velocity))
            new_slots["velocity_hat"] = velocity
        plain = momentum / hyper.correction_1
        root = ops.sqrt(velocity / hyper.correction_2) + hyper.epsilon
        step = ops.where(hyper.rectified, hyper.rectifier * plain / root, plain)
        return var - hyper.learning_rate * step, new_slots
