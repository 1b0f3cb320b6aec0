"""Export to the Keras 2 Optimizer of TF 2.9-2.15 and tf_keras."""
