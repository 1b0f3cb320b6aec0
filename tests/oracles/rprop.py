"""Rprop-: Riedmiller and Braun (1993) without weight backtracking, element by element."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "eta_minus": 0.3, "eta_plus": 1.5, "factor_min": 0.2, "factor_max": 1.7},
    {"learning_rate": 0.1, "factor_min": 0.6},
]


def trajectory(
    variables,
    gradients,
    learning_rate=0.01,
    eta_minus=0.5,
    eta_plus=1.2,
    factor_min=1e-4,
    factor_max=5000.0,
):
    w = [np.array(value, dtype=np.float64) for value in variables]
    delta = [np.full(value.shape, learning_rate) for value in w]
    before = [np.zeros_like(value) for value in w]
    history = []
    for row in gradients:
        for i, gradient in enumerate(row):
            for k in np.ndindex(*w[i].shape):
                g = float(gradient[k])
                if g * before[i][k] > 0:
                    delta[i][k] = min(delta[i][k] * eta_plus, factor_max * learning_rate)
                elif g * before[i][k] < 0:
                    delta[i][k] = max(delta[i][k] * eta_minus, factor_min * learning_rate)
                    g = 0.0
                w[i][k] -= np.sign(g) * delta[i][k]
                before[i][k] = g
        history.append([value.copy() for value in w])
    return history
