"""A running mean of the weights."""

from compat_opt.spec import Hyper, Slot, checks
from compat_opt.transforms._transform import transform


@transform
def moving_average(rule, average_decay=0.99, start_step=0, dynamic_decay=False):
    """Keep an exponential moving average of the weights beside them, to evaluate with.

    decay = average_decay, or min(average_decay, (1 + n) / (10 + n)) with dynamic_decay,
        or 0 where n < 0; n = t - 1 - start_step
    running_mean = decay * running_mean + (1 - decay) * var, after the rule's update

    Args:
        rule: an UpdateRule subclass.
        average_decay: decay of the mean. Default 0.99 (TFA).
        start_step: steps that the mean does not remember. Default 0 (TFA).
        dynamic_decay: whether the decay rises from 0.1. Default False (TFA).

    Slots:
        running_mean: the variable's shape, compute dtype, a copy of the variable.

    Differs from:
        paper: Polyak and Juditsky average all iterates alike (see swa).
        TFA: no difference; num_updates is the same as dynamic_decay.
        Keras: use_ema, which every compiled optimizer has, is dynamic_decay=False and start_step=0.

    Source:
        Polyak and Juditsky, "Acceleration of stochastic approximation by averaging", 1992,
        https://doi.org/10.1137/0330046
    """
    decay, start, dynamic = (
        Hyper(average_decay, check=checks.closed_unit_interval),
        Hyper(start_step, check=checks.non_negative),
        Hyper(dynamic_decay, static=True),
    )

    class MovingAverage(rule):
        capabilities = tuple(getattr(rule, "capabilities", ())) + ("averaged",)
        average_decay = decay
        start_step = start
        dynamic_decay = dynamic
        running_mean = Slot(init="variable")

        def update(self, grad, var, slots, hyper, ops):
            new_var, new_slots = super().update(grad, var, slots, hyper, ops)
            count, kept = hyper.step - 1 - hyper.start_step, hyper.average_decay
            if self.dynamic_decay:
                kept = ops.minimum(kept, (1 + count) / (10 + count))
            kept = ops.where(count < 0, 0.0, kept)
            new_slots["running_mean"] = kept * slots.running_mean + (1 - kept) * new_var
            return new_var, new_slots

        def evaluate(self, var, slots, hyper, ops):
            return slots.running_mean

    return MovingAverage
