"""Follow the regularized leader."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class Ftrl(UpdateRule):
    """Ftrl: per-coordinate follow-the-regularized-leader, proximal form.

    old, sum_of_squares = sum_of_squares, sum_of_squares + grad^2
    sigma = (sum_of_squares^p - old^p) / learning_rate, with p = -learning_rate_power
    linear = linear + grad + 2 * l2_shrinkage * var - sigma * var
    quadratic = (sum_of_squares^p + beta) / learning_rate + 2 * l2
    var = (clip(linear, -l1, l1) - linear) / quadratic
    l1, l2, l2_shrinkage are the three ..._regularization_strength

    Args:
        learning_rate: step size; not 0. Default 0.001 (Keras).
        learning_rate_power: how steps shrink with the sum. Default -0.5 (paper, Keras).
        initial_accumulator_value: where the sum starts. Default 0.1 (Keras; paper 0).
        l1_regularization_strength: sets small weights to 0. Default 0.0 (Keras).
        l2_regularization_strength: penalty in the leader's problem. Default 0.0 (Keras).
        l2_shrinkage_regularization_strength: penalty on the loss. Default 0.0 (Keras).
        beta: smooths the first steps. Default 0.0 (Keras; paper 1).

    Slots:
        sum_of_squares: the variable's shape, compute dtype, initial_accumulator_value.
        linear: the variable's shape, compute dtype, zeros.

    Differs from:
        paper: half the l2 strength: its penalty is l2 / 2 |w|^2, this one l2 |w|^2.
        TF and Keras: no difference for dense gradients; Keras calls the sum "accumulator". In all
            of them the first step forgets the first weights, but for the part in sigma * var.

    Source:
        McMahan et al., "Ad Click Prediction: a View from the Trenches", 2013,
        https://research.google.com/pubs/archive/41159.pdf
    """

    learning_rate = Hyper(1e-3, check=checks.positive)
    learning_rate_power = Hyper(-0.5, check=checks.non_positive)
    initial_accumulator_value = Hyper(0.1, static=True, check=checks.non_negative)
    l1_regularization_strength = Hyper(0.0, check=checks.non_negative)
    l2_regularization_strength = Hyper(0.0, check=checks.non_negative)
    l2_shrinkage_regularization_strength = Hyper(0.0, check=checks.non_negative)
    beta = Hyper(0.0, check=checks.non_negative)

    sum_of_squares = Slot(init=initial_accumulator_value)
    linear = Slot()

    def update(self, grad, var, slots, hyper, ops):
        l1, l2 = hyper.l1_regularization_strength, hyper.l2_regularization_strength
        shrinkage = 2 * hyper.l2_shrinkage_regularization_strength * var
        sum_of_squares = slots.sum_of_squares + ops.square(grad)
        new_power = sum_of_squares ** -hyper.learning_rate_power
        old_power = slots.sum_of_squares ** -hyper.learning_rate_power
        sigma = (new_power - old_power) / hyper.learning_rate
        linear = slots.linear + grad + shrinkage - sigma * var
        quadratic = (new_power + hyper.beta) / hyper.learning_rate + 2 * l2
        new_var = (ops.clip(linear, -l1, l1) - linear) / quadratic
        return new_var, {"sum_of_squares": sum_of_squares, "linear": linear}
