"""The places of variables as a part of TensorFlow's checkpoints."""

import json

import tensorflow as tf

from compat_opt.adapters.places import check_places, written


class Places(tf.train.experimental.PythonState):
    """Names and shapes of an optimizer's variables, saved beside their state.

    A checkpoint restores Python state first: when the places do not fit, nothing has been
    overwritten.

    Args:
        layout: the optimizer's layout.
    """

    def __init__(self, layout):
        self._layout = layout
        self._waiting = None

    def serialize(self):
        """The present places, as JSON."""
        return written(*self._present(self._layout.optimizer._core.variables))

    def deserialize(self, string_value):
        """Compare the places of a checkpoint with the present ones, and with those that will be built."""
        saved = json.loads(tf.compat.as_text(string_value))
        variables = self._layout.optimizer._core.variables
        check_places(saved, *self._present(variables))
        self._waiting = saved if len(saved) > len(variables) else None

    def check_new(self, variables):
        """The same for variables that are about to be built after a restore."""
        if self._waiting:
            check_places(self._waiting, *self._present(variables))

    def _present(self, variables):
        layout = self._layout
        return [layout.name(v) for v in variables], [layout.shape(v) for v in variables]
