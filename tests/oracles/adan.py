"""Adan: Algorithm 1 of arXiv:2208.06677, betas and bias corrections as in the authors' code."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "beta_1": 0.8, "beta_2": 0.7, "beta_3": 0.9, "epsilon": 0.03},
    {"learning_rate": 0.1, "epsilon": 0.03, "proximal_decay": 0.4},
    {"learning_rate": 0.1, "epsilon": 0.03, "weight_decay": 0.4},
]


def trajectory(
    variables,
    gradients,
    learning_rate=0.001,
    beta_1=0.98,
    beta_2=0.92,
    beta_3=0.99,
    epsilon=1e-8,
    proximal_decay=0.0,
    weight_decay=0.0,
):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    m = [np.zeros_like(x) for x in theta]
    v = [np.zeros_like(x) for x in theta]
    n = [np.zeros_like(x) for x in theta]
    history = []
    for t in range(1, len(gradients) + 1):
        for i, g in enumerate(gradients[t - 1]):
            theta[i] = theta[i] - learning_rate * weight_decay * theta[i]
            d = g - gradients[t - 2][i] if t > 1 else 0.0 * g
            m[i] = beta_1 * m[i] + (1 - beta_1) * g
            v[i] = beta_2 * v[i] + (1 - beta_2) * d
            n[i] = beta_3 * n[i] + (1 - beta_3) * (g + beta_2 * d) ** 2
            eta = learning_rate / (np.sqrt(n[i] / (1 - beta_3 ** t)) + epsilon)
            step = eta * (m[i] / (1 - beta_1 ** t) + beta_2 * v[i] / (1 - beta_2 ** t))
            theta[i] = (theta[i] - step) / (1 + proximal_decay * learning_rate)
        history.append([x.copy() for x in theta])
    return history
