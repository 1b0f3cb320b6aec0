"""Optimizers of a target that hold a legacy optimizer: one file per target's API."""
