"""Classes of public packages on OptimizerV2: TensorFlow Addons ("Addons>..."; its wrappers in wrappers.py), keras-adamw.

Schedules that they have built in (total_steps, cosine annealing, multipliers by layer) are no
state; `compat_opt.state.register_names` adds other classes.
"""

from compat_opt.state.natives.entry import Native
from compat_opt.state.natives.optimizer_v2 import CLASSES as BUILT_IN

_ADAM_SLOTS = {"m": "momentum", "v": "velocity", "vhat": "velocity_hat"}
_ADAM_ORDER = [["m"], ["v"], ["vhat"]]


def _decay_without_rate(config):
    # Addons' decoupled decay is not multiplied by the learning rate.
    decay, rate = config.get("weight_decay"), config.get("learning_rate")
    numbers = all(isinstance(value, (int, float)) for value in (decay, rate))
    return {"weight_decay": decay / rate} if numbers and rate else {}


def _decay_in_ratio(config):
    return {"decay_in_ratio": config.get("weight_decay", 0.0), "weight_decay": None}


def _decay_in_momentum(config):
    return {"decay_in_momentum": config.get("weight_decay", 0.0), "weight_decay": None}


CLASSES = {
    "Addons>AdaBelief": Native(
        "AdaBelief", {"m": "momentum", "v": "deviation", "vhat": "deviation_hat"}, order=_ADAM_ORDER
    ),
    "Addons>AdamW": Native("AdamW", _ADAM_SLOTS, order=_ADAM_ORDER, implied=_decay_without_rate),
    "Addons>COCOB": Native(
        "COCOB",
        {
            "lr": "scale",
            "grad_norm_sum": "magnitude_sum",
            "gradients_sum": "gradient_sum",
            "tilde_w": "offset",
            "reward": "reward",
        },
    ),
    # It makes a slot that it never reads.
    "Addons>ConditionalGradient": Native(
        "ConditionalGradient", {"conditional_gradient": None}, placeholders=["conditional_gradient"]
    ),
    "Addons>LAMB": Native(
        "LAMB", {"m": "momentum", "v": "velocity"}, order=[["m"], ["v"]], implied=_decay_in_ratio
    ),
    "Addons>LazyAdam": BUILT_IN["Adam"].replaced(rule="LazyAdam"),
    # Its momentum is a step: the learning rate is in it, and it is added.
    "Addons>NovoGrad": Native(
        "NovoGrad",
        {"m": "momentum", "v": "velocity"},
        order=[["m"], ["v"]],
        implied=_decay_in_momentum,
        conversions={"m": "with_minus_rate"},
    ),
    "Addons>ProximalAdagrad": Native("ProximalAdagrad", {"accumulator": "sum_of_squares"}),
    "Addons>RectifiedAdam": Native("RectifiedAdam", _ADAM_SLOTS, order=_ADAM_ORDER),
    "Addons>SGDW": Native("SGDW", {"momentum": "velocity"}, implied=_decay_without_rate),
    "Addons>Yogi": Native(
        "Yogi", {"v": "velocity", "m": "momentum"}, hypers={"beta1": "beta_1", "beta2": "beta_2"}
    ),
    # keras-adamw: its weight decays are by layer, {name: decay}.
    "AdamW": Native("AdamW", _ADAM_SLOTS, order=_ADAM_ORDER),
    "NadamW": BUILT_IN["Nadam"],
    "SGDW": Native("SGDW", {"momentum": "velocity"}),
}
