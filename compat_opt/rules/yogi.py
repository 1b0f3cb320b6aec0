"""Adam with an additive mean square."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class Yogi(UpdateRule):
    """Yogi: Adam whose mean square moves by a bounded amount.

    momentum = beta_1 * momentum + (1 - beta_1) * grad
    velocity = velocity - (1 - beta_2) * sign(velocity - grad^2) * grad^2
    activation "tanh": tanh(10 x) in place of sign(x)
    rate = learning_rate * sqrt(1 - beta_2^t) / (1 - beta_1^t) / (sqrt(velocity) + epsilon)
    x = var - rate * momentum
    var = sign(x) * max(|x| - rate * l1, 0) / (1 + rate * l2)
    l1 and l2 are the two ..._regularization_strength

    Args:
        learning_rate: step size. Default 0.01 (TFA, paper).
        beta_1: decay of the momentum. Default 0.9 (TFA, paper).
        beta_2: decay of the mean square. Default 0.999 (TFA, paper).
        epsilon: added to the root. Default 0.001 (TFA, paper).
        l1_regularization_strength: proximal penalty on |var|. Default 0.0 (TFA).
        l2_regularization_strength: proximal penalty on var^2 / 2. Default 0.0 (TFA).
        initial_accumulator_value: where the mean square starts. Default 1e-6 (TFA).
        activation: "sign" or "tanh". Default "sign" (TFA).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, initial_accumulator_value.

    Differs from:
        paper: no bias correction, no proximal step.
        TFA: beta1 and beta2 are the names there; the same numbers.
        optax: epsilon added after the bias correction; momentum starts at 1e-6 too.

    Source:
        Zaheer et al., "Adaptive Methods for Nonconvex Optimization", 2018,
        https://papers.nips.cc/paper/8186-adaptive-methods-for-nonconvex-optimization
    """

    learning_rate = Hyper(0.01, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    epsilon = Hyper(1e-3, check=checks.non_negative)
    l1_regularization_strength = Hyper(0.0, check=checks.non_negative)
    l2_regularization_strength = Hyper(0.0, check=checks.non_negative)
    initial_accumulator_value = Hyper(1e-6, static=True, check=checks.non_negative)
    activation = Hyper("sign", static=True, check=checks.one_of("sign", "tanh"))

    momentum = Slot()
    velocity = Slot(init=initial_accumulator_value)

    def prepare(self, shared, hyper, ops):
        correction_1 = 1 - hyper.beta_1 ** hyper.step
        correction_2 = 1 - hyper.beta_2 ** hyper.step
        return {"step_size": hyper.learning_rate * ops.sqrt(correction_2) / correction_1}

    def update(self, grad, var, slots, hyper, ops):
        square = ops.square(grad)
        excess = square - slots.velocity
        sign = ops.tanh(10 * excess) if self.activation == "tanh" else ops.sign(excess)
        momentum = hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * grad
        velocity = slots.velocity + (1 - hyper.beta_2) * sign * square
        rate = hyper.step_size / (ops.sqrt(velocity) + hyper.epsilon)
        moved = var - rate * momentum
        kept = ops.maximum(ops.abs(moved) - rate * hyper.l1_regularization_strength, 0.0)
        new_var = ops.sign(moved) * kept / (1 + rate * hyper.l2_regularization_strength)
        return new_var, {"momentum": momentum, "velocity": velocity}
