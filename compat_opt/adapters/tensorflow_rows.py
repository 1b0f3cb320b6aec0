"""Updates of the touched rows of a table only."""

import tensorflow as tf

from compat_opt.ops import Value, dtypes
from compat_opt.ops.tensorflow_executor import TensorFlowExecutor

_EXECUTOR = TensorFlowExecutor()


class Scattered:
    """A table under plain gradient descent: the scaled slices are subtracted where they are.

    Repeated rows need no summing: subtraction adds them up.
    """

    finish = None
    slot_values = {}

    def __init__(self, variable, slices):
        self._variable = variable
        self._indices = slices.indices
        self.gradient = tf.cast(slices.values, dtypes.compute_dtype(_EXECUTOR.dtype(variable)))
        self.value = tf.cast(self.gradient, variable.dtype.base_dtype)

    def subtract(self, rate, gradient):
        """The op that subtracts rate * gradient from the rows."""
        delta = tf.cast(rate * gradient, self._variable.dtype.base_dtype)
        return self._variable.scatter_sub(tf.IndexedSlices(delta, self._indices))

    def write(self, value, slots):
        """Everything was written by `subtract`."""
        return []


class Rows:
    """The rows of a variable and its slots that a sparse gradient touches.

    Repeated rows are summed. Shapes stay static, so that XLA can compile it: with K given rows of
    which U differ, there are K sums, the last K - U of them zero. They count for norms as zeros;
    after clipping they become repetitions of the first row, and are written with its result.

    Attributes:
        value, slot_values, gradient: the rows, as tensors.
        finish: turns the clipped gradient into the one that the rule gets.
    """

    def __init__(self, variable, slots, slices):
        self._variable = variable
        self._slots = slots
        compute = dtypes.compute_dtype(_EXECUTOR.dtype(variable))
        order = tf.argsort(slices.indices)
        rows = tf.gather(slices.indices, order)
        values = tf.gather(tf.cast(slices.values, compute), order)
        is_new = tf.concat([tf.ones_like(rows[:1]), tf.cast(rows[1:] != rows[:-1], rows.dtype)], 0)
        segments = tf.cumsum(is_new) - 1
        count = tf.shape(rows)[0]
        self.gradient = tf.math.unsorted_segment_sum(values, segments, count)
        first = tf.math.unsorted_segment_max(rows, segments, count)
        used = tf.range(count) <= tf.cast(segments[-1:], tf.int32)
        # An empty gradient has no first row to repeat; it has no rows to write either.
        self._repeat = tf.where(used, tf.range(count), tf.zeros_like(tf.range(count)))
        self._rows = tf.gather(first, self._repeat)
        self.value = tf.gather(variable, self._rows)
        self.slot_values = {name: tf.gather(slot, self._rows) for name, slot in slots.items()}

    def finish(self, gradient):
        """The clipped gradient with its unused rows as repetitions of the first."""
        return Value(tf.gather(gradient.raw, self._repeat), gradient._ops)

    def write(self, value, slots):
        """Scatter the new rows."""
        new = [] if value is None else [(self._variable, value)]
        new.extend((self._slots[name], slot) for name, slot in slots.items())
        return [variable.scatter_update(tf.IndexedSlices(rows, self._rows)) for variable, rows in new]
