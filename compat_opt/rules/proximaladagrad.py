"""Adagrad with proximal penalties."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class ProximalAdagrad(UpdateRule):
    """ProximalAdagrad: an Adagrad step, followed by the proximal step of l1 and l2 penalties.

    sum_of_squares = sum_of_squares + grad^2
    rate = learning_rate / sqrt(sum_of_squares)
    x = var - rate * grad
    var = sign(x) * max(|x| - rate * l1, 0) / (1 + rate * l2)
    l1 and l2 are the two ..._regularization_strength

    Args:
        learning_rate: step size. Default 0.001 (TFA).
        initial_accumulator_value: where the sum starts; not 0. Default 0.1 (TFA).
        l1_regularization_strength: penalty on |var|. Default 0.0 (TFA).
        l2_regularization_strength: penalty on var^2 / 2. Default 0.0 (TFA).

    Slots:
        sum_of_squares: the variable's shape, compute dtype, initial_accumulator_value.

    Differs from:
        paper: the general method; this is its Adagrad form with l1 and l2 as in TF.
        TFA and TF: no difference; the slot is "accumulator".

    Source:
        Duchi and Singer, "Efficient Online and Batch Learning Using Forward Backward Splitting",
        2009, https://jmlr.org/papers/v10/duchi09a.html
    """

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    initial_accumulator_value = Hyper(0.1, static=True, check=checks.positive)
    l1_regularization_strength = Hyper(0.0, check=checks.non_negative)
    l2_regularization_strength = Hyper(0.0, check=checks.non_negative)

    sum_of_squares = Slot(init=initial_accumulator_value)

    def update(self, grad, var, slots, hyper, ops):
        sum_of_squares = slots.sum_of_squares + ops.square(grad)
        rate = hyper.learning_rate / ops.sqrt(sum_of_squares)
        moved = var - rate * grad
        kept = ops.maximum(ops.abs(moved) - rate * hyper.l1_regularization_strength, 0.0)
        new_var = ops.sign(moved) * kept / (1 + rate * hyper.l2_regularization_strength)
        return new_var, {"sum_of_squares": sum_of_squares}
