"""Tiger: Su (2023), https://kexue.fm/archives/9512, without its treatment of biases."""

import numpy as np

CASES = [{}, {"learning_rate": 0.05, "beta": 0.6}, {"learning_rate": 0.05, "weight_decay": 0.2}]


def trajectory(variables, gradients, learning_rate=0.001, beta=0.965, weight_decay=0.0):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    m = [np.zeros_like(x) for x in theta]
    history = []
    for row in gradients:
        for i, g in enumerate(row):
            m[i] = beta * m[i] + (1 - beta) * g
            up, down = m[i] > 0, m[i] < 0
            direction = np.where(up, 1.0, np.where(down, -1.0, 0.0))
            theta[i] = theta[i] - learning_rate * (direction + weight_decay * theta[i])
        history.append([x.copy() for x in theta])
    return history
