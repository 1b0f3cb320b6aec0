"""What versions of the Keras 2 optimizer do differently, as dated records."""

from compat_opt.adapters.quirks import Quirk

ITERATION_FIRST = Quirk(
    "2.9-2.10",
    "the native _variables list leaves out the iteration, so that 2.11 reads checkpoints shifted by one",
    "optimizer_experimental/optimizer.py, _create_iteration_variable",
    "the state hangs on a node of its own, the same in all versions; the native list stays empty",
)

NOT_IN_H5 = Quirk(
    "2.9-2.10",
    "an H5 file holds no state of an optimizer of this generation",
    "hdf5_format.save_optimizer_weights_to_hdf5_group logs a warning and writes nothing",
    "none: the loaded optimizer has its config; its state comes from set_weights() or a checkpoint",
)

WEIGHTS_OF_MODELS = Quirk(
    "2.9",
    "optimizers are tf.Modules, and a compiled model counts their variables among its own weights",
    "optimizer_experimental/optimizer.py, _BaseOptimizer; Layer.non_trainable_weights",
    "none: it asks for `variables`; a model's own weights are its trainable_variables and layers' weights",
)

MIXED_PRECISION = Quirk(
    "2.9",
    "Model.compile under mixed_float16 refuses optimizers of this generation, wrapped or not",
    "Model._get_optimizer makes the wrapper of the older generation",
    "none: scale the loss in a custom loop, with scale_loss()",
)

REVIVED = Quirk(
    "2.9-2.15, tf_keras",
    "a SavedModel with an optimizer is loaded only if the optimizer has a variable _iterations",
    "optimizer.py, RestoredOptimizer",
    "the counter is tracked under that name too",
)

SILENT_SKIP = Quirk(
    "2.12-2.15, tf_keras",
    "load_own_variables logs a warning and leaves the optimizer fresh when counts differ",
    "optimizer.py, load_own_variables",
    "it is overridden; a wrong count is an error",
)
