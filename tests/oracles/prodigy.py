"""Prodigy: Algorithm 4 (Adam) of arXiv:2306.06101, in the form of the authors' code."""

import math

import numpy as np

CASES = [
    {},
    {"d_0": 0.05, "beta_1": 0.7, "beta_2": 0.8, "epsilon": 0.3, "learning_rate": 0.5},
    {"d_0": 0.02, "d_coef": 3.0, "growth_rate": 1.3, "beta_2": 0.9, "decay_in_step": 0.4},
    {"d_0": 0.02, "bias_correction": True, "beta_2": 0.8, "epsilon": 0.05},
    {"d_0": 0.001, "safeguard_warmup": True, "learning_rate": 0.6, "beta_2": 0.9},
]


def trajectory(
    variables,
    gradients,
    learning_rate=1.0,
    beta_1=0.9,
    beta_2=0.999,
    epsilon=1e-8,
    d_0=1e-6,
    d_coef=1.0,
    growth_rate=1e30,
    bias_correction=False,
    safeguard_warmup=False,
    decay_in_step=0.0,
):
    x0 = [np.array(value, dtype=np.float64) for value in variables]
    x = [value.copy() for value in x0]
    m = [np.zeros_like(value) for value in x]
    v = [np.zeros_like(value) for value in x]
    s = [np.zeros_like(value) for value in x]
    d, d_max, r, beta_3 = d_0, d_0, 0.0, math.sqrt(beta_2)
    history = []
    for t, row in enumerate(gradients, start=1):
        lr = learning_rate
        if bias_correction:
            lr = lr * math.sqrt(1 - beta_2 ** t) / (1 - beta_1 ** t)
        r = beta_3 * r
        length = 0.0
        for i, g in enumerate(row):
            r += (d / d_0) * d * lr * float(np.sum(g * (x0[i] - x[i])))
            m[i] = beta_1 * m[i] + (1 - beta_1) * d * g
            v[i] = beta_2 * v[i] + (1 - beta_2) * d * d * g * g
            s[i] = beta_3 * s[i] + (d / d_0) * (d if safeguard_warmup else d * lr) * g
            length += float(np.sum(np.abs(s[i])))
        rate = d * lr
        if length > 0:
            d_hat = d_coef * r / length
            if d == d_0:
                d = max(d, d_hat)
            d_max = max(d_max, d_hat)
            d = min(d_max, d * growth_rate)
        for i in range(len(x)):
            x[i] = x[i] - rate * decay_in_step * x[i]
            x[i] = x[i] - rate * m[i] / (np.sqrt(v[i]) + d * epsilon)
        history.append([value.copy() for value in x])
    return history
