"""Gradient descent with momentum: Sutskever et al. (2013), equations 1-4."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.3},
    {"learning_rate": 0.1, "momentum": 0.8},
    {"learning_rate": 0.1, "momentum": 0.8, "nesterov": True},
    {"learning_rate": 0.1, "momentum": 1.0},
    {"learning_rate": 0.1, "nesterov": True, "weight_decay": 0.2},
]


def trajectory(variables, gradients, learning_rate=0.01, momentum=0.0, nesterov=False, weight_decay=0.0):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    v = [np.zeros_like(x) for x in theta]
    history = []
    for row in gradients:
        for i, g in enumerate(row):
            theta[i] = theta[i] * (1 - learning_rate * weight_decay)
            before = v[i]
            v[i] = momentum * before - learning_rate * g
            if nesterov:
                # The stored point is the look-ahead theta + mu v of equation 4.
                theta[i] = theta[i] - momentum * before + (1 + momentum) * v[i]
            else:
                theta[i] = theta[i] + v[i]
        history.append([x.copy() for x in theta])
    return history
