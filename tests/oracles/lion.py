"""Lion: Program 1 / Algorithm 2 of arXiv:2302.06675."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.05, "beta_1": 0.6, "beta_2": 0.8},
    {"learning_rate": 0.05, "weight_decay": 0.2},
]


def trajectory(variables, gradients, learning_rate=0.001, beta_1=0.9, beta_2=0.99, weight_decay=0.0):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    m = [np.zeros_like(x) for x in theta]
    history = []
    for row in gradients:
        for i, g in enumerate(row):
            c = beta_1 * m[i] + (1 - beta_1) * g
            update = (c > 0) * 1.0 - (c < 0) * 1.0
            theta[i] = theta[i] - learning_rate * (update + weight_decay * theta[i])
            m[i] = beta_2 * m[i] + (1 - beta_2) * g
        history.append([x.copy() for x in theta])
    return history
