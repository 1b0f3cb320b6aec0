"""RAdam: Algorithm 2 of arXiv:1908.03265, with a threshold that is an argument."""

import math

import numpy as np

#: The length of the average is a difference of numbers near 2 / (1 - beta_2): it keeps 12 digits.
TOLERANCE = 1e-8

CASES = [
    {},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.95, "epsilon": 0.03},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.9, "epsilon": 0.03, "amsgrad": True},
    {"learning_rate": 0.1, "beta_2": 0.99, "epsilon": 0.03, "sma_threshold": 7.5},
]


def trajectory(
    variables,
    gradients,
    learning_rate=0.001,
    beta_1=0.9,
    beta_2=0.999,
    epsilon=1e-7,
    amsgrad=False,
    sma_threshold=5.0,
):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    m = [np.zeros_like(x) for x in theta]
    v = [np.zeros_like(x) for x in theta]
    top = [np.zeros_like(x) for x in theta]
    rho_inf = 2.0 / (1.0 - beta_2) - 1.0
    history = []
    for t, row in enumerate(gradients, start=1):
        rho = rho_inf - 2.0 * t * beta_2 ** t / (1.0 - beta_2 ** t)
        for i, g in enumerate(row):
            m[i] = beta_1 * m[i] + (1 - beta_1) * g
            v[i] = beta_2 * v[i] + (1 - beta_2) * g * g
            top[i] = np.maximum(top[i], v[i])
            m_hat = m[i] / (1 - beta_1 ** t)
            if rho >= sma_threshold:
                length = np.sqrt((top[i] if amsgrad else v[i]) / (1 - beta_2 ** t)) + epsilon
                r = math.sqrt(
                    (rho - 4) / (rho_inf - 4) * ((rho - 2) / (rho_inf - 2)) * (rho_inf / rho)
                )
                theta[i] = theta[i] - learning_rate * r * m_hat / length
            else:
                theta[i] = theta[i] - learning_rate * m_hat
        history.append([x.copy() for x in theta])
    return history
