"""The built-in classes of OptimizerV2: TensorFlow 2.0-2.15, and tf_keras's legacy namespace.

All versions have the same names and formulas. Slots are stored slot by slot, Ftrl's variable by
variable. Every hyperparameter is a float32 variable.
"""

from compat_opt.state.natives.entry import Native


def _rmsprop_formula(config):
    # Without momentum it is composed of ops, with epsilon after the root; with momentum a kernel
    # has epsilon under it.
    return {"epsilon_outside": not config.get("momentum")}


CLASSES = {
    "SGD": Native("SGD", {"momentum": "velocity"}),
    "RMSprop": Native(
        "RMSprop",
        {"rms": "mean_square", "momentum": "velocity", "mg": "mean_gradient"},
        order=[["rms"], ["momentum"], ["mg"]],
        implied=_rmsprop_formula,
    ),
    "Adam": Native(
        "Adam", {"m": "momentum", "v": "velocity", "vhat": "velocity_hat"}, order=[["m"], ["v"], ["vhat"]]
    ),
    "Adamax": Native("Adamax", {"m": "momentum", "v": "norm"}, order=[["m"], ["v"]]),
    "Nadam": Native(
        "Nadam",
        {"m": "momentum", "v": "velocity"},
        order=[["m"], ["v"]],
        shared={"momentum_cache": "momentum_product"},
        hypers={"decay": "schedule_decay"},  # so its config calls it
        recomputed={"momentum_product": "nadam_product"},
    ),
    "Adagrad": Native("Adagrad", {"accumulator": "sum_of_squares"}, implied={"epsilon_outside": True}),
    "Adadelta": Native(
        "Adadelta",
        {"accum_grad": "mean_square", "accum_var": "mean_square_step"},
        order=[["accum_grad"], ["accum_var"]],
    ),
    "Ftrl": Native("Ftrl", {"accumulator": "sum_of_squares", "linear": "linear"}),
}
