"""Distance over gradients."""

from compat_opt.spec import Hyper, Shared, Slot, UpdateRule, checks


class DoG(UpdateRule):
    """DoG: gradient descent with the step size "distance moved over root of squared gradients".

    distance = sqrt(sum over variables(||var - first_value||^2))
    largest_distance = max(largest_distance, distance)
    while that is 0: largest_distance = initial_distance * (1 + norm of all variables)
    square_sum = square_sum + sum over variables(||grad||^2)
    var = var - learning_rate * largest_distance / sqrt(square_sum + epsilon) * grad

    Args:
        learning_rate: multiplies the step; leave it at 1. Default 1.0 (authors).
        initial_distance: first distance, relative to the weights. Default 1e-6 (authors).
        epsilon: added to the sum of squares. Default 1e-8 (authors).

    Slots:
        first_value: the variable's shape, compute dtype, a copy of the variable.
        largest_distance: one scalar per optimizer, float64, 0.
        square_sum: one scalar per optimizer, float64, 0.

    Differs from:
        paper: no difference; it averages the iterates besides (use_ema or a transform).
        authors' code: no difference; its weight decay is added to the gradient.
        optax: no difference.

    Source:
        Ivgi, Hinder and Carmon, "DoG is SGD's Best Friend: A Parameter-Free Dynamic Step Size
        Schedule", 2023, https://arxiv.org/abs/2302.12022, https://github.com/formll/dog
    """

    constant_slots = ("first_value",)

    learning_rate = Hyper(1.0, check=checks.non_negative)
    initial_distance = Hyper(1e-6, check=checks.positive)
    epsilon = Hyper(1e-8, check=checks.positive)

    first_value = Slot(init="variable")
    largest_distance = Shared(0.0, dtype="float64")
    square_sum = Shared(0.0, dtype="float64")

    def measure(self, grad, var, slots, hyper, ops):
        return {
            "way": ops.sum(ops.square(var - slots.first_value)),
            "weights": ops.sum(ops.square(var)),
            "squares": ops.sum(ops.square(grad)),
        }

    def prepare(self, shared, hyper, ops):
        start = hyper.initial_distance * (1 + ops.sqrt(hyper.weights))
        moved = ops.maximum(shared.largest_distance, ops.sqrt(hyper.way))
        distance = ops.where(shared.largest_distance > 0, moved, start)
        square_sum = shared.square_sum + hyper.squares
        return {
            "largest_distance": distance,
            "square_sum": square_sum,
            "rate": hyper.learning_rate * distance / ops.sqrt(square_sum + hyper.epsilon),
        }

    def update(self, grad, var, slots, hyper, ops):
        return var - hyper.rate * grad, {}
