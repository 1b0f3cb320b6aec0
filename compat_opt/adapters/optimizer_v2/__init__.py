"""The OptimizerV2 generation: tf.keras of TF 2.0-2.10, `legacy` in 2.9-2.15 and in tf_keras."""
