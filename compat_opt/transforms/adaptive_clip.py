"""Clipping relative to the weights."""

from compat_opt.spec import Hyper, checks
from compat_opt.transforms._transform import on_gradient, transform


@transform
def adaptive_clip(rule, clipping=0.01, weight_epsilon=1e-3):
    """Adaptive gradient clipping: bound each unit's gradient by a part of its weights' norm.

    limit = clipping * max(||var||, weight_epsilon)
    grad = grad * limit / max(||grad||, limit)
    norms are over all axes but the last, or of the whole where there are fewer than two axes

    Args:
        rule: an UpdateRule subclass.
        clipping: largest ratio of the norms. Default 0.01 (paper, batches of 4096).
        weight_epsilon: least norm of weights. Default 0.001 (paper).

    Differs from:
        paper: no difference; it leaves the last layer out.
        optax: no difference for matrices and two-dimensional convolutions.

    Source:
        Brock et al., "High-Performance Large-Scale Image Recognition Without Normalization", 2021,
        https://arxiv.org/abs/2102.06171
    """

    def change(grad, var, hyper, ops):
        axes = tuple(range(grad.ndim - 1)) if grad.ndim > 1 else None
        var_norm = ops.vector_norm(var, axis=axes, keepdims=True)
        norm = ops.vector_norm(grad, axis=axes, keepdims=True)
        limit = hyper.clipping * ops.maximum(var_norm, hyper.weight_epsilon)
        return grad * (limit / ops.maximum(norm, limit))

    return on_gradient(
        rule,
        change,
        clipping=Hyper(clipping, check=checks.positive),
        weight_epsilon=Hyper(weight_epsilon, check=checks.positive),
    )
