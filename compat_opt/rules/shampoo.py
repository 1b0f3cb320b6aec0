"""Matrix preconditioning."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


def _sides(shape):
    """Rows and columns of a variable as a matrix: all axes but the last by the last."""
    rows = 1
    for length in shape[:-1]:
        rows *= length
    return rows, shape[-1]


class Shampoo(UpdateRule):
    """Shampoo: the gradient between inverse roots of its second moments over rows and columns.

    g = grad as a matrix: all axes but the last by the last
    left = left + g g^T
    right = right + g^T g
    direction = (left + epsilon I)^(-1/4) g (right + epsilon I)^(-1/4)
    a side longer than largest_side is left out, and the other's power is -1/2
    fewer than two axes, or no side: diagonal = diagonal + grad^2
        direction = grad / sqrt(diagonal + epsilon)
    velocity = momentum * velocity + direction
    var = var - learning_rate * velocity

    Args:
        learning_rate: step size. Default 0.01 (this package; authors tune it).
        momentum: decay of the velocity; 0 keeps no slot. Default 0.0 (this package).
        epsilon: added to the sums, times the identity. Default 0.0001 (this package).
        largest_side: longest side that is preconditioned. Default 1024 (authors' 1200, rounded).

    Slots:
        left: rows by rows, compute dtype, zeros; two or more axes, rows at most largest_side.
        right: columns by columns, compute dtype, zeros; two or more axes, columns at most
            largest_side.
        diagonal: the variable's shape, compute dtype, zeros; where there is neither.
        velocity: the variable's shape, compute dtype, zeros; only if momentum is not 0.

    Differs from:
        paper: the matrix case of its Algorithm 1; tensors are matrices here, not one
            preconditioner per axis; vectors take the diagonal variant.
        optax: has none. Roots are taken at every step by eigenvalues, cut off below 0.

    Source:
        Gupta, Koren and Singer, "Shampoo: Preconditioned Stochastic Tensor Optimization", 2018,
        https://arxiv.org/abs/1802.09568
    """

    learning_rate = Hyper(0.01, check=checks.non_negative)
    momentum = Hyper(0.0, check=checks.closed_unit_interval)
    epsilon = Hyper(1e-4, static=True, check=checks.positive)
    largest_side = Hyper(1024, static=True, check=checks.non_negative)

    left = Slot(
        shape=lambda shape: _sides(shape)[:1] * 2,
        when=lambda rule, shape: len(shape) > 1 and _sides(shape)[0] <= rule.largest_side,
    )
    right = Slot(
        shape=lambda shape: _sides(shape)[1:] * 2,
        when=lambda rule, shape: len(shape) > 1 and _sides(shape)[1] <= rule.largest_side,
    )
    diagonal = Slot(
        when=lambda rule, shape: len(shape) < 2 or min(_sides(shape)) > rule.largest_side
    )
    velocity = Slot(when=lambda rule, shape: rule.momentum != 0)

    def update(self, grad, var, slots, hyper, ops):
        new_slots = {}
        if "diagonal" in slots:
            new_slots["diagonal"] = slots.diagonal + ops.square(grad)
            step = grad / ops.sqrt(new_slots["diagonal"] + self.epsilon)
        else:
            step = g = ops.reshape(grad, _sides(grad.shape))
            transposed = ops.matrix_transpose(g)
            power = -0.25 if "left" in slots and "right" in slots else -0.5
            if "left" in slots:
                new_slots["left"] = slots.left + g @ transposed
                step = self._power(new_slots["left"], power, ops) @ step
            if "right" in slots:
                new_slots["right"] = slots.right + transposed @ g
                step = step @ self._power(new_slots["right"], power, ops)
            step = ops.reshape(step, grad.shape)
        if "velocity" in slots:
            step = hyper.momentum * slots.velocity + step
            new_slots["velocity"] = step
        return var - hyper.learning_rate * step, new_slots

    def _power(self, sums, exponent, ops):
        """(sums + epsilon * identity) ** exponent, for symmetric positive sums."""
        values, vectors = ops.eigh(sums)
        roots = (ops.maximum(values, 0.0) + self.epsilon) ** exponent
        return (vectors * roots) @ ops.matrix_transpose(vectors)
