"""Nadam: Dozat (2016), Algorithm 2, with mu_t = beta_1 (1 - 0.5 * 0.96^(t * schedule_decay))."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.9, "epsilon": 0.03},
    {"learning_rate": 0.1, "beta_1": 0.8, "beta_2": 0.95, "epsilon": 0.03, "schedule_decay": 0.004},
]


def trajectory(
    variables,
    gradients,
    learning_rate=0.001,
    beta_1=0.9,
    beta_2=0.999,
    epsilon=1e-7,
    schedule_decay=1.0,
):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    m = [np.zeros_like(x) for x in theta]
    n = [np.zeros_like(x) for x in theta]
    mu = [beta_1 * (1 - 0.5 * 0.96 ** (t * schedule_decay)) for t in range(len(gradients) + 2)]
    history = []
    for t in range(1, len(gradients) + 1):
        up_to_now = np.prod(mu[1 : t + 1])
        up_to_next = np.prod(mu[1 : t + 2])
        for i, g in enumerate(gradients[t - 1]):
            m[i] = beta_1 * m[i] + (1 - beta_1) * g
            n[i] = beta_2 * n[i] + (1 - beta_2) * g ** 2
            g_hat = g / (1 - up_to_now)
            m_hat = m[i] / (1 - up_to_next)
            n_hat = n[i] / (1 - beta_2 ** t)
            m_bar = (1 - mu[t]) * g_hat + mu[t + 1] * m_hat
            theta[i] = theta[i] - learning_rate * m_bar / (np.sqrt(n_hat) + epsilon)
        history.append([x.copy() for x in theta])
    return history
