"""What TensorFlow versions do differently for every generation, as dated records.

A fact that can be probed on the object itself is probed; nothing here compares versions.
"""

import collections
import inspect

import tensorflow as tf

#: versions: where it was seen; symptom; source: where it can be read; workaround: what is done.
Quirk = collections.namedtuple("Quirk", "versions symptom source workaround")

XLA_NAMES = Quirk(
    "2.0-2.4",
    "tf.function has no jit_compile argument; 2.1 to 2.4 call it experimental_compile, 2.0 has none",
    "signature of tf.function in each release",
    "the argument's name is read off the signature",
)

INNER_OPTIMIZER_IN_H5 = Quirk(
    "2.13-2.15, tf_keras",
    "an H5 file names the optimizer inside of a LossScaleOptimizer by its plain class name: a registered "
    "class is not found, or a native one of that name is made instead",
    "LossScaleOptimizer.get_config serializes in the new format, hdf5_format reads the old one",
    "none: load with compile=False, or with custom_objects where Keras has no class of that name",
)


def _xla_argument():
    names = inspect.signature(tf.function).parameters
    for name in ("jit_compile", "experimental_compile"):
        if name in names:
            return name
    return None


#: Name of tf.function's argument for XLA, or None where there is none.
XLA_ARGUMENT = _xla_argument()
