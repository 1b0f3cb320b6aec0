"""Padam: Algorithm 1 of arXiv:1806.06763, bias corrections and epsilon as in the authors' code."""

import numpy as np

CASES = [{}, {"learning_rate": 0.2, "beta_1": 0.7, "beta_2": 0.8, "partial": 0.125, "epsilon": 0.03}]


def trajectory(
    variables, gradients, learning_rate=0.1, beta_1=0.9, beta_2=0.999, partial=0.25, epsilon=1e-8
):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    m = [np.zeros_like(x) for x in theta]
    v = [np.zeros_like(x) for x in theta]
    top = [np.zeros_like(x) for x in theta]
    history = []
    for t, row in enumerate(gradients, start=1):
        for i, g in enumerate(row):
            m[i] = beta_1 * m[i] + (1 - beta_1) * g
            v[i] = beta_2 * v[i] + (1 - beta_2) * g ** 2
            top[i] = np.where(v[i] > top[i], v[i], top[i])
            power = np.exp(2 * partial * np.log(np.sqrt(top[i]) + epsilon))
            step = learning_rate * np.sqrt(1 - beta_2 ** t) / (1 - beta_1 ** t)
            theta[i] = theta[i] - step * m[i] / power
        history.append([x.copy() for x in theta])
    return history
