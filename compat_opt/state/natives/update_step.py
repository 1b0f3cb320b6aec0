"""The built-in classes that Keras 2 and Keras 3 name alike."""

from compat_opt.state.natives.entry import Native

CLASSES = {
    "RMSprop": Native(
        "RMSprop",
        {"velocity": "mean_square", "momentum": "velocity", "average_gradient": "mean_gradient"},
        {"_velocities": "velocity", "_momentums": "momentum", "_average_gradients": "average_gradient"},
        order=[["velocity"], ["momentum"], ["average_gradient"]],
        implied={"epsilon_outside": False},
    ),
    "Adagrad": Native(
        "Adagrad",
        {"accumulator": "sum_of_squares"},
        {"_accumulators": "accumulator"},
        implied={"epsilon_outside": False},
    ),
    "Adadelta": Native(
        "Adadelta",
        {"accumulated_grad": "mean_square", "accumulated_delta_var": "mean_square_step"},
        {"_accumulated_grads": "accumulated_grad", "_accumulated_delta_vars": "accumulated_delta_var"},
    ),
    "Ftrl": Native(
        "Ftrl",
        {"accumulator": "sum_of_squares", "linear": "linear"},
        {"_accumulators": "accumulator", "_linears": "linear"},
    ),
}
