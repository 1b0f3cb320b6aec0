"""Square-root of minima of sums of maxima of squares of gradients."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


def _along(axis):
    """A slot with the length of one axis; scalars have the first one, of shape ()."""
    return Slot(
        shape=lambda shape: shape[axis : axis + 1],
        when=lambda rule, shape: len(shape) > axis or axis == len(shape) == 0,
    )


class SM3(UpdateRule):
    """SM3: Adagrad with one accumulator for each index of each axis.

    cover = min over axes(axis_0, axis_1, axis_2, axis_3, axis_4), broadcast, + grad^2
    axis_k = max over the other axes(cover)
    step = grad / sqrt(cover), or 0 where cover is 0
    velocity = momentum * velocity + (1 - momentum) * step
    var = var - learning_rate * velocity

    Args:
        learning_rate: step size. Default 0.1 (authors' examples).
        momentum: decay of the velocity; 0 keeps no slot. Default 0.9 (authors).

    Slots:
        axis_0: the length of the first axis, compute dtype, zeros; scalars have it as a scalar.
        axis_1: the length of the second axis, compute dtype, zeros; if there is one.
        axis_2: the length of the third axis, compute dtype, zeros; if there is one.
        axis_3: the length of the fourth axis, compute dtype, zeros; if there is one.
        axis_4: the length of the fifth axis, compute dtype, zeros; if there is one.
        velocity: the variable's shape, compute dtype, zeros; only if momentum is not 0.

    Differs from:
        paper: its SM3-II; axes beyond the fifth take part in no cover of their own.
        authors' code: no difference.
        optax: fails on scalars; else no difference.

    Source:
        Anil et al., "Memory-Efficient Adaptive Optimization", 2019,
        https://arxiv.org/abs/1901.11150
    """

    learning_rate = Hyper(0.1, check=checks.non_negative)
    momentum = Hyper(0.9, check=checks.unit_interval)

    axis_0 = _along(0)
    axis_1 = _along(1)
    axis_2 = _along(2)
    axis_3 = _along(3)
    axis_4 = _along(4)
    velocity = Slot(when=lambda rule, shape: rule.momentum != 0)

    def update(self, grad, var, slots, hyper, ops):
        cover, new_slots = None, {}
        for axis in range(min(max(grad.ndim, 1), 5)):
            shape = [length if k == axis else 1 for k, length in enumerate(grad.shape)]
            spread = ops.reshape(slots["axis_%d" % axis], tuple(shape))
            cover = spread if cover is None else ops.minimum(cover, spread)
        cover = cover + ops.square(grad)
        for axis in range(min(max(grad.ndim, 1), 5)):
            others = tuple(k for k in range(grad.ndim) if k != axis)
            new_slots["axis_%d" % axis] = ops.max(cover, axis=others) if others else cover
        step = ops.where(cover > 0, grad / ops.sqrt(cover), 0.0)
        if "velocity" in slots:
            step = hyper.momentum * slots.velocity + (1 - hyper.momentum) * step
            new_slots["velocity"] = step
        return var - hyper.learning_rate * step, new_slots
