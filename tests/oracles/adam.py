"""Adam: Algorithm 1 of arXiv:1412.6980, with epsilon scaled to be that of section 2, last paragraph."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.95, "epsilon": 0.03},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.8, "epsilon": 0.03, "amsgrad": True},
    {"beta_1": 0.0, "beta_2": 0.5, "learning_rate": 0.2, "weight_decay": 0.1},
]


def trajectory(
    variables,
    gradients,
    learning_rate=0.001,
    beta_1=0.9,
    beta_2=0.999,
    epsilon=1e-7,
    amsgrad=False,
    weight_decay=0.0,
):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    m = [np.zeros_like(x) for x in theta]
    v = [np.zeros_like(x) for x in theta]
    largest = [np.zeros_like(x) for x in theta]
    history = []
    for t, row in enumerate(gradients, start=1):
        for i, g in enumerate(row):
            theta[i] = theta[i] - learning_rate * weight_decay * theta[i]
            m[i] = beta_1 * m[i] + (1 - beta_1) * g
            v[i] = beta_2 * v[i] + (1 - beta_2) * g ** 2
            largest[i] = np.maximum(largest[i], v[i])
            m_hat = m[i] / (1 - beta_1 ** t)
            v_hat = (largest[i] if amsgrad else v[i]) / (1 - beta_2 ** t)
            epsilon_of_algorithm_1 = epsilon / np.sqrt(1 - beta_2 ** t)
            theta[i] = theta[i] - learning_rate * m_hat / (np.sqrt(v_hat) + epsilon_of_algorithm_1)
        history.append([x.copy() for x in theta])
    return history
