"""Adam without growth of scale-invariant weights."""

from compat_opt.rules.sgdp import _without_radial_part
from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class AdamP(UpdateRule):
    """AdamP: Adam, less its component along weights that the loss does not feel.

    momentum = beta_1 * momentum + (1 - beta_1) * grad
    velocity = beta_2 * velocity + (1 - beta_2) * grad^2
    top = beta_1 * momentum + (1 - beta_1) * grad if nesterov, else momentum
    step = top / (sqrt(velocity / (1 - beta_2^t)) + epsilon)
    with two or more axes, by channel (last axis), or else over the whole variable:
        if max |cos(grad, var)| < delta / sqrt(size): step = step - (unit . step) * unit
        and decay = wd_ratio * decay_in_step, with unit = var / (||var|| + epsilon)
    var = var * (1 - learning_rate * decay) - learning_rate * step / (1 - beta_1^t)

    Args:
        learning_rate: step size. Default 0.001 (authors).
        beta_1: decay of the momentum. Default 0.9 (authors).
        beta_2: decay of the mean square. Default 0.999 (authors).
        nesterov: whether the direction looks ahead. Default False (authors).
        delta: how orthogonal counts as scale-invariant. Default 0.1 (authors).
        wd_ratio: decay of scale-invariant weights, relative. Default 0.1 (authors).
        epsilon: added to the root and to norms. Default 1e-8 (authors).
        decay_in_step: weight decay that knows of the projection. Default 0.0 (authors).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros.

    Differs from:
        paper: no difference.
        authors' code: channels are PyTorch's first axis; here Keras's last. Its weight_decay is
            decay_in_step; weight_decay here is the same for all weights.

    Source:
        Heo et al., "AdamP: Slowing Down the Slowdown for Momentum Optimizers on Scale-invariant
        Weights", 2021, https://arxiv.org/abs/2006.08217, https://github.com/clovaai/AdamP
    """

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    nesterov = Hyper(False, static=True)
    delta = Hyper(0.1, check=checks.non_negative)
    wd_ratio = Hyper(0.1, check=checks.non_negative)
    epsilon = Hyper(1e-8, check=checks.non_negative)
    decay_in_step = Hyper(0.0, check=checks.non_negative)

    momentum = Slot()
    velocity = Slot()

    def prepare(self, shared, hyper, ops):
        return {
            "correction_1": 1 - hyper.beta_1 ** hyper.step,
            "correction_2": 1 - hyper.beta_2 ** hyper.step,
        }

    def update(self, grad, var, slots, hyper, ops):
        beta_1, beta_2 = hyper.beta_1, hyper.beta_2
        momentum = beta_1 * slots.momentum + (1 - beta_1) * grad
        velocity = beta_2 * slots.velocity + (1 - beta_2) * ops.square(grad)
        top = beta_1 * momentum + (1 - beta_1) * grad if self.nesterov else momentum
        step = top / (ops.sqrt(velocity / hyper.correction_2) + hyper.epsilon)
        step, decay = _without_radial_part(step, grad, var, hyper, ops)
        kept = 1 - hyper.learning_rate * decay
        new_var = var * kept - hyper.learning_rate / hyper.correction_1 * step
        return new_var, {"momentum": momentum, "velocity": velocity}
