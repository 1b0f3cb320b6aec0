"""Adam by D-Adaptation."""

from compat_opt.spec import Hyper, Shared, Slot, UpdateRule, checks


class DAdaptAdam(UpdateRule):
    """DAdaptAdam: Adam with a learning rate from a lower bound of the distance to the solution.

    growth is the estimate d over its first value d_0; d = d_0 * growth
    rate = learning_rate * d, times sqrt(1 - beta_2^t) / (1 - beta_1^t) if bias_correction
    inner = sum over variables(rate * grad . gradient_sum / (sqrt(velocity) + epsilon))
    numerator = sqrt(beta_2) * numerator + (1 - sqrt(beta_2)) * inner
    momentum = beta_1 * momentum + (1 - beta_1) * rate * grad
    velocity = beta_2 * velocity + (1 - beta_2) * grad^2
    gradient_sum = sqrt(beta_2) * gradient_sum + (1 - sqrt(beta_2)) * rate * grad
    d_hat = numerator / ((1 - sqrt(beta_2)) * sum over variables(|gradient_sum|))
    d = max(d, min(d_hat, d * growth_rate))
    var = var * (1 - rate * decay_in_step) - momentum / (sqrt(velocity) + epsilon)

    Args:
        learning_rate: multiplies the estimate; leave it at 1. Default 1.0 (authors).
        beta_1: decay of the momentum. Default 0.9 (authors).
        beta_2: decay of the mean square. Default 0.999 (authors).
        epsilon: added to the root. Default 1e-8 (authors).
        d_0: first estimate. Default 1e-6 (authors).
        growth_rate: largest growth of the estimate in one step. Default 1e30 (authors inf).
        bias_correction: whether Adam's correction is on. Default False (authors).
        decay_in_step: weight decay times the estimate. Default 0.0 (authors).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros.
        gradient_sum: the variable's shape, compute dtype, zeros.
        growth: one scalar per optimizer, float64, 1.
        numerator: one scalar per optimizer, float64, 0.

    Differs from:
        paper: no difference to its Algorithm 5.
        authors' code: their weight_decay with decouple=True is decay_in_step. A step in which
            all gradients are 0 is not counted there.
        optax: no difference with bias_correction=True.

    Source:
        Defazio and Mishchenko, "Learning-Rate-Free Learning by D-Adaptation", 2023,
        https://arxiv.org/abs/2301.07733, https://github.com/facebookresearch/dadaptation
    """

    learning_rate = Hyper(1.0, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    epsilon = Hyper(1e-8, check=checks.positive)
    d_0 = Hyper(1e-6, static=True, check=checks.positive)
    growth_rate = Hyper(1e30, check=checks.positive)
    bias_correction = Hyper(False, static=True)
    decay_in_step = Hyper(0.0, check=checks.non_negative)

    momentum = Slot()
    velocity = Slot()
    gradient_sum = Slot()
    growth = Shared(1.0, dtype="float64")
    numerator = Shared(0.0, dtype="float64")

    def _rate(self, hyper, ops):
        rate = hyper.learning_rate * self.d_0 * hyper.growth
        if self.bias_correction:
            correction_2 = ops.sqrt(1 - hyper.beta_2 ** hyper.step)
            rate = rate * correction_2 / (1 - hyper.beta_1 ** hyper.step)
        return rate

    def _gradient_sum(self, grad, slots, rate, hyper, ops):
        root = ops.sqrt(hyper.beta_2)
        return root * slots.gradient_sum + (1 - root) * rate * grad

    def measure(self, grad, var, slots, hyper, ops):
        rate = self._rate(hyper, ops)
        scaled = slots.gradient_sum / (ops.sqrt(slots.velocity) + hyper.epsilon)
        return {
            "inner": rate * ops.sum(grad * scaled),
            "length": ops.sum(ops.abs(self._gradient_sum(grad, slots, rate, hyper, ops))),
        }

    def prepare(self, shared, hyper, ops):
        root = ops.sqrt(hyper.beta_2)
        numerator = root * shared.numerator + (1 - root) * hyper.inner
        estimate = numerator / ((1 - root) * hyper.length) / self.d_0
        estimate = ops.minimum(estimate, shared.growth * hyper.growth_rate)
        growth = ops.where(hyper.length > 0, ops.maximum(shared.growth, estimate), shared.growth)
        return {"rate": self._rate(hyper, ops), "numerator": numerator, "growth": growth}

    def update(self, grad, var, slots, hyper, ops):
        momentum = hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * hyper.rate * grad
        velocity = hyper.beta_2 * slots.velocity + (1 - hyper.beta_2) * ops.square(grad)
        kept = 1 - hyper.rate * hyper.decay_in_step
        new_slots = {
            "momentum": momentum,
            "velocity": velocity,
            "gradient_sum": self._gradient_sum(grad, slots, hyper.rate, hyper, ops),
        }
        return var * kept - momentum / (ops.sqrt(velocity) + hyper.epsilon), new_slots
