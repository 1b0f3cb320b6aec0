"""Adam with decoupled weight decay."""

from compat_opt.rules.adam import Adam
from compat_opt.spec import Hyper, checks


class AdamW(Adam):
    """AdamW: Adam, with weight decay that does not pass through the moments.

    var = var - learning_rate * weight_decay * var
    then Adam:
    momentum = beta_1 * momentum + (1 - beta_1) * grad
    velocity = beta_2 * velocity + (1 - beta_2) * |grad|^2
    amsgrad: velocity_hat = max(velocity_hat, velocity), used in place of velocity
    step_size = learning_rate * sqrt(1 - beta_2^t) / (1 - beta_1^t)
    var = var - step_size * momentum / (sqrt(velocity) + epsilon)

    Args:
        learning_rate: step size. Default 0.001 (Keras, paper).
        beta_1: decay of the momentum. Default 0.9 (Keras, paper).
        beta_2: decay of the mean square. Default 0.999 (Keras, paper).
        epsilon: added to the root. Default 1e-7 (Keras; paper 1e-8).
        amsgrad: whether the mean square may never shrink. Default False (Keras).
        weight_decay: decay per unit of learning rate. Default 0.004 (Keras; torch 0.01).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros.
        velocity_hat: the variable's shape, real dtype, zeros; only with amsgrad.

    Differs from:
        paper and TFA: they multiply the decay by the schedule's multiplier only, not by the
            learning rate: their weight_decay is this one times learning_rate.
        TF 2.9: its experimental AdamW multiplied the weights by learning_rate * weight_decay.
        Keras from 2.10, torch: no difference, but for Adam's epsilon in torch and optax.

    Source:
        Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019,
        https://arxiv.org/abs/1711.05101
    """

    weight_decay = Hyper(0.004, check=checks.non_negative)
