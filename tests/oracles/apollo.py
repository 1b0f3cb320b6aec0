"""Apollo: Algorithm 1 of arXiv:2009.13586, in the form of the authors' code."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.01, "beta": 0.6, "epsilon": 1e-3},
    {"learning_rate": 0.1, "beta": 0.7, "epsilon": 1e-2, "rebound": "belief"},
]


def trajectory(variables, gradients, learning_rate=0.01, beta=0.9, epsilon=1e-4, rebound="constant"):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    m = [np.zeros_like(x) for x in theta]
    d = [np.zeros_like(x) for x in theta]
    hessian = [np.zeros_like(x) for x in theta]
    history = []
    for t, row in enumerate(gradients, start=1):
        alpha = (1 - beta) / (1 - beta ** t)
        for i, g in enumerate(row):
            belief = rebound == "belief"
            delta = g - m[i]
            sigma = np.abs(delta).max() if belief else 0.01
            eps = epsilon if belief else epsilon / sigma
            m[i] = beta * (1 - beta ** (t - 1)) / (1 - beta ** t) * m[i] + alpha * g
            size = np.power((np.abs(d[i]) ** 4).sum(), 1 / 4.0) + eps
            unit = d[i] / size
            secant = (-alpha * delta / size * unit).sum()
            hessian[i] = hessian[i] + (secant - (hessian[i] * unit ** 2).sum()) * unit ** 2
            bounded = np.where(np.abs(hessian[i]) > sigma, np.abs(hessian[i]), sigma)
            d[i] = m[i] / (bounded + (eps / alpha if belief else 0.0))
            theta[i] = theta[i] - learning_rate * d[i]
        history.append([x.copy() for x in theta])
    return history
