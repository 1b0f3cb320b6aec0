"""Sophia: Algorithm 3 of arXiv:2305.14342, the estimate a constant or the squared gradient."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "beta_1": 0.7, "initial_estimate": 3.0, "beta_2": 0.6, "update_period": 3, "gamma": 0.4},
    {"learning_rate": 0.1, "estimator": "squared_gradient", "batch_size": 2.0, "beta_2": 0.6, "gamma": 0.5},
    {"learning_rate": 0.1, "estimator": "squared_gradient", "update_period": 4, "epsilon": 0.3, "gamma": 0.5},
    {"learning_rate": 0.1, "initial_estimate": -1.0, "epsilon": 0.5, "gamma": 0.5},
]


def trajectory(
    variables,
    gradients,
    learning_rate=1e-4,
    beta_1=0.96,
    beta_2=0.99,
    gamma=0.01,
    epsilon=1e-12,
    update_period=10,
    estimator="given",
    batch_size=1.0,
    initial_estimate=0.0,
):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    m = [np.zeros_like(x) for x in theta]
    h = [np.zeros_like(x) for x in theta]
    history = []
    for t, row in enumerate(gradients, start=1):
        for i, g in enumerate(row):
            m[i] = beta_1 * m[i] + (1 - beta_1) * g
            if t % update_period == 1 % update_period:
                estimate = batch_size * g * g if estimator == "squared_gradient" else initial_estimate
                h[i] = beta_2 * h[i] + (1 - beta_2) * estimate
            ratio = m[i] / np.maximum(gamma * h[i], epsilon)
            theta[i] = theta[i] - learning_rate * np.where(np.abs(ratio) > 1, np.sign(ratio), ratio)
        history.append([x.copy() for x in theta])
    return history
