"""Adaptive subgradient descent."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class Adagrad(UpdateRule):
    """Adagrad: the gradient, divided by the root of the sum of its squares so far.

    sum_of_squares = sum_of_squares + |grad|^2
    var = var - learning_rate * grad / sqrt(sum_of_squares + epsilon)
    epsilon_outside: var = var - learning_rate * grad / (sqrt(sum_of_squares) + epsilon)

    Args:
        learning_rate: step size. Default 0.001 (Keras).
        initial_accumulator_value: where the sum starts. Default 0.1 (Keras; paper 0).
        epsilon: added to the sum, or to its root. Default 1e-7 (Keras).
        epsilon_outside: whether epsilon is added after the root. Default False (Keras 3).

    Slots:
        sum_of_squares: the variable's shape, compute dtype, initial_accumulator_value.

    Differs from:
        paper: starts at 0 and adds delta after the root (epsilon_outside=True).
        TF 2.0-2.15 (OptimizerV2): epsilon_outside=True.
        Keras from 2.11: no difference; the slot is "accumulator".
        torch: epsilon outside, 1e-10, sum from 0. optax: no difference, but no step
            where the sum is 0.

    Source:
        Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning and
        Stochastic Optimization", 2011, https://jmlr.org/papers/v12/duchi11a.html
    """

    capabilities = ("complex",)

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    initial_accumulator_value = Hyper(0.1, static=True, check=checks.non_negative)
    epsilon = Hyper(1e-7, check=checks.non_negative)
    epsilon_outside = Hyper(False, static=True)

    sum_of_squares = Slot(init=initial_accumulator_value)

    def update(self, grad, var, slots, hyper, ops):
        sum_of_squares = slots.sum_of_squares + ops.abs_square(grad)
        if self.epsilon_outside:
            root = ops.sqrt(sum_of_squares) + hyper.epsilon
        else:
            root = ops.sqrt(sum_of_squares + hyper.epsilon)
        return var - hyper.learning_rate * grad / root, {"sum_of_squares": sum_of_squares}
