"""LAMB: Algorithm 2 of arXiv:1904.00962, phi(z) = z."""

import math

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.05, "beta_1": 0.7, "beta_2": 0.9, "epsilon": 0.02},
    {"learning_rate": 0.05, "epsilon": 0.02, "decay_in_ratio": 0.3},
    {"learning_rate": 0.05, "weight_decay": 0.3},
]


def _norm(x):
    return math.sqrt(math.fsum(float(e) ** 2 for e in np.ravel(x)))


def trajectory(
    variables,
    gradients,
    learning_rate=0.001,
    beta_1=0.9,
    beta_2=0.999,
    epsilon=1e-7,
    decay_in_ratio=0.0,
    weight_decay=0.0,
):
    x = [np.array(value, dtype=np.float64) for value in variables]
    m = [np.zeros_like(value) for value in x]
    v = [np.zeros_like(value) for value in x]
    history = []
    for t, row in enumerate(gradients, start=1):
        for i, g in enumerate(row):
            x[i] = x[i] - learning_rate * weight_decay * x[i]
            m[i] = beta_1 * m[i] + (1 - beta_1) * g
            v[i] = beta_2 * v[i] + (1 - beta_2) * g ** 2
            r = (m[i] / (1 - beta_1 ** t)) / (np.sqrt(v[i] / (1 - beta_2 ** t)) + epsilon)
            r = r + decay_in_ratio * x[i]
            trust = 1.0
            if _norm(x[i]) > 0 and _norm(r) > 0:
                trust = _norm(x[i]) / _norm(r)
            x[i] = x[i] - learning_rate * trust * r
        history.append([value.copy() for value in x])
    return history
