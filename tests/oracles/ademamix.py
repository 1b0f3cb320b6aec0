"""AdEMAMix: Algorithm 1 and equations 4-5 of arXiv:2409.03137."""

import math

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.8, "beta_3": 0.95, "alpha": 2.0, "epsilon": 0.03},
    {"learning_rate": 0.02, "beta_1": 0.7, "beta_3": 0.99, "epsilon": 0.03, "warmup_steps": 9},
]


def trajectory(
    variables,
    gradients,
    learning_rate=0.001,
    beta_1=0.9,
    beta_2=0.999,
    beta_3=0.9999,
    alpha=5.0,
    epsilon=1e-8,
    warmup_steps=0,
):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    fast = [np.zeros_like(x) for x in theta]
    slow = [np.zeros_like(x) for x in theta]
    nu = [np.zeros_like(x) for x in theta]
    history = []
    for t, row in enumerate(gradients, start=1):
        a, b = alpha, beta_3
        if warmup_steps:
            a = min(t * alpha / warmup_steps, alpha)
            part = t / float(warmup_steps)
            # Half-lives of the momentum are interpolated: 1 / log(beta) is linear in t.
            b = min(math.exp(1 / ((1 - part) / math.log(beta_1) + part / math.log(beta_3))), beta_3) if part <= 1 else beta_3
        for i, g in enumerate(row):
            fast[i] = beta_1 * fast[i] + (1 - beta_1) * g
            slow[i] = b * slow[i] + (1 - b) * g
            nu[i] = beta_2 * nu[i] + (1 - beta_2) * g ** 2
            top = fast[i] / (1 - beta_1 ** t) + a * slow[i]
            theta[i] = theta[i] - learning_rate * top / (np.sqrt(nu[i] / (1 - beta_2 ** t)) + epsilon)
        history.append([x.copy() for x in theta])
    return history
