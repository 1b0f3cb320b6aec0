"""Steps only where the gradient agrees."""

from compat_opt.spec import Hyper, checks
from compat_opt.transforms._transform import transform


@transform
def cautious(rule, least_share=1e-3):
    """Leave out those elements of a step that would go against the present gradient.

    mask = 1 where step * grad < 0, else 0
    var = var + step * mask / max(mean(mask), least_share)
    step is what the rule would add to var (after weight decay)

    Args:
        rule: an UpdateRule subclass, whose slots do not depend on where var really went.
        least_share: bounds the division. Default 0.001 (authors' code).

    Differs from:
        paper: its scale is size / (sum of the mask + 1).
        authors' code: no difference for the C-AdamW and C-Lion of its repository.

    Source:
        Liang et al., "Cautious Optimizers: Improving Training with One Line of Code", 2024,
        https://arxiv.org/abs/2411.16085, https://github.com/kyleliang919/C-Optim
    """
    share = Hyper(least_share, check=checks.positive)

    class Cautious(rule):
        least_share = share

        def update(self, grad, var, slots, hyper, ops):
            new_var, new_slots = super().update(grad, var, slots, hyper, ops)
            step = new_var - var
            mask = ops.where(ops.sign(step) * ops.sign(grad) < 0, 1.0, 0.0)
            scale = ops.maximum(ops.mean(mask), hyper.least_share)
            return var + step * mask / scale, new_slots

    return Cautious
