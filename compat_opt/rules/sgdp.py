"""Gradient descent without growth of scale-invariant weights."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class SGDP(UpdateRule):
    """SGDP: momentum, less its component along weights that the loss does not feel.

    velocity = momentum * velocity + (1 - dampening) * grad
    step = grad + momentum * velocity if nesterov, else velocity
    with two or more axes, by channel (last axis), or else over the whole variable:
        if max |cos(grad, var)| < delta / sqrt(size): step = step - (unit . step) * unit
        and decay = wd_ratio * decay_in_step, with unit = var / (||var|| + epsilon)
    var = var * (1 - learning_rate * decay / (1 - momentum)) - learning_rate * step

    Args:
        learning_rate: step size. Default 0.1 (authors' examples).
        momentum: decay of the velocity. Default 0.9 (authors' examples).
        dampening: share of the gradient that is left out. Default 0.0 (authors).
        nesterov: whether the step looks ahead. Default False (authors).
        delta: how orthogonal counts as scale-invariant. Default 0.1 (authors).
        wd_ratio: decay of scale-invariant weights, relative. Default 0.1 (authors).
        epsilon: added to norms. Default 1e-8 (authors).
        decay_in_step: weight decay that knows of the projection. Default 0.0 (authors).

    Slots:
        velocity: the variable's shape, compute dtype, zeros.

    Differs from:
        paper: no difference.
        authors' code: channels are PyTorch's first axis; here Keras's last. Its weight_decay is
            decay_in_step; weight_decay here is the same for all weights.

    Source:
        Heo et al., "AdamP: Slowing Down the Slowdown for Momentum Optimizers on Scale-invariant
        Weights", 2021, https://arxiv.org/abs/2006.08217, https://github.com/clovaai/AdamP
    """

    learning_rate = Hyper(0.1, check=checks.non_negative)
    momentum = Hyper(0.9, check=checks.unit_interval)
    dampening = Hyper(0.0, check=checks.closed_unit_interval)
    nesterov = Hyper(False, static=True)
    delta = Hyper(0.1, check=checks.non_negative)
    wd_ratio = Hyper(0.1, check=checks.non_negative)
    epsilon = Hyper(1e-8, check=checks.non_negative)
    decay_in_step = Hyper(0.0, check=checks.non_negative)

    velocity = Slot()

    def update(self, grad, var, slots, hyper, ops):
        velocity = hyper.momentum * slots.velocity + (1 - hyper.dampening) * grad
        step = grad + hyper.momentum * velocity if self.nesterov else velocity
        step, decay = _without_radial_part(step, grad, var, hyper, ops)
        kept = 1 - hyper.learning_rate * decay / (1 - hyper.momentum)
        return var * kept - hyper.learning_rate * step, {"velocity": velocity}


def _without_radial_part(step, grad, var, hyper, ops):
    """`step` without its component along var where grad is orthogonal to var, and the decay."""
    decay, axes = hyper.decay_in_step, tuple(range(var.ndim))
    if var.ndim < 2:
        return step, decay
    by_channel, channels_free = _project(step, grad, var, axes[:-1], hyper, ops)
    as_one, whole_free = _project(step, grad, var, axes, hyper, ops)
    projected = ops.where(channels_free, by_channel, ops.where(whole_free, as_one, step))
    free = ops.logical_or(channels_free, whole_free)
    return projected, ops.where(free, hyper.wd_ratio * decay, decay)


def _project(step, grad, var, axes, hyper, ops):
    """The step without its part along var over `axes`, and whether grad is orthogonal there."""
    var_norm = ops.vector_norm(var, axis=axes, keepdims=True) + hyper.epsilon
    grad_norm = ops.vector_norm(grad, axis=axes, keepdims=True) + hyper.epsilon
    cosine = ops.abs(ops.sum(var * grad, axis=axes, keepdims=True) / (var_norm * grad_norm))
    size = 1
    for axis in axes:
        size *= var.shape[axis]
    unit = var / var_norm
    projected = step - ops.sum(unit * step, axis=axes, keepdims=True) * unit
    return projected, ops.max(cosine) < hyper.delta / size ** 0.5
