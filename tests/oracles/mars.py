"""MARS-AdamW and MARS-Lion, approximate form: Algorithms 2 and 3 of arXiv:2411.10438."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.8, "gamma": 0.3, "epsilon": 0.03},
    {"learning_rate": 0.1, "beta_1_1d": 0.6, "beta_2_1d": 0.7, "epsilon": 0.03, "direction": "lion"},
]


def trajectory(
    variables,
    gradients,
    learning_rate=3e-3,
    beta_1=0.95,
    beta_2=0.99,
    gamma=0.025,
    epsilon=1e-8,
    direction="adamw",
    beta_1_1d=0.9,
    beta_2_1d=0.95,
):
    x = [np.array(value, dtype=np.float64) for value in variables]
    m = [np.zeros_like(value) for value in x]
    v = [np.zeros_like(value) for value in x]
    last = [np.zeros_like(value) for value in x]
    history = []
    for t, row in enumerate(gradients, start=1):
        for i, g in enumerate(row):
            matrix = x[i].ndim == 2
            b1, b2 = (beta_1, beta_2) if matrix else (beta_1_1d, beta_2_1d)
            c = g
            if matrix:
                c = g + gamma * (b1 / (1 - b1)) * (g - last[i])
                if np.sqrt((c ** 2).sum()) > 1:
                    c = c / np.sqrt((c ** 2).sum())
            last[i] = g
            m[i] = b1 * m[i] + (1 - b1) * c
            v[i] = b2 * v[i] + (1 - b2) * c ** 2
            if matrix and direction == "lion":
                x[i] = x[i] - learning_rate * np.sign(m[i])
            else:
                root = np.sqrt(v[i] / (1 - b2 ** t)) + epsilon
                x[i] = x[i] - learning_rate * (m[i] / (1 - b1 ** t)) / root
        history.append([value.copy() for value in x])
    return history
