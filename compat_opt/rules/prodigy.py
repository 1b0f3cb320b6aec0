"""Adam that estimates the distance to the solution."""

from compat_opt.spec import Hyper, Shared, Slot, UpdateRule, checks


class Prodigy(UpdateRule):
    """Prodigy: Adam with a learning rate learned from gradients and the way made so far.

    growth is the estimate d over its first value d_0; d = d_0 * growth
    rate = learning_rate * d, times sqrt(1 - beta_2^t) / (1 - beta_1^t) if bias_correction
    weight = growth * rate, or growth * d if safeguard_warmup
    numerator = beta_3 * numerator + growth * rate * sum over variables(grad . (first_value - var))
    similarity = beta_3 * similarity + weight * grad
    d_hat = d_coef * numerator / sum over variables(|similarity|)
    largest_growth = max(largest_growth, growth (only at its first value), d_hat / d_0)
    momentum = beta_1 * momentum + (1 - beta_1) * d * grad
    velocity = beta_2 * velocity + (1 - beta_2) * d^2 * grad^2
    growth = min(largest_growth, growth * growth_rate)
    var = var * (1 - rate * decay_in_step) - rate * momentum / (sqrt(velocity) + d * epsilon)
    rate and moments are of the old d, epsilon's is of the new; beta_3 = sqrt(beta_2)

    Args:
        learning_rate: multiplies the estimate; leave it at 1. Default 1.0 (authors).
        beta_1: decay of the momentum. Default 0.9 (authors).
        beta_2: decay of the mean square. Default 0.999 (authors).
        epsilon: added to the root, times d. Default 1e-8 (authors).
        d_0: first estimate. Default 1e-6 (authors).
        d_coef: multiplies the estimate. Default 1.0 (authors).
        growth_rate: largest growth of the estimate in one step. Default 1e30 (authors inf).
        bias_correction: whether Adam's correction is on. Default False (authors).
        safeguard_warmup: whether a warm-up is kept out of the sums. Default False (authors).
        decay_in_step: weight decay times the estimate. Default 0.0 (authors).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros.
        similarity: the variable's shape, compute dtype, zeros.
        first_value: the variable's shape, compute dtype, a copy of the variable.
        growth: one scalar per optimizer, float64, 1.
        largest_growth: one scalar per optimizer, float64, 1.
        numerator: one scalar per optimizer, float64, 0.

    Differs from:
        paper: the numerator is not weighted by beta_3 in its Algorithm 1, as in authors' code.
        authors' code: their weight_decay is decay_in_step; weight_decay here knows no estimate.
            A step in which all gradients are 0 is not counted there.
        optax: no difference with bias_correction=True.

    Source:
        Mishchenko and Defazio, "Prodigy: An Expeditiously Adaptive Parameter-Free Learner", 2023,
        https://arxiv.org/abs/2306.06101, https://github.com/konstmish/prodigy
    """

    learning_rate = Hyper(1.0, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    epsilon = Hyper(1e-8, check=checks.positive)
    d_0 = Hyper(1e-6, static=True, check=checks.positive)
    d_coef = Hyper(1.0, check=checks.positive)
    growth_rate = Hyper(1e30, check=checks.positive)
    bias_correction = Hyper(False, static=True)
    safeguard_warmup = Hyper(False, static=True)
    decay_in_step = Hyper(0.0, check=checks.non_negative)

    momentum = Slot()
    velocity = Slot()
    similarity = Slot()
    first_value = Slot(init="variable")
    growth = Shared(1.0, dtype="float64")
    largest_growth = Shared(1.0, dtype="float64")
    numerator = Shared(0.0, dtype="float64")

    constant_slots = ("first_value",)

    def _rate(self, hyper, ops):
        rate = hyper.learning_rate * self.d_0 * hyper.growth
        if self.bias_correction:
            correction_2 = ops.sqrt(1 - hyper.beta_2 ** hyper.step)
            rate = rate * correction_2 / (1 - hyper.beta_1 ** hyper.step)
        return rate

    def _similarity(self, grad, slots, hyper, growth, rate, ops):
        weight = growth * (self.d_0 * growth if self.safeguard_warmup else rate)
        return ops.sqrt(hyper.beta_2) * slots.similarity + weight * grad

    def measure(self, grad, var, slots, hyper, ops):
        rate = self._rate(hyper, ops)
        similarity = self._similarity(grad, slots, hyper, hyper.growth, rate, ops)
        return {
            "way": ops.sum(grad * (slots.first_value - var)),
            "denominator": ops.sum(ops.abs(similarity)),
        }

    def prepare(self, shared, hyper, ops):
        growth, rate = shared.growth, self._rate(hyper, ops)
        numerator = ops.sqrt(hyper.beta_2) * shared.numerator + growth * rate * hyper.way
        estimate = hyper.d_coef * numerator / hyper.denominator / self.d_0
        estimate = ops.where(hyper.denominator > 0, estimate, 0.0)
        largest = ops.maximum(shared.largest_growth, estimate)
        start = ops.where(growth == 1, ops.maximum(growth, estimate), growth)
        return {
            "old_growth": growth,
            "rate": rate,
            "numerator": numerator,
            "largest_growth": largest,
            "growth": ops.minimum(largest, start * hyper.growth_rate),
        }

    def update(self, grad, var, slots, hyper, ops):
        d = self.d_0 * hyper.old_growth
        momentum = hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * d * grad
        square = ops.square(d * grad)
        velocity = hyper.beta_2 * slots.velocity + (1 - hyper.beta_2) * square
        root = ops.sqrt(velocity) + self.d_0 * hyper.growth * hyper.epsilon
        kept = 1 - hyper.rate * hyper.decay_in_step
        new_slots = {
            "momentum": momentum,
            "velocity": velocity,
            "similarity": self._similarity(grad, slots, hyper, hyper.old_growth, hyper.rate, ops),
        }
        return var * kept - hyper.rate * momentum / root, new_slots
