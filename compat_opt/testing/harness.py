"""The little that the laws need of a framework: variables, gradients, compiled steps."""

import numpy as np


def harness_for(target):
    """The harness of a target's framework."""
    if target.backend == "tensorflow":
        return TensorFlowHarness(target)
    return KerasHarness(target)


def _keras_has_complex():
    """Whether Keras 3 can make a complex variable, such as a slot: the first versions refuse the dtype."""
    import keras

    try:
        keras.backend.standardize_dtype("complex128")
    except ValueError:
        return False
    return True


class TensorFlowHarness:
    """tf.Variables, for all generations on TensorFlow."""

    def __init__(self, target):
        import tensorflow as tf

        self.tf = tf
        self.target = target
        #: What this framework offers to the laws.
        self.offers = frozenset(["graph", "sparse", "float64", "half", "complex"])
        if target.namespace == "keras" and not _keras_has_complex():
            self.offers -= {"complex"}

    def variable(self, array, dtype, name="variable"):
        """A trainable variable."""
        return self.tf.Variable(self._tensor(array, dtype), name=name)

    def _tensor(self, array, dtype):
        return self.tf.cast(self.tf.constant(np.asarray(array)), dtype)

    def gradient(self, array, dtype):
        """A dense gradient."""
        return self._tensor(array, dtype)

    def sparse_gradient(self, array, dtype):
        """Rows of `array` that are not zero, one of them in two halves: repeated and unsorted."""
        rows = [i for i in range(len(array)) if np.any(array[i])]
        parts = [(rows[-1], 0.25)] + [(row, 1.0 if row != rows[-1] else 0.75) for row in rows]
        values = np.stack([np.asarray(array[row]) * share for row, share in parts])
        return self.tf.IndexedSlices(
            self._tensor(values, dtype),
            self.tf.constant([row for row, _ in parts], self.tf.int64),
            self.tf.constant(np.shape(array), self.tf.int64),
        )

    def numpy(self, variable):
        """The value, with half precision and complex kept exact."""
        value = self.tf.convert_to_tensor(getattr(variable, "_value", variable))
        if value.dtype in (self.tf.float16, self.tf.bfloat16):
            value = self.tf.cast(value, self.tf.float32)
        return value.numpy()

    def step(self, optimizer, variables, compiled):
        """A function of a list of gradients (None where missing) that makes one step."""

        def apply(gradients):
            optimizer.apply_gradients(list(zip(gradients, variables)))

        if not compiled:
            return apply
        optimizer.build(variables)
        traced = {}

        def run(gradients):
            # None is no argument of a tf.function before 2.2, so presence is part of the key.
            key = tuple(gradient is not None for gradient in gradients)
            if key not in traced:
                present = list(key)

                def body(given):
                    given = iter(given)
                    apply([next(given) if there else None for there in present])

                traced[key] = self.tf.function(body)
            traced[key]([gradient for gradient in gradients if gradient is not None])

        return run

    def schedule(self, values):
        """A schedule: step -> values[step]."""
        constants = self.tf.constant(values, self.tf.float64)
        return lambda step: self.tf.gather(constants, self.tf.cast(step, self.tf.int32))


class KerasHarness:
    """keras.Variables, on the JAX and torch backends."""

    def __init__(self, target):
        import keras

        self.keras = keras
        self.target = target
        offers = ["half", "graph"] if target.backend == "jax" else ["half", "float64"]
        self.offers = frozenset(offers)

    def variable(self, array, dtype, name="variable"):
        """A trainable variable."""
        return self.keras.Variable(self.gradient(array, dtype), dtype=dtype, name=name.replace("/", "_"))

    def gradient(self, array, dtype):
        """A dense gradient."""
        array = np.asarray(array)
        wide = {"float16": "float32", "bfloat16": "float32"}.get(dtype, dtype)
        return self.keras.ops.cast(self.keras.ops.convert_to_tensor(array.astype(wide), wide), dtype)

    def numpy(self, variable):
        """The value, with half precision kept exact."""
        value = self.keras.ops.convert_to_tensor(variable)
        if self.keras.backend.standardize_dtype(value.dtype) in ("float16", "bfloat16"):
            value = self.keras.ops.cast(value, "float32")
        return np.array(self.keras.ops.convert_to_numpy(value))

    def step(self, optimizer, variables, compiled):
        """A function of a list of gradients (None where missing) that makes one step."""
        if not compiled:
            return lambda gradients: optimizer.apply_gradients(list(zip(gradients, variables)))
        import jax

        optimizer.build(variables)
        apply = jax.jit(optimizer.stateless_apply)

        def run(gradients):
            values = [v.value for v in variables]
            new_values, new_state = apply([v.value for v in optimizer.variables], gradients, values)
            for variable, value in zip(variables + list(optimizer.variables), new_values + new_state):
                variable.assign(value)

        return run

    def schedule(self, values):
        """A schedule: step -> values[step]."""
        ops = self.keras.ops
        constants = ops.convert_to_tensor(np.asarray(values, "float32"))
        return lambda step: ops.take(constants, ops.cast(step, "int32"))
