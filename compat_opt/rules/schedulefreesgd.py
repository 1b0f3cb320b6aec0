"""Gradient descent without a learning-rate schedule."""

from compat_opt.spec import Hyper, Shared, Slot, UpdateRule, checks


class ScheduleFreeSGD(UpdateRule):
    """ScheduleFreeSGD: gradients at a point between an iterate and its running average.

    rate = learning_rate * min(1, t / warmup_steps)
    largest_rate = max(largest_rate, rate)
    weight = t^r * largest_rate^weight_lr_power
    weight_sum = weight_sum + weight; c = weight / weight_sum
    var = (1 - c) * var + c * base - rate * (1 - momentum * (1 - c)) * grad
    base = base - rate * grad

    Args:
        learning_rate: step size. Default 1.0 (authors).
        momentum: place of var between base (0, refused) and the average (1). Default 0.9 (authors).
        warmup_steps: steps of linear warm-up. Default 0 (authors).
        r: power of t in the average's weights. Default 0.0 (authors).
        weight_lr_power: power of the rate in the weights. Default 2.0 (authors).

    Slots:
        base: the variable's shape, compute dtype, a copy of the variable.
        weight_sum: one scalar per optimizer, float64, 0.
        largest_rate: one scalar per optimizer, float64, 0.

    Differs from:
        paper: no difference; var is its y and base its z. Evaluate with its average
            x = (var - (1 - momentum) * base) / momentum.
        authors' code: no difference, but weight decay is added to the gradient there.
        optax: no difference; its warm-up starts at 0.

    Source:
        Defazio et al., "The Road Less Scheduled", 2024, https://arxiv.org/abs/2405.15682,
        https://github.com/facebookresearch/schedule_free
    """

    capabilities = ("complex", "averaged")

    learning_rate = Hyper(1.0, check=checks.non_negative)
    momentum = Hyper(0.9, check=checks.positive_unit_interval)
    warmup_steps = Hyper(0, static=True, check=checks.non_negative)
    r = Hyper(0.0, check=checks.non_negative)
    weight_lr_power = Hyper(2.0, check=checks.non_negative)

    base = Slot(init="variable")
    weight_sum = Shared(0.0, dtype="float64")
    largest_rate = Shared(0.0, dtype="float64")

    def prepare(self, shared, hyper, ops):
        rate = hyper.learning_rate
        if self.warmup_steps:
            rate = rate * ops.minimum(1.0, hyper.step / self.warmup_steps)
        largest_rate = ops.maximum(shared.largest_rate, rate)
        weight = hyper.step ** hyper.r * largest_rate ** hyper.weight_lr_power
        weight_sum = shared.weight_sum + weight
        average = ops.where(weight_sum > 0, weight / weight_sum, 0.0)
        return {
            "rate": rate,
            "largest_rate": largest_rate,
            "weight_sum": weight_sum,
            "average": average,
        }

    def update(self, grad, var, slots, hyper, ops):
        average = hyper.average
        pull = 1 - hyper.momentum * (1 - average)
        new_var = (1 - average) * var + average * slots.base - hyper.rate * pull * grad
        return new_var, {"base": slots.base - hyper.rate * grad}

    def evaluate(self, var, slots, hyper, ops):
        return (var - (1 - hyper.momentum) * slots.base) / hyper.momentum
