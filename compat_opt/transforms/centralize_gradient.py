"""Gradients of mean zero."""

from compat_opt.transforms._transform import on_gradient, transform


@transform
def centralize_gradient(rule):
    """Take from each output unit's gradient its mean; variables with fewer than two axes stay.

    grad = grad - mean of grad over all axes but the last

    Args:
        rule: an UpdateRule subclass.

    Differs from:
        paper: output channels are the last axis in Keras, the first in the authors' PyTorch code.
        optax: takes the mean over all axes but the first, for any layout.

    Source:
        Yong et al., "Gradient Centralization: A New Optimization Technique for Deep Neural
        Networks", 2020, https://arxiv.org/abs/2004.01461
    """

    def change(grad, var, hyper, ops):
        if grad.ndim < 2:
            return grad
        return grad - ops.mean(grad, axis=tuple(range(grad.ndim - 1)), keepdims=True)

    return on_gradient(rule, change)
