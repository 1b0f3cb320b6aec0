"""Loss scaling in custom training loops: one pair of functions for every LossScaleOptimizer.

Keras 2 has get_scaled_loss and get_unscaled_gradients; Keras 3 has scale_loss only, and its
apply_gradients divides. A loop written with this pair runs on both, and with optimizers that
scale nothing::

    with tf.GradientTape() as tape:
        loss = compat_opt.scale_loss(optimizer, compute_loss())
    gradients = compat_opt.unscale_gradients(optimizer, tape.gradient(loss, variables))
    optimizer.apply_gradients(zip(gradients, variables))
"""


def scale_loss(optimizer, loss):
    """`loss` times the present loss scale of `optimizer`.

    Args:
        optimizer: a LossScaleOptimizer of any Keras, or any other optimizer, compiled or native.
        loss: a tensor, or a function without arguments that returns one.

    Returns:
        A tensor (or function) of the same dtype; `loss` itself where nothing is scaled.
    """
    if hasattr(optimizer, "get_scaled_loss"):
        return optimizer.get_scaled_loss(loss)
    if callable(loss):
        return lambda: scale_loss(optimizer, loss())
    if hasattr(optimizer, "scale_loss"):
        return optimizer.scale_loss(loss)
    factor = getattr(optimizer, "loss_scale_factor", None)
    return loss if factor is None else loss * factor


def unscale_gradients(optimizer, grads):
    """Gradients of a scaled loss in the form that ``optimizer.apply_gradients`` takes.

    Args:
        optimizer: as for `scale_loss`.
        grads: a list of tensors, IndexedSlices and None.

    Returns:
        A list: divided by the loss scale where apply_gradients does not divide (Keras 2's
        LossScaleOptimizer); as they are where it does (Keras 3, and ``loss_scale_factor=``).
    """
    if hasattr(optimizer, "get_unscaled_gradients"):
        return list(optimizer.get_unscaled_gradients(grads))
    return list(grads)
