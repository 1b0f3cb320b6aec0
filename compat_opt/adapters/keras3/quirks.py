"""What versions of Keras 3 do differently, as dated records."""

from compat_opt.adapters.quirks import Quirk

VARIABLE_ARGUMENTS = Quirk(
    "3.0-3.9",
    "keras.Variable has no aggregation (3.0, 3.1), autocast (3.0) or layout argument yet",
    "keras/src/backend/common/variables.py",
    "the arguments are read off the signature",
)

NOT_TRACKABLE = Quirk(
    "3.0",
    "optimizers on the tensorflow backend are no Trackables, and tf.train.Checkpoint refuses them",
    "keras/src/backend/tensorflow/optimizer.py; 3.1 adds KerasAutoTrackable",
    "compiled classes inherit Trackable where the native class has no _track_trackable",
)

REPEATED_ROWS = Quirk(
    "3.0-3.15",
    "update_step gets IndexedSlices with repeated rows, and squares or takes signs row by row",
    "keras/src/backend/tensorflow/optimizer.py; report tensorflow#28090",
    "rows are summed before anything else",
)

SILENT_SKIP = Quirk(
    "3.0-3.15",
    "load_own_variables warns and leaves the optimizer fresh when counts differ",
    "BaseOptimizer.load_own_variables",
    "it is overridden; a wrong count is an error",
)
