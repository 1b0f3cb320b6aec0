"""Continuous coin betting."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class COCOB(UpdateRule):
    """COCOB: each weight bets a part of its past rewards; there is no learning rate to tune.

    scale = max(scale, |grad|)
    gradient_sum = gradient_sum + grad
    magnitude_sum = magnitude_sum + |grad|
    reward = max(reward - grad * offset, 0)
    bet = -gradient_sum / (scale * max(magnitude_sum + scale, alpha * scale)) * (reward + scale)
    var = var + learning_rate * (bet - offset)
    offset = bet

    Args:
        learning_rate: multiplies the move. Default 1.0 (optax; paper and TFA have none).
        alpha: bounds the first bets. Default 100.0 (paper, TFA).
        initial_scale: least scale of the gradient. Default 1e-8 (TFA).

    Slots:
        scale: the variable's shape, compute dtype, initial_scale.
        gradient_sum: the variable's shape, compute dtype, zeros.
        magnitude_sum: the variable's shape, compute dtype, zeros.
        reward: the variable's shape, compute dtype, zeros.
        offset: the variable's shape, compute dtype, zeros.

    Differs from:
        paper: no difference with learning_rate=1.
        TFA: no difference; the slots are lr, gradients_sum, grad_norm_sum, reward, tilde_w.
        optax: no difference, but it measures the offset from the first weights, so that weight
            decay counts as a bet.

    Source:
        Orabona and Tommasi, "Training Deep Networks without Learning Rates Through Coin
        Betting", 2017, https://arxiv.org/abs/1705.07795
    """

    learning_rate = Hyper(1.0, check=checks.non_negative)
    alpha = Hyper(100.0, check=checks.positive)
    initial_scale = Hyper(1e-8, static=True, check=checks.positive)

    scale = Slot(init=initial_scale)
    gradient_sum = Slot()
    magnitude_sum = Slot()
    reward = Slot()
    offset = Slot()

    def update(self, grad, var, slots, hyper, ops):
        scale = ops.maximum(slots.scale, ops.abs(grad))
        gradient_sum = slots.gradient_sum + grad
        magnitude_sum = slots.magnitude_sum + ops.abs(grad)
        reward = ops.maximum(slots.reward - grad * slots.offset, 0.0)
        bound = scale * ops.maximum(magnitude_sum + scale, hyper.alpha * scale)
        offset = -gradient_sum / bound * (reward + scale)
        new_slots = {
            "scale": scale,
            "gradient_sum": gradient_sum,
            "magnitude_sum": magnitude_sum,
            "reward": reward,
            "offset": offset,
        }
        return var + hyper.learning_rate * (offset - slots.offset), new_slots
