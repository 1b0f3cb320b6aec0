"""Weight decay that has nothing to do with the learning rate."""

from compat_opt.spec import Hyper, checks
from compat_opt.transforms._transform import transform


@transform
def decoupled_weight_decay(rule, decoupled_decay=1e-4):
    """Take a part of the weights away before each step, whatever the learning rate is.

    var = var - decoupled_decay * var, before the rule's update

    It is scheduled like any hyperparameter, and a `Group` leaves variables out: decoupled_decay=0.

    Args:
        rule: an UpdateRule subclass.
        decoupled_decay: part of the weights that a step takes. Default 0.0001 (TFA's example).

    Differs from:
        paper: its schedule multiplies learning rate and decay; here each has its own.
        TFA: no difference from extend_with_decoupled_weight_decay; its decay_var_list is a group here.
        Keras: weight_decay, which every compiled optimizer has, is multiplied by the learning rate.

    Source:
        Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2017,
        https://arxiv.org/abs/1711.05101
    """
    decay = Hyper(decoupled_decay, check=checks.non_negative)

    class DecoupledWeightDecay(rule):
        decoupled_decay = decay

        def update(self, grad, var, slots, hyper, ops):
            return super().update(grad, var - hyper.decoupled_decay * var, slots, hyper, ops)

    return DecoupledWeightDecay
