"""Adam with the gradient's deviation in place of its square."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class AdaBelief(UpdateRule):
    """AdaBelief: steps are large where the gradient is close to its running mean.

    momentum = beta_1 * momentum + (1 - beta_1) * grad
    deviation = beta_2 * deviation + (1 - beta_2) * |grad - momentum|^2 + epsilon
    amsgrad: deviation_hat = max(deviation_hat, deviation), used in place of deviation
    m_hat = momentum / (1 - beta_1^t)
    step = m_hat / (sqrt(deviation / (1 - beta_2^t)) + epsilon)
    rectify: step = r * step, or m_hat while sma < sma_threshold (as in RectifiedAdam)
    var = var - learning_rate * step

    Args:
        learning_rate: step size. Default 0.001 (TFA, authors).
        beta_1: decay of the momentum. Default 0.9 (TFA, authors).
        beta_2: decay of the deviation. Default 0.999 (TFA, authors).
        epsilon: added to the deviation at each step, and to its root. Default 1e-14 (TFA; authors
            1e-16).
        amsgrad: whether the deviation may never shrink. Default False (TFA).
        rectify: whether to rectify as RectifiedAdam. Default True (TFA, authors' code).
        sma_threshold: least length of the average that is trusted. Default 5.0 (TFA, authors).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        deviation: the variable's shape, compute dtype, zeros.
        deviation_hat: the variable's shape, real dtype, zeros; only with amsgrad.

    Differs from:
        paper: no rectification (rectify=False).
        TFA: its total_steps, warmup_proportion and min_lr are a learning-rate schedule; its
            weight decay acts after the moments.
        authors' code: with rectify, adds epsilon to the root before the bias correction.
        optax: no difference with rectify=False; its epsilon is 1e-16.

    Source:
        Zhuang et al., "AdaBelief Optimizer: Adapting Stepsizes by the Belief in Observed
        Gradients", 2020, https://arxiv.org/abs/2010.07468
    """

    capabilities = ("complex",)

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    epsilon = Hyper(1e-14, check=checks.non_negative)
    amsgrad = Hyper(False, static=True)
    rectify = Hyper(True, static=True)
    sma_threshold = Hyper(5.0, check=checks.at_least(4))

    momentum = Slot()
    deviation = Slot()
    deviation_hat = Slot(dtype="real", when=lambda rule, shape: rule.amsgrad)

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
        surprise = ops.abs_square(grad - momentum)
        deviation = hyper.beta_2 * slots.deviation + (1 - hyper.beta_2) * surprise + hyper.epsilon
        new_slots = {"momentum": momentum, "deviation": deviation}
        if self.amsgrad:
            deviation = ops.maximum(slots.deviation_hat, ops.real(deviation))
            new_slots["deviation_hat"] = deviation
        plain = momentum / hyper.correction_1
        step = plain / (ops.sqrt(deviation / hyper.correction_2) + hyper.epsilon)
        if self.rectify:
            step = ops.where(hyper.rectified, hyper.rectifier * step, plain)
        return var - hyper.learning_rate * step, new_slots
