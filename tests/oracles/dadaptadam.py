"""D-Adapt Adam: Algorithm 5 of arXiv:2301.07733, with the options of the authors' code."""

import numpy as np

CASES = [
    {},
    {"d_0": 0.05, "beta_1": 0.7, "beta_2": 0.8, "epsilon": 0.3, "learning_rate": 0.5},
    {"d_0": 0.02, "growth_rate": 1.1, "beta_2": 0.7, "decay_in_step": 0.4},
    {"d_0": 0.02, "bias_correction": True, "beta_2": 0.8, "epsilon": 0.05},
]


def trajectory(
    variables,
    gradients,
    learning_rate=1.0,
    beta_1=0.9,
    beta_2=0.999,
    epsilon=1e-8,
    d_0=1e-6,
    growth_rate=1e30,
    bias_correction=False,
    decay_in_step=0.0,
):
    x = [np.array(value, dtype=np.float64) for value in variables]
    m = [np.zeros_like(value) for value in x]
    v = [np.zeros_like(value) for value in x]
    s = [np.zeros_like(value) for value in x]
    d, r, root = d_0, 0.0, beta_2 ** 0.5
    history = []
    for k, row in enumerate(gradients):
        gamma = learning_rate * d
        if bias_correction:
            gamma = gamma * (1 - beta_2 ** (k + 1)) ** 0.5 / (1 - beta_1 ** (k + 1))
        inner, length = 0.0, 0.0
        for i, g in enumerate(row):
            inner += gamma * np.sum(g * s[i] / (np.sqrt(v[i]) + epsilon))
            m[i] = beta_1 * m[i] + (1 - beta_1) * gamma * g
            v[i] = beta_2 * v[i] + (1 - beta_2) * g * g
            s[i] = root * s[i] + (1 - root) * gamma * g
            length += np.sum(np.abs(s[i]))
        r = root * r + (1 - root) * inner
        if length > 0:
            d = max(d, min(r / ((1 - root) * length), growth_rate * d))
        for i in range(len(x)):
            x[i] = x[i] * (1 - gamma * decay_in_step) - m[i] / (np.sqrt(v[i]) + epsilon)
        history.append([value.copy() for value in x])
    return history
