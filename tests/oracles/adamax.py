"""AdaMax: Algorithm 2 of arXiv:1412.6980, with an epsilon in the quotient."""

import numpy as np

CASES = [{}, {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.8, "epsilon": 0.05}]


def trajectory(variables, gradients, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    m = [np.zeros_like(x) for x in theta]
    u = [np.zeros_like(x) for x in theta]
    history = []
    for t, row in enumerate(gradients, start=1):
        for i, g in enumerate(row):
            m[i] = beta_1 * m[i] + (1 - beta_1) * g
            decayed = beta_2 * u[i]
            u[i] = np.where(decayed > np.abs(g), decayed, np.abs(g))
            theta[i] = theta[i] - learning_rate / (1 - beta_1 ** t) * m[i] / (u[i] + epsilon)
        history.append([x.copy() for x in theta])
    return history
