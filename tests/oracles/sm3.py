"""SM3-II: Algorithm SM3-II of arXiv:1901.11150; the cover is every slice of every axis up to the fifth."""

import numpy as np

CASES = [{}, {"learning_rate": 0.3, "momentum": 0.6}, {"learning_rate": 0.3, "momentum": 0.0}]


def trajectory(variables, gradients, learning_rate=0.1, momentum=0.9):
    w = [np.array(value, dtype=np.float64) for value in variables]
    m = [np.zeros_like(value) for value in w]
    mu = [{} for _ in w]
    history = []
    for row in gradients:
        for i, gradient in enumerate(row):
            fresh = {}
            for k in np.ndindex(*w[i].shape):
                sets = [(axis, index) for axis, index in enumerate(k[:5])] or ["the scalar"]
                nu = min(mu[i].get(one, 0.0) for one in sets) + gradient[k] ** 2
                for one in sets:
                    fresh[one] = max(fresh.get(one, 0.0), nu)
                direction = gradient[k] / np.sqrt(nu) if nu > 0 else 0.0
                m[i][k] = momentum * m[i][k] + (1 - momentum) * direction
                w[i][k] -= learning_rate * m[i][k]
            mu[i] = fresh
        history.append([value.copy() for value in w])
    return history
