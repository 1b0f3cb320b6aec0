"""Fast weights that return to slow ones."""

from compat_opt.spec import Hyper, Slot, checks
from compat_opt.transforms._transform import transform


@transform
def lookahead(rule, sync_period=6, slow_step_size=0.5):
    """Every sync_period steps, move slow weights towards the fast ones, and continue from there.

    every sync_period steps, after the rule's update:
    slow = slow + slow_step_size * (var - slow)
    var = slow

    Args:
        rule: an UpdateRule subclass.
        sync_period: steps between synchronizations. Default 6 (TFA; paper 5 or 10).
        slow_step_size: how far the slow weights go. Default 0.5 (paper, TFA).

    Slots:
        slow: the variable's shape, compute dtype, a copy of the variable.

    Differs from:
        paper and TFA: no difference; the rule's own slots are kept at a synchronization.
        optax: keeps both weights in the parameters.

    Source:
        Zhang et al., "Lookahead Optimizer: k steps forward, 1 step back", 2019,
        https://arxiv.org/abs/1907.08610
    """
    period, size = Hyper(sync_period, check=checks.positive), Hyper(slow_step_size, check=checks.closed_unit_interval)

    class Lookahead(rule):
        sync_period = period
        slow_step_size = size
        slow = Slot(init="variable")

        def update(self, grad, var, slots, hyper, ops):
            fast, new_slots = super().update(grad, var, slots, hyper, ops)
            rounds = hyper.step / hyper.sync_period
            due = rounds == ops.floor(rounds)
            slow = slots.slow + hyper.slow_step_size * (fast - slots.slow)
            new_slots["slow"] = ops.where(due, slow, slots.slow)
            return ops.where(due, slow, fast), new_slots

    return Lookahead
