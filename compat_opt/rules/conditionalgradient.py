"""The Frank-Wolfe method."""

from compat_opt.spec import Hyper, UpdateRule, checks


class ConditionalGradient(UpdateRule):
    """ConditionalGradient: moves towards the point of a norm ball that lies along the gradient.

    "fro": s = grad / (||grad|| + epsilon)
    "nuclear": s = u v^T, the gradient's first singular vectors
    var = learning_rate * var - (1 - learning_rate) * lambda_ * s

    Args:
        learning_rate: weight of the old value; 1 does not move. Default 0.99 (TFA's examples).
        lambda_: radius of the ball. Default 0.01 (TFA).
        epsilon: added to the norm. Default 1e-7 (TFA).
        ord: "fro" (Frobenius) or "nuclear"; scalars and vectors are the same in both. Default
            "fro" (TFA).

    Slots:
        none: no state.

    Differs from:
        paper: step sizes 2 / (t + 2); here a learning rate, as in TFA.
        TFA: epsilon acts in "nuclear" too, where TFA's zero gradient gives arbitrary vectors;
            variables with more than two axes are flattened to matrices, where TFA fails.

    Source:
        Ravi et al., "Explicitly Imposing Constraints in Deep Networks via Conditional Gradients
        Gives Improved Generalization and Faster Convergence", 2019,
        https://arxiv.org/abs/1803.06453
    """

    learning_rate = Hyper(0.99, check=checks.closed_unit_interval)
    lambda_ = Hyper(0.01, check=checks.non_negative)
    epsilon = Hyper(1e-7, check=checks.non_negative)
    ord = Hyper("fro", static=True, check=checks.one_of("fro", "nuclear"))

    def update(self, grad, var, slots, hyper, ops):
        vertex = grad
        if self.ord == "nuclear" and grad.ndim > 1:
            matrix = ops.reshape(grad, (grad.shape[0], grad.size // grad.shape[0]))
            _, vectors = ops.eigh(matrix @ ops.matrix_transpose(matrix))
            first = vectors[:, -1:]
            vertex = ops.reshape(first @ (ops.matrix_transpose(first) @ matrix), grad.shape)
        vertex = vertex / (ops.vector_norm(vertex) + hyper.epsilon)
        toward = (1 - hyper.learning_rate) * hyper.lambda_ * vertex
        return hyper.learning_rate * var - toward, {}
