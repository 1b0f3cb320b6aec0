"""AdaMod: Algorithm 1 of arXiv:1910.12249, epsilon as in the authors' code."""

import numpy as np

CASES = [{}, {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.8, "beta_3": 0.6, "epsilon": 0.03}]


def trajectory(
    variables, gradients, learning_rate=0.001, beta_1=0.9, beta_2=0.999, beta_3=0.999, epsilon=1e-8
):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    m = [np.zeros_like(x) for x in theta]
    v = [np.zeros_like(x) for x in theta]
    s = [np.zeros_like(x) for x in theta]
    history = []
    for t, row in enumerate(gradients, start=1):
        for i, g in enumerate(row):
            m[i] = beta_1 * m[i] + (1 - beta_1) * g
            v[i] = beta_2 * v[i] + (1 - beta_2) * g ** 2
            eta = learning_rate / (np.sqrt(v[i]) + epsilon)
            eta = eta * np.sqrt(1 - beta_2 ** t) / (1 - beta_1 ** t)
            s[i] = beta_3 * s[i] + (1 - beta_3) * eta
            theta[i] = theta[i] - np.where(eta < s[i], eta, s[i]) * m[i]
        history.append([x.copy() for x in theta])
    return history
