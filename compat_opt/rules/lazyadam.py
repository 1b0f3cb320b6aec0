"""Adam that leaves rows without gradient alone."""

from compat_opt.rules.adam import Adam


class LazyAdam(Adam):
    """LazyAdam: Adam for the rows that have a gradient; other rows and their moments stay.

    rows (along the first axis) whose gradient is not all 0:
    momentum = beta_1 * momentum + (1 - beta_1) * grad
    velocity = beta_2 * velocity + (1 - beta_2) * |grad|^2
    amsgrad: velocity_hat = max(velocity_hat, velocity), used in place of velocity
    step_size = learning_rate * sqrt(1 - beta_2^t) / (1 - beta_1^t)
    var = var - step_size * momentum / (sqrt(velocity) + epsilon)
    other rows: no change

    Args:
        learning_rate: step size. Default 0.001 (TFA).
        beta_1: decay of the momentum. Default 0.9 (TFA).
        beta_2: decay of the mean square. Default 0.999 (TFA).
        epsilon: added to the root. Default 1e-7 (TFA).
        amsgrad: whether the mean square may never shrink. Default False (TFA).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros.
        velocity_hat: the variable's shape, real dtype, zeros; only with amsgrad.

    Differs from:
        paper: none; it is TensorFlow's treatment of embeddings, t counting all steps.
        TFA: lazy only for IndexedSlices; here also for dense gradients with zero rows, and a
            slice that is all 0 counts as absent. TFA refuses amsgrad.

    Source:
        TensorFlow Addons authors, "tfa.optimizers.LazyAdam", 2019,
        https://www.tensorflow.org/addons/api_docs/python/tfa/optimizers/LazyAdam
    """

    def update(self, grad, var, slots, hyper, ops):
        new_var, new_slots = super().update(grad, var, slots, hyper, ops)
        touched = grad != 0
        if grad.ndim > 1:
            touched = ops.any(touched, axis=tuple(range(1, grad.ndim)), keepdims=True)
        kept = {name: ops.where(touched, new_slots[name], slots[name]) for name in new_slots}
        return ops.where(touched, new_var, var), kept
