"""LaProp: Algorithm 1 of arXiv:2002.04839."""

import numpy as np

CASES = [{}, {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.8, "epsilon": 0.03}]


def trajectory(variables, gradients, learning_rate=4e-4, beta_1=0.9, beta_2=0.999, epsilon=1e-15):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    n = [np.zeros_like(x) for x in theta]
    m = [np.zeros_like(x) for x in theta]
    history = []
    for t, row in enumerate(gradients, start=1):
        c_n, c_m = 1 - beta_2 ** t, 1 - beta_1 ** t
        for i, g in enumerate(row):
            n[i] = beta_2 * n[i] + (1 - beta_2) * g ** 2
            m[i] = beta_1 * m[i] + (1 - beta_1) * g / (np.sqrt(n[i] / c_n) + epsilon)
            theta[i] = theta[i] - learning_rate * m[i] / c_m
        history.append([x.copy() for x in theta])
    return history
