"""Adaptive steps with memory sublinear in the variable."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class Adafactor(UpdateRule):
    """Adafactor: a mean square kept as row and column means, and steps relative to the weights.

    rate = min(learning_rate, 1 / sqrt(t)) if relative_step, else learning_rate
    beta_2_t = 1 - t^beta_2_decay
    square = grad^2 + epsilon_1
    matrices: row = beta_2_t * row + (1 - beta_2_t) * mean(square over columns)
        column = beta_2_t * column + (1 - beta_2_t) * mean(square over rows)
        mean_square = row column^T / mean(row)
    other shapes: velocity = beta_2_t * velocity + (1 - beta_2_t) * square = mean_square
    step = grad / sqrt(mean_square)
    step = step / max(1, rms(step) / clip_threshold)
    var = var - rate * max(epsilon_2, rms(var)) * step

    Args:
        learning_rate: largest relative step. Default 0.001 (Keras; paper 0.01).
        beta_2_decay: exponent of the means' decay. Default -0.8 (paper, Keras).
        epsilon_1: added to squared gradients. Default 1e-30 (paper, Keras).
        epsilon_2: least rms(var) that steps are relative to. Default 1e-3 (paper, Keras).
        clip_threshold: largest root mean square of a step. Default 1.0 (paper, Keras).
        relative_step: whether the rate falls with 1 / sqrt(t). Default True (Keras).

    Slots:
        row: the variable's shape without its last axis, compute dtype, zeros; two or more axes.
        column: the shape without its last axis but one, compute dtype, zeros; two or more axes.
        velocity: the variable's shape, compute dtype, zeros; fewer than two axes.

    Differs from:
        paper: the same with learning_rate=0.01; it has a momentum that is off by default.
        Keras: takes the minimum with 1 / sqrt(t) also with relative_step=False, keeps a velocity
            that it never reads for matrices, and cannot switch off the scale by rms(var).
        torch: epsilon_1 bounds the root from below (its default is the dtype's eps) in place of
            being added to squares; else no difference.
        optax: no relative_step; factors axes of 128 or more by default.

    Source:
        Shazeer and Stern, "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost", 2018,
        https://arxiv.org/abs/1804.04235
    """

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    beta_2_decay = Hyper(-0.8, check=checks.non_positive)
    epsilon_1 = Hyper(1e-30, check=checks.non_negative)
    epsilon_2 = Hyper(1e-3, check=checks.non_negative)
    clip_threshold = Hyper(1.0, check=checks.positive)
    relative_step = Hyper(True, static=True)

    row = Slot(shape=lambda shape: shape[:-1], when=lambda rule, shape: len(shape) >= 2)
    column = Slot(
        shape=lambda shape: shape[:-2] + shape[-1:], when=lambda rule, shape: len(shape) >= 2
    )
    velocity = Slot(when=lambda rule, shape: len(shape) < 2)

    def prepare(self, shared, hyper, ops):
        rate = hyper.learning_rate
        if self.relative_step:
            rate = ops.minimum(rate, 1 / ops.sqrt(hyper.step))
        return {"rate": rate, "beta_2": 1 - hyper.step ** hyper.beta_2_decay}

    def update(self, grad, var, slots, hyper, ops):
        beta_2, square = hyper.beta_2, ops.square(grad) + hyper.epsilon_1
        if "velocity" in slots:
            mean_square = beta_2 * slots.velocity + (1 - beta_2) * square
            new_slots = {"velocity": mean_square}
        else:
            row = beta_2 * slots.row + (1 - beta_2) * ops.mean(square, axis=-1)
            column = beta_2 * slots.column + (1 - beta_2) * ops.mean(square, axis=-2)
            new_slots = {"row": row, "column": column}
            row = row / ops.mean(row, axis=-1, keepdims=True)
            mean_square = ops.expand_dims(row, -1) * ops.expand_dims(column, -2)
        step = grad / ops.sqrt(mean_square)
        step = step / ops.maximum(1.0, self._rms(step, ops) / hyper.clip_threshold)
        scale = ops.maximum(hyper.epsilon_2, self._rms(var, ops))
        return var - hyper.rate * scale * step, new_slots

    def _rms(self, x, ops):
        return ops.sqrt(ops.mean(ops.square(x)))
