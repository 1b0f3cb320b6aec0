"""SGDW: Algorithm 1 of arXiv:1711.05101, its eta_t * lambda being learning_rate * weight_decay."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "weight_decay": 0.3},
    {"learning_rate": 0.1, "momentum": 0.8, "weight_decay": 0.3},
    {"learning_rate": 0.1, "momentum": 0.8, "nesterov": True},
]


def trajectory(variables, gradients, learning_rate=0.01, momentum=0.0, nesterov=False, weight_decay=0.004):
    x = [np.array(value, dtype=np.float64) for value in variables]
    m = [np.zeros_like(value) for value in x]
    history = []
    for row in gradients:
        for i, g in enumerate(row):
            m[i] = momentum * m[i] + learning_rate * g
            step = learning_rate * g + momentum * m[i] if nesterov else m[i]
            x[i] = x[i] - step - learning_rate * weight_decay * x[i]
        history.append([value.copy() for value in x])
    return history
