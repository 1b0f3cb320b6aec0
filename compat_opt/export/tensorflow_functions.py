"""Private functions of exported files on TensorFlow, for Keras 2 and OptimizerV2."""

COMPUTE_DTYPE = '''
def _compute_dtype(variable):
    """float32 for half precision, in which averages over steps would stand still."""
    dtype = tf.as_dtype(variable.dtype).base_dtype
    if not dtype.is_floating:
        raise TypeError("Only real variables are updated. Received: dtype=%s" % dtype.name)
    return tf.float32 if dtype.size < 4 else dtype
'''

DENSE = '''
def _dense(gradient, variable, dtype):
    """The gradient in the compute dtype; repeated rows of a sparse one are summed."""
    if isinstance(gradient, tf.IndexedSlices):
        values = tf.cast(gradient.values, dtype)
        return tf.math.unsorted_segment_sum(values, gradient.indices, variable.shape[0])
    return tf.cast(gradient, dtype)
'''

CAST = '''
def _cast(scalars, dtype):
    """The scalars of a step in the dtype of a variable's update."""
    return {name: tf.cast(value, dtype) for name, value in scalars.items()}
'''

#: Lines behind ``import tensorflow as tf``: where Keras 2 is.
KERAS_2 = [
    "",
    "keras = tf.keras",
    'if hasattr(keras, "ops"):  # Keras 3; Keras 2 is the package tf_keras then',
    "    import tf_keras as keras",
]
