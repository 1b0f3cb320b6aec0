"""Conditional gradients: arXiv:1803.06453, Algorithm 1, on the Frobenius and the nuclear ball."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.8, "lambda_": 0.7, "epsilon": 0.05},
    {"learning_rate": 0.8, "lambda_": 0.7, "epsilon": 0.05, "ord": "nuclear"},
]


def trajectory(variables, gradients, learning_rate=0.99, lambda_=0.01, epsilon=1e-7, ord="fro"):
    w = [np.array(value, dtype=np.float64) for value in variables]
    history = []
    for row in gradients:
        for i, g in enumerate(row):
            if ord == "nuclear" and g.ndim >= 2:
                u, s, vh = np.linalg.svd(g.reshape(len(g), -1), full_matrices=False)
                corner = np.outer(u[:, 0], vh[0]).reshape(g.shape) * (s[0] / (s[0] + epsilon))
            else:
                corner = g / (np.sqrt(np.sum(g ** 2)) + epsilon)
            w[i] = w[i] + (1 - learning_rate) * (-lambda_ * corner - w[i])
        history.append([value.copy() for value in w])
    return history
