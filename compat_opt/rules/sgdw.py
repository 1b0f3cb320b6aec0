"""Gradient descent with decoupled weight decay."""

from compat_opt.rules.sgd import SGD
from compat_opt.spec import Hyper, checks


class SGDW(SGD):
    """SGDW: SGD with momentum, with weight decay that does not pass through the momentum.

    var = var - learning_rate * weight_decay * var
    then SGD:
    velocity = momentum * velocity - learning_rate * grad
    var = var + velocity
    nesterov: var = var + momentum * velocity - learning_rate * grad

    Args:
        learning_rate: step size. Default 0.01 (Keras).
        momentum: how much of the last step is kept; 0 keeps no slot. Default 0.0 (Keras, TFA).
        nesterov: whether the step looks ahead. Default False (Keras, TFA).
        weight_decay: decay per unit of learning rate. Default 0.004 (Keras's AdamW).

    Slots:
        velocity: the variable's shape, compute dtype, zeros; only if momentum is not 0.

    Differs from:
        paper and TFA: they multiply the decay by the schedule's multiplier only, not by the
            learning rate: their weight_decay is this one times learning_rate.
        Keras from 2.11: SGD(weight_decay=...) is the same.

    Source:
        Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019,
        https://arxiv.org/abs/1711.05101
    """

    weight_decay = Hyper(0.004, check=checks.non_negative)
