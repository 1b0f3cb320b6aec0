"""The built-in classes of the Keras 3 Optimizer, on every backend.

torch replaces some of them by classes that update all variables at once: same names, same state.
"""

from compat_opt.state.natives import update_step
from compat_opt.state.natives.entry import Native

_ADAM = Native(
    "Adam",
    {"momentum": "momentum", "velocity": "velocity", "velocity_hat": "velocity_hat"},
    {"_momentums": "momentum", "_velocities": "velocity", "_velocity_hats": "velocity_hat"},
    order=[["momentum", "velocity"], ["velocity_hat"]],
)

#: Its momentum_old is the variable itself there, and has changed when it is read (Keras 3.15.1).
_CHANGED_BASE = "Keras's on TensorFlow and torch, which reads base after having changed it"

CLASSES = {
    **update_step.CLASSES,
    "SGD": Native("SGD", {"momentum": "velocity"}, {"momentums": "momentum"}),
    "Adam": _ADAM,
    "AdamW": _ADAM.replaced(rule="AdamW"),
    "Adamax": Native("Adamax", {"momentum": "momentum", "norm": "norm"}, {"_m": "momentum", "_u": "norm"}),
    "Nadam": Native(
        "Nadam",
        {"momentum": "momentum", "velocity": "velocity"},
        {"_momentums": "momentum", "_velocities": "velocity"},
        shared={"_u_product": "momentum_product"},
        implied={"schedule_decay": 1.0},
        recomputed={"momentum_product": "nadam_product"},
    ),
    # v of a matrix is the product of its r and c, made anew at every step; r and c of a vector are
    # scalars, and among the optimizer's variables.
    "Adafactor": Native(
        "Adafactor",
        {"r": "row", "c": "column", "velocity": "velocity"},
        {"_r": "r", "_c": "c", "_v": "velocity"},
        implied={"relative_step": True},
        placeholders=["r", "c", "velocity"],
    ),
    "Lion": Native("Lion", {"momentum": "momentum"}, {"_momentums": "momentum"}),
    "Lamb": Native(
        "LAMB",
        {"momentum": "momentum", "velocity": "velocity"},
        {"_momentums": "momentum", "_velocities": "velocity"},
        implied={"decay_in_ratio": 0.0},
    ),
    "Muon": Native(
        "Muon",
        {"momentum": "first_moment", "velocity": "second_moment"},
        {"momentums": "momentum", "adam_velocities": "velocity"},
    ),
    "ScheduleFreeAdamW": Native(
        "ScheduleFreeAdamW",
        {"momentum": "base", "velocity": "velocity"},
        {"_momentums": "momentum", "_velocities": "velocity"},
        implied={"weight_lr_power": 0.0},
        recomputed={"weight_sum": "count_of_steps", "largest_rate": "present_rate"},
        formulas=dict.fromkeys(("tensorflow", "torch"), _CHANGED_BASE),
    ),
}
