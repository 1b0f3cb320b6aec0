"""The Keras 2 generation: experimental in TF 2.9-2.10, tf.keras in 2.11-2.15, tf_keras."""
