"""Where modules that legacy optimizers import have gone, as dated records."""

import collections

#: old: a module path, or "keras/" and a path below any root of Keras; versions: where the old path
#: worked; new: candidates, the first that can be imported is taken, "@" is the private root of the
#: Keras that answers; source: where that can be read.
Moved = collections.namedtuple("Moved", "old versions new source")

MOVED = (
    Moved("keras/optimizer_v2", "2.0-2.8", ("@.optimizers.legacy", "@.optimizers.optimizer_v2"), "tf_keras/src/optimizers/legacy"),
    Moved("keras/optimizers/optimizer_v2", "2.9-2.11", ("@.optimizers.legacy", "@.optimizers.optimizer_v2"), "keras 2.9 to 2.11"),
    Moved("keras/optimizers/legacy", "2.12-2.15", ("@.optimizers.legacy", "@.optimizers.optimizer_v2"), "keras 2.12 to 2.15"),
    Moved("keras/optimizers/legacy/optimizer", "2.9-2.11", ("@.optimizers.legacy.optimizer_v2", "@.optimizers.optimizer_v2.optimizer_v2"), "keras 2.9 to 2.11: an empty subclass"),
    Moved("keras/optimizer_v2/learning_rate_schedule", "2.0-2.8", ("@.optimizers.schedules.learning_rate_schedule",), "keras 2.9"),
    Moved("keras/optimizers/learning_rate_schedule", "2.6-2.8", ("@.optimizers.schedules.learning_rate_schedule",), "keras 2.9"),
    Moved("keras/optimizer_v1", "2.0-2.10", ("@.optimizers.optimizer_v1",), "tf_keras/src/optimizers/optimizer_v1.py"),
    Moved("keras/optimizers/optimizer_experimental", "2.9-2.11", ("@.optimizers",), "keras 2.12"),
    Moved("keras/optimizers/optimizer_experimental/optimizer", "2.9-2.11", ("@.optimizers.optimizer", "@.optimizers.optimizer_experimental.optimizer"), "keras 2.12"),
    Moved("keras/utils/generic_utils", "2.0-2.12", ("@.utils.generic_utils",), "keras 2.13"),
    Moved("keras/backend_config", "2.0-2.15", ("@.backend_config",), "tf_keras/src/backend_config.py"),
    Moved("tensorflow.python.training.training_ops", "2.0-2.11", ("tensorflow.python.training.gen_training_ops", "tensorflow.python.ops.gen_training_ops"), "the generated module has the same names"),
    Moved("tensorflow.python.training.gen_training_ops", "2.0-2.15", ("tensorflow.python.ops.gen_training_ops",), "the generated modules are together in ops"),
    Moved("tensorflow.python.training.tracking.base", "2.0-2.8", ("tensorflow.python.trackable.base",), "2.9 renames the package"),
    Moved("tensorflow.python.training.tracking", "2.0-2.8", ("tensorflow.python.trackable",), "2.9 renames the package"),
    Moved("tensorflow.python.array_ops", "2.0-2.2", ("tensorflow.python.ops.array_ops",), "tensorflow/python/__init__.py imported them all"),
    Moved("tensorflow.python.control_flow_ops", "2.0-2.2", ("tensorflow.python.ops.control_flow_ops",), "tensorflow/python/__init__.py imported them all"),
    Moved("tensorflow.python.math_ops", "2.0-2.2", ("tensorflow.python.ops.math_ops",), "tensorflow/python/__init__.py imported them all"),
    Moved("tensorflow.python.state_ops", "2.0-2.2", ("tensorflow.python.ops.state_ops",), "tensorflow/python/__init__.py imported them all"),
)  # fmt: skip

#: Modules that have lost names: where these are now. Source: the modules of each TensorFlow release.
LOST_NAMES = {
    "tensorflow.python.ops": ("tensorflow.python.framework.ops",),  # `from tensorflow.python import ops`, 2.0-2.2
    "tensorflow.python.framework.ops": ("tensorflow.python.framework.tensor", "tensorflow"),  # Tensor, 2.15
    "tensorflow.python.ops.control_flow_ops": (
        "tensorflow.python.ops.cond",  # 2.13
        "tensorflow.python.ops.while_loop",
        "tensorflow.python.ops.control_flow_assert",
        "tensorflow.python.ops.control_flow_case",
    ),
    "tensorflow.python.ops.math_ops": ("tensorflow.math", "tensorflow"),
    "tensorflow.python.ops.array_ops": ("tensorflow",),
}

#: Paths of modules and decorators, below any root of Keras, that no Keras of today has; `world.stand_ins` answers them.
GONE = {
    "legacy/interfaces": "Keras 2.0-2.3: decorators that translate arguments of Keras 1",
    "legacy": "Keras 2.0-2.3: the package of legacy/interfaces",
    "backend/symbolic": "Keras 2.3: runs a function in Keras's graph; a traced step is in one already",
    "wrappers": "Keras 2.0-2.3: scikit-learn classes; packages list it beside the modules that they use",
}
