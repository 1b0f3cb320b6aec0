"""Grams: Definition 3.1 and Algorithm 1 of arXiv:2412.17107."""

import numpy as np

CASES = [{}, {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.8, "epsilon": 0.03}]


def trajectory(variables, gradients, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-6):
    w = [np.array(value, dtype=np.float64) for value in variables]
    m = [np.zeros_like(value) for value in w]
    v = [np.zeros_like(value) for value in w]
    history = []
    for t, row in enumerate(gradients, start=1):
        for i, g in enumerate(row):
            m[i] = beta_1 * m[i] + (1 - beta_1) * g
            v[i] = beta_2 * v[i] + (1 - beta_2) * g ** 2
            u = (m[i] / (1 - beta_1 ** t)) / (np.sqrt(v[i] / (1 - beta_2 ** t)) + epsilon)
            same = u * g > 0
            w[i] = w[i] - learning_rate * np.where(g == 0, 0.0, np.where(same, u, -u))
        history.append([value.copy() for value in w])
    return history
