"""MADGRAD: Algorithm 1 of arXiv:2101.11075, its sums written out at each step."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "momentum": 0.5, "epsilon": 0.02},
    {"learning_rate": 0.1, "momentum": 0.0},
]


def trajectory(variables, gradients, learning_rate=0.01, momentum=0.9, epsilon=1e-6):
    start = [np.array(value, dtype=np.float64) for value in variables]
    x = [value.copy() for value in start]
    c = 1 - momentum
    history = []
    for k in range(len(gradients)):
        for i in range(len(x)):
            s = sum(learning_rate * (j + 1) ** 0.5 * gradients[j][i] for j in range(k + 1))
            v = sum(learning_rate * (j + 1) ** 0.5 * gradients[j][i] ** 2 for j in range(k + 1))
            z = start[i] - s / (np.cbrt(v) + epsilon)
            x[i] = (1 - c) * x[i] + c * z
        history.append([np.array(value) for value in x])
    return history
