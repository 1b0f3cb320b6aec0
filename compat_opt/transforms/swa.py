"""A mean of snapshots of the weights."""

from compat_opt.spec import Hyper, Slot, checks
from compat_opt.transforms._transform import transform


@transform
def swa(rule, start_averaging=0, average_period=10):
    """Stochastic weight averaging: keep the mean of every average_period-th point.

    n = (t - 1 - start_averaging) / average_period
    where n is 0, 1, 2, ...: snapshot_mean = (n * snapshot_mean + var) / (n + 1)

    Args:
        rule: an UpdateRule subclass.
        start_averaging: finished steps before the first snapshot. Default 0 (TFA).
        average_period: steps from snapshot to snapshot. Default 10 (TFA; paper: an epoch).

    Slots:
        snapshot_mean: the variable's shape, compute dtype, a copy of the variable.

    Differs from:
        paper: batch normalization is to be run again with the means before evaluation.
        TFA: no difference.

    Source:
        Izmailov et al., "Averaging Weights Leads to Wider Optima and Better Generalization", 2018,
        https://arxiv.org/abs/1803.05407
    """
    start, period = (
        Hyper(start_averaging, check=checks.non_negative),
        Hyper(average_period, check=checks.positive),
    )

    class SWA(rule):
        capabilities = tuple(getattr(rule, "capabilities", ())) + ("averaged",)
        start_averaging = start
        average_period = period
        snapshot_mean = Slot(init="variable")

        def update(self, grad, var, slots, hyper, ops):
            new_var, new_slots = super().update(grad, var, slots, hyper, ops)
            count = (hyper.step - 1 - hyper.start_averaging) / hyper.average_period
            due = ops.logical_and(count >= 0, count == ops.floor(count))
            mean = slots.snapshot_mean
            new_slots["snapshot_mean"] = ops.where(due, (count * mean + new_var) / (count + 1), mean)
            return new_var, new_slots

        def evaluate(self, var, slots, hyper, ops):
            return slots.snapshot_mean

    return SWA
