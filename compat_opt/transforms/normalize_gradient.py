"""Gradients of length one."""

from compat_opt.spec import Hyper, checks
from compat_opt.transforms._transform import on_gradient, transform


@transform
def normalize_gradient(rule, norm_epsilon=1e-7):
    """Divide each variable's gradient by its norm.

    grad = grad / (||grad|| + norm_epsilon)

    Args:
        rule: an UpdateRule subclass.
        norm_epsilon: added to the norm. Default 1e-7 (Keras's epsilon).

    Differs from:
        paper: no epsilon there.
        optax: normalize_by_update_norm acts on all variables as one, after the rule.

    Source:
        Yu et al., "Block-Normalized Gradient Method: An Empirical Study for Training Deep Neural
        Network", 2017, https://arxiv.org/abs/1707.04822
    """

    def change(grad, var, hyper, ops):
        return grad / (ops.vector_norm(grad) + hyper.norm_epsilon)

    return on_gradient(rule, change, norm_epsilon=Hyper(norm_epsilon, check=checks.positive))
