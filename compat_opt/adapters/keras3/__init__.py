"""The Keras 3 generation, on its tensorflow, jax and torch backends."""
