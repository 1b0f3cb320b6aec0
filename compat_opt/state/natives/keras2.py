"""The built-in classes of the Keras 2 Optimizer: TensorFlow 2.11-2.15 and tf_keras.

Those of TensorFlow 2.9 and 2.10, the dialect "experimental", differ where `EXPERIMENTAL` says so.
"""

from compat_opt.state.natives import update_step
from compat_opt.state.natives.entry import Native

_ADAM = Native(
    "Adam",
    {"m": "momentum", "v": "velocity", "vhat": "velocity_hat"},
    {"_momentums": "m", "_velocities": "v", "_velocity_hats": "vhat"},
    order=[["m", "v"], ["vhat"]],
)

CLASSES = {
    **update_step.CLASSES,
    # The slot is there without momentum too.
    "SGD": Native("SGD", {"m": "velocity"}, {"momentums": "m"}, placeholders=["m"]),
    "Adam": _ADAM,
    "AdamW": _ADAM.replaced(rule="AdamW"),
    "Adamax": Native("Adamax", {"m": "momentum", "u": "norm"}, {"_m": "m", "_u": "u"}),
    "Nadam": Native(
        "Nadam",
        {"m": "momentum", "v": "velocity"},
        {"_momentums": "m", "_velocities": "v"},
        shared={"_u_product": "momentum_product"},
        implied={"schedule_decay": 1.0},
        recomputed={"momentum_product": "nadam_product"},
    ),
    # v of a matrix is the product of its r and c, made anew at every step; r and c of a vector are
    # scalars that are not among the optimizer's variables.
    "Adafactor": Native(
        "Adafactor",
        {"r": "row", "c": "column", "v": "velocity"},
        {"_r": "r", "_c": "c", "_v": "v"},
        implied={"relative_step": True},
        placeholders=["r", "c", "v"],
        unlisted=["r", "c"],
    ),
    "Lion": Native("Lion", {"m": "momentum"}, {"momentums": "m"}),
}

#: TensorFlow 2.9 and 2.10. The centered RMSprop averages squares where gradients are meant, and
#: gives NaN: its average_gradient is no mean_gradient.
EXPERIMENTAL = {
    "SGD": CLASSES["SGD"].replaced(placeholders=[]),
    "RMSprop": CLASSES["RMSprop"].replaced(
        implied={"epsilon_outside": True},
        conversions={"momentum": "without_rate", "average_gradient": "not_a_mean"},
    ),
}

DIALECTS = {"experimental": EXPERIMENTAL}
