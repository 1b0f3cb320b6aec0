"""What versions of Keras 3 do differently, as dated records."""

from compat_opt.adapters.quirks import Quirk

VARIABLE_ARGUMENTS = Quirk(
    "3.0-3.9",
    "keras.Variable has no aggregation (3.0, 3.1), autocast (3.0) or layout argument yet",
    "keras/src/backend/common/variables.py",
    "the arguments are read off the signature",
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
