"""Export to the Optimizer of Keras 3, on its backends TensorFlow, JAX and torch."""
