"""diffGrad: equations 5-9 of arXiv:1909.11015, epsilon as in the authors' code."""

import numpy as np

CASES = [{}, {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.8, "epsilon": 0.03}]


def trajectory(variables, gradients, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-8):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    m = [np.zeros_like(x) for x in theta]
    v = [np.zeros_like(x) for x in theta]
    before = [np.zeros_like(x) for x in theta]
    history = []
    for t, row in enumerate(gradients, start=1):
        for i, g in enumerate(row):
            m[i] = beta_1 * m[i] + (1 - beta_1) * g
            v[i] = beta_2 * v[i] + (1 - beta_2) * g ** 2
            xi = 1 / (1 + np.exp(-np.abs(before[i] - g)))
            root = (np.sqrt(v[i]) + epsilon) / np.sqrt(1 - beta_2 ** t)
            theta[i] = theta[i] - learning_rate * xi * (m[i] / (1 - beta_1 ** t)) / root
            before[i] = g
        history.append([x.copy() for x in theta])
    return history
