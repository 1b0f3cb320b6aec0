"""Confidence-guided memory-efficient steps."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class CAME(UpdateRule):
    """CAME: Adafactor's scale with momentum, divided by the momentum's own instability.

    square = grad^2 + epsilon_1
    two or more axes: row = beta_2 * row + (1 - beta_2) * mean(square over columns)
        column = beta_2 * column + (1 - beta_2) * mean(square over rows)
        mean_square = row column^T / mean(row)
    fewer: velocity = beta_2 * velocity + (1 - beta_2) * square = mean_square
    step = grad / sqrt(mean_square)
    step = step / max(1, rms(step) / clip_threshold)
    momentum = beta_1 * momentum + (1 - beta_1) * step
    two or more axes: instability = (step - momentum)^2 + epsilon_2
        residual_row, residual_column, residual: as above, of instability with beta_3
        var = var - learning_rate * momentum / sqrt(residual)
    fewer: var = var - learning_rate * momentum

    Args:
        learning_rate: step size. Default 0.0002 (authors' examples).
        beta_1: decay of the momentum. Default 0.9 (authors).
        beta_2: decay of the mean square. Default 0.999 (authors).
        beta_3: decay of the instability. Default 0.9999 (authors).
        epsilon_1: added to squared gradients. Default 1e-30 (authors).
        epsilon_2: added to the squared instability. Default 1e-16 (authors).
        clip_threshold: largest root mean square of a step. Default 1.0 (authors).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        row: the shape without its last axis, compute dtype, zeros; two or more axes.
        column: the shape without its last axis but one, compute dtype, zeros; two or more axes.
        residual_row: as row.
        residual_column: as column.
        velocity: the variable's shape, compute dtype, zeros; fewer than two axes.

    Differs from:
        paper: no difference.
        authors' code: no difference.

    Source:
        Luo et al., "CAME: Confidence-guided Adaptive Memory Efficient Optimization", 2023,
        https://arxiv.org/abs/2307.02047, https://github.com/yangluo7/CAME
    """

    learning_rate = Hyper(2e-4, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    beta_3 = Hyper(0.9999, check=checks.unit_interval)
    epsilon_1 = Hyper(1e-30, check=checks.non_negative)
    epsilon_2 = Hyper(1e-16, check=checks.non_negative)
    clip_threshold = Hyper(1.0, check=checks.positive)

    momentum = Slot()
    row = Slot(shape=lambda shape: shape[:-1], when=lambda rule, shape: len(shape) >= 2)
    column = Slot(
        shape=lambda shape: shape[:-2] + shape[-1:], when=lambda rule, shape: len(shape) >= 2
    )
    residual_row = Slot(shape=lambda shape: shape[:-1], when=lambda rule, shape: len(shape) >= 2)
    residual_column = Slot(
        shape=lambda shape: shape[:-2] + shape[-1:], when=lambda rule, shape: len(shape) >= 2
    )
    velocity = Slot(when=lambda rule, shape: len(shape) < 2)

    def update(self, grad, var, slots, hyper, ops):
        square, new_slots = ops.square(grad) + hyper.epsilon_1, {}
        if "velocity" in slots:
            mean_square = hyper.beta_2 * slots.velocity + (1 - hyper.beta_2) * square
            new_slots["velocity"] = mean_square
        else:
            row = self._mean(slots.row, square, -1, hyper.beta_2, ops)
            column = self._mean(slots.column, square, -2, hyper.beta_2, ops)
            new_slots.update(row=row, column=column)
            mean_square = self._product(row, column, ops)
        step = grad / ops.sqrt(mean_square)
        rms = ops.sqrt(ops.mean(ops.square(step)))
        step = step / ops.maximum(1.0, rms / hyper.clip_threshold)
        momentum = hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * step
        new_slots["momentum"] = direction = momentum
        if "velocity" not in slots:
            unstable = ops.square(step - momentum) + hyper.epsilon_2
            row = self._mean(slots.residual_row, unstable, -1, hyper.beta_3, ops)
            column = self._mean(slots.residual_column, unstable, -2, hyper.beta_3, ops)
            new_slots.update(residual_row=row, residual_column=column)
            direction = momentum / ops.sqrt(self._product(row, column, ops))
        return var - hyper.learning_rate * direction, new_slots

    def _mean(self, old, new, axis, beta, ops):
        return beta * old + (1 - beta) * ops.mean(new, axis=axis)

    def _product(self, row, column, ops):
        row = row / ops.mean(row, axis=-1, keepdims=True)
        return ops.expand_dims(row, -1) * ops.expand_dims(column, -2)
