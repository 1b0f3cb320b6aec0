"""Variables, gradients and steps for any optimizer, compiled from a rule or not."""

import warnings

import numpy as np

from compat_opt.testing.harness import harness_for


class Stage:
    """What a workload needs of the framework.

    Args:
        target: a `Target`.
        rule: the rule, or None for any other optimizer.
        dtype: "float64" where the backend has it, else "float32".
    """

    def __init__(self, target, rule, dtype):
        self.target, self.rule = target, rule
        self.harness = harness_for(target)
        self.dtype = dtype if dtype in self.harness.offers or dtype == "float32" else "float32"
        self.has_sparse = "sparse" in self.harness.offers
        self.has_graph = "graph" in self.harness.offers

    def variable(self, array, name):
        """A trainable variable."""
        if self.rule is None and self.target.generation == "keras3":
            import keras

            return keras.Variable(np.asarray(array).astype(self.dtype), dtype=self.dtype, name=name)
        return self.harness.variable(array, self.dtype, name)

    def gradient(self, value):
        """A gradient: an array, or ``(rows, values, shape)`` for a sparse one."""
        if not isinstance(value, tuple):
            return self.harness.gradient(value, self.dtype)
        import tensorflow as tf

        rows, values, shape = value
        return tf.IndexedSlices(
            self.harness.gradient(values, self.dtype), tf.constant(rows, tf.int64), tf.constant(shape, tf.int64)
        )

    def numpy(self, variable):
        """A variable's value."""
        return np.array(self.harness.numpy(variable))

    def step(self, optimizer, variables, compiled):
        """A function of a list of gradients that makes one step."""

        def apply(gradients):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                optimizer.apply_gradients(list(zip(gradients, variables)))

        if not compiled:
            return apply
        if self.target.backend != "tensorflow":
            return self.harness.step(optimizer, variables, True)
        import tensorflow as tf

        if self.target.generation != "optimizer_v2" or self.rule is not None:
            optimizer.build(variables)
        return tf.function(lambda gradients: apply(gradients))

    def slots(self, optimizer, variables, names):
        """{(number of the variable, slot name): value}; empty where the optimizer does not tell."""
        try:
            if self.target.generation == "optimizer_v2" or self.rule is not None:
                return self._slots_by_name(optimizer, variables)
            return self._slots_of_list(optimizer, variables, names)
        except Exception:  # slots are an extra; a class may keep its state in any way
            return {}

    def _slots_by_name(self, optimizer, variables):
        found = {}
        for slot in optimizer.get_slot_names():
            for number, variable in enumerate(variables):
                try:
                    value = optimizer.get_slot(variable, slot)
                except (KeyError, ValueError):
                    continue
                if value is not None:
                    found[(number, slot)] = self.numpy(value)
        return found

    def _slots_of_list(self, optimizer, variables, names):
        """Keras 2 and 3 name their state after the variable: ``adam/m/kernel``, ``adam/kernel_velocity``."""
        state = optimizer.variables
        found = {}
        for value in state() if callable(state) else state:
            label = (getattr(value, "path", None) or value.name).split(":")[0]
            parts = label.split("/")
            for number, name in enumerate(names):
                at = [i for i, part in enumerate(parts) if name in part]
                if at and tuple(value.shape) == tuple(variables[number].shape):
                    rest = parts[at[-1]].replace(name, "").strip("_")
                    slot = rest or (parts[at[-1] - 1] if at[-1] else label)
                    found[(number, slot)] = self.numpy(value)
        return found
