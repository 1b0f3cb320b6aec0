"""Adam without a learning-rate schedule."""

from compat_opt.spec import Hyper, Shared, Slot, UpdateRule, checks


class ScheduleFreeAdamW(UpdateRule):
    """ScheduleFreeAdamW: Adam's scale, at a point between an iterate and its running average.

    rate = learning_rate * min(1, t / warmup_steps)
    largest_rate = max(largest_rate, rate)
    weight_sum = weight_sum + largest_rate^weight_lr_power
    c = largest_rate^weight_lr_power / weight_sum
    velocity = beta_2 * velocity + (1 - beta_2) * |grad|^2
    step = rate * grad / (sqrt(velocity / (1 - beta_2^t)) + epsilon)
    var = (1 - c) * var + c * base - (1 - beta_1 * (1 - c)) * step
    base = base - step

    Args:
        learning_rate: step size. Default 0.0025 (authors, Keras).
        beta_1: place of var between base (0, refused) and the average (1). Default 0.9 (authors,
            Keras).
        beta_2: decay of the mean square. Default 0.999 (authors, Keras).
        epsilon: added to the root. Default 1e-8 (authors, Keras).
        warmup_steps: steps of linear warm-up. Default 0 (authors, Keras).
        weight_lr_power: power of the rate in the average's weights. Default 0.0 (Keras; authors 2).

    Slots:
        base: the variable's shape, compute dtype, a copy of the variable.
        velocity: the variable's shape, compute dtype, zeros.
        weight_sum: one scalar per optimizer, float64, 0.
        largest_rate: one scalar per optimizer, float64, 0.

    Differs from:
        paper: no difference; var is its y and base its z. Evaluate with its average
            x = (var - (1 - beta_1) * base) / beta_1.
        authors' code: weight_lr_power=2; the weight decay acts on both y and z there.
        Keras 3: calls base "momentum", has no weight_lr_power. Its 3.15.1 has these numbers on
            JAX; on TensorFlow and torch it reads base after having changed it.
        optax: no difference with weight_lr_power=2; its warm-up starts at 0.

    Source:
        Defazio et al., "The Road Less Scheduled", 2024, https://arxiv.org/abs/2405.15682,
        https://github.com/facebookresearch/schedule_free
    """

    capabilities = ("complex", "averaged")

    learning_rate = Hyper(0.0025, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.positive_unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    epsilon = Hyper(1e-8, check=checks.non_negative)
    warmup_steps = Hyper(0, static=True, check=checks.non_negative)
    weight_lr_power = Hyper(0.0, check=checks.non_negative)

    base = Slot(init="variable")
    velocity = Slot()
    weight_sum = Shared(0.0, dtype="float64")
    largest_rate = Shared(0.0, dtype="float64")

    def prepare(self, shared, hyper, ops):
        rate = hyper.learning_rate
        if self.warmup_steps:
            rate = rate * ops.minimum(1.0, hyper.step / self.warmup_steps)
        largest_rate = ops.maximum(shared.largest_rate, rate)
        weight = largest_rate ** hyper.weight_lr_power
        weight_sum = shared.weight_sum + weight
        return {
            "rate": rate,
            "largest_rate": largest_rate,
            "weight_sum": weight_sum,
            "average": ops.where(weight_sum > 0, weight / weight_sum, 0.0),
            "correction": 1 - hyper.beta_2 ** hyper.step,
        }

    def update(self, grad, var, slots, hyper, ops):
        average = hyper.average
        velocity = hyper.beta_2 * slots.velocity + (1 - hyper.beta_2) * ops.abs_square(grad)
        step = hyper.rate * grad / (ops.sqrt(velocity / hyper.correction) + hyper.epsilon)
        pull = 1 - hyper.beta_1 * (1 - average)
        new_var = (1 - average) * var + average * slots.base - pull * step
        return new_var, {"base": slots.base - step, "velocity": velocity}

    def evaluate(self, var, slots, hyper, ops):
        return (var - (1 - hyper.beta_1) * slots.base) / hyper.beta_1
