"""Root mean square propagation."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class RMSprop(UpdateRule):
    """RMSprop: the gradient, divided by the root of its running mean square.

    mean_square = rho * mean_square + (1 - rho) * |grad|^2
    centered: mean_gradient = rho * mean_gradient + (1 - rho) * grad
    variance = mean_square, less |mean_gradient|^2 if centered, but at least 0
    step = learning_rate * grad / sqrt(variance + epsilon)
    epsilon_outside: step = learning_rate * grad / (sqrt(variance) + epsilon)
    velocity = momentum * velocity + step
    var = var - velocity

    Args:
        learning_rate: step size. Default 0.001 (Keras).
        rho: decay of the running means. Default 0.9 (lecture, Keras).
        momentum: how much of the last step is kept; 0 keeps no slot. Default 0.0 (Keras).
        epsilon: added to the variance, or to its root. Default 1e-7 (Keras).
        centered: whether the squared mean is taken off. Default False (Keras).
        epsilon_outside: whether epsilon is added after the root. Default False (Keras 3).

    Slots:
        mean_square: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros; only if momentum is not 0.
        mean_gradient: the variable's shape, compute dtype, zeros; only if centered.

    Differs from:
        lecture: no epsilon, no momentum there; the centered form is Graves's.
        TF 2.0-2.10 (OptimizerV2): epsilon_outside=True without momentum, False with it.
        TF 2.9-2.10 (experimental): epsilon outside, the learning rate outside the velocity, and
            centered gave NaN.
        all of them: centered, rounding below 0 gives NaN there where a gradient stays the same.
        Keras from 2.11: no difference; the slots are velocity, momentum and average_gradient.
        torch and optax: epsilon outside; torch has the learning rate outside the velocity.

    Source:
        Tieleman and Hinton, "Lecture 6.5: rmsprop", 2012,
        https://www.cs.toronto.edu/~tijmen/csc321/slides/lecture_slides_lec6.pdf; Graves,
        "Generating Sequences With Recurrent Neural Networks", 2013,
        https://arxiv.org/abs/1308.0850
    """

    capabilities = ("complex",)

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    rho = Hyper(0.9, check=checks.unit_interval)
    momentum = Hyper(0.0, check=checks.closed_unit_interval)
    epsilon = Hyper(1e-7, check=checks.non_negative)
    centered = Hyper(False, static=True)
    epsilon_outside = Hyper(False, static=True)

    mean_square = Slot()
    velocity = Slot(when=lambda rule, shape: rule.momentum != 0)
    mean_gradient = Slot(when=lambda rule, shape: rule.centered)

    def update(self, grad, var, slots, hyper, ops):
        mean_square = hyper.rho * slots.mean_square + (1 - hyper.rho) * ops.abs_square(grad)
        new_slots = {"mean_square": mean_square}
        variance = mean_square
        if self.centered:
            mean_gradient = hyper.rho * slots.mean_gradient + (1 - hyper.rho) * grad
            new_slots["mean_gradient"] = mean_gradient
            variance = ops.maximum(ops.real(mean_square - ops.abs_square(mean_gradient)), 0.0)
        if self.epsilon_outside:
            root = ops.sqrt(variance) + hyper.epsilon
        else:
            root = ops.sqrt(variance + hyper.epsilon)
        step = hyper.learning_rate * grad / root
        if "velocity" in slots:
            step = hyper.momentum * slots.velocity + step
            new_slots["velocity"] = step
        return var - step, new_slots
