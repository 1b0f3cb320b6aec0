"""Proximal Adagrad: FOBOS, Duchi and Singer (2009), equations 2-3, with Adagrad's step sizes."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "initial_accumulator_value": 0.6},
    {"learning_rate": 0.2, "l1_regularization_strength": 0.9, "l2_regularization_strength": 0.4},
]


def trajectory(
    variables,
    gradients,
    learning_rate=0.001,
    initial_accumulator_value=0.1,
    l1_regularization_strength=0.0,
    l2_regularization_strength=0.0,
):
    w = [np.array(value, dtype=np.float64) for value in variables]
    history = []
    sums = [np.full(value.shape, float(initial_accumulator_value)) for value in w]
    for row in gradients:
        for i, gradient in enumerate(row):
            for k in np.ndindex(*w[i].shape):
                sums[i][k] += gradient[k] ** 2
                eta = learning_rate / sums[i][k] ** 0.5
                half = w[i][k] - eta * gradient[k]
                size = max(abs(half) - eta * l1_regularization_strength, 0.0)
                w[i][k] = np.copysign(size, half) / (1 + eta * l2_regularization_strength)
        history.append([value.copy() for value in w])
    return history
