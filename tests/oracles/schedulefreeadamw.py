"""Schedule-Free AdamW: Algorithm 1 of arXiv:2405.15682, keeping x, y and z apart."""

import numpy as np


def _falling(finished):
    return 0.3 / (1 + finished)


CASES = [
    {},
    {"learning_rate": _falling, "weight_lr_power": 1.5},
    {"learning_rate": 0.2, "beta_1": 0.6, "beta_2": 0.8, "epsilon": 0.03, "warmup_steps": 5},
    {"learning_rate": 0.2, "beta_1": 0.6, "warmup_steps": 8, "weight_lr_power": 2.0},
    {"learning_rate": 0.0, "weight_lr_power": 1.0},
]


def _run(
    variables,
    gradients,
    learning_rate=0.0025,
    beta_1=0.9,
    beta_2=0.999,
    epsilon=1e-8,
    warmup_steps=0,
    weight_lr_power=0.0,
):
    z = [np.array(value, dtype=np.float64) for value in variables]
    x = [value.copy() for value in z]
    v = [np.zeros_like(value) for value in z]
    highest, total, history = 0.0, 0.0, []
    for t, row in enumerate(gradients, start=1):
        gamma = learning_rate(t - 1) if callable(learning_rate) else learning_rate
        if warmup_steps and t < warmup_steps:
            gamma = gamma * t / warmup_steps
        highest = max(highest, gamma)
        total += highest ** weight_lr_power
        c = highest ** weight_lr_power / total if total else 0.0
        for i, g in enumerate(row):
            v[i] = beta_2 * v[i] + (1 - beta_2) * g ** 2
            z[i] = z[i] - gamma * g / (np.sqrt(v[i] / (1 - beta_2 ** t)) + epsilon)
            x[i] = (1 - c) * x[i] + c * z[i]
        history.append([(1 - beta_1) * a + beta_1 * b for a, b in zip(z, x)])
    return history, x


def trajectory(variables, gradients, **hypers):
    return _run(variables, gradients, **hypers)[0]


def final_evaluation(variables, gradients, **hypers):
    return _run(variables, gradients, **hypers)[1]
