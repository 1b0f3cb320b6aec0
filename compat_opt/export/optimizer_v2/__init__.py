"""Export to OptimizerV2: TF 2.0-2.10, and the legacy optimizers of later versions and of tf_keras."""
