"""Schedule-Free SGD: arXiv:2405.15682, equations 1-3, keeping x, y and z apart."""

import numpy as np


def _falling(finished):
    return 0.3 / (1 + finished)


CASES = [
    {},
    {"learning_rate": _falling, "weight_lr_power": 1.5},
    {"learning_rate": 0.2, "momentum": 0.6, "warmup_steps": 4},
    {"learning_rate": 0.2, "momentum": 0.6, "warmup_steps": 6, "r": 1.5, "weight_lr_power": 1.0},
    {"learning_rate": 0.0},
]


def _run(
    variables, gradients, learning_rate=1.0, momentum=0.9, warmup_steps=0, r=0.0, weight_lr_power=2.0
):
    z = [np.array(value, dtype=np.float64) for value in variables]
    x = [value.copy() for value in z]
    total, highest, history = 0.0, 0.0, []
    for t, row in enumerate(gradients, start=1):
        rate = learning_rate(t - 1) if callable(learning_rate) else learning_rate
        gamma = rate * (min(1.0, t / float(warmup_steps)) if warmup_steps else 1.0)
        highest = max(highest, gamma)
        weight = t ** r * highest ** weight_lr_power
        total += weight
        c = weight / total if total else 0.0
        for i, g in enumerate(row):
            z[i] = z[i] - gamma * g
            x[i] = (1 - c) * x[i] + c * z[i]
        history.append([(1 - momentum) * a + momentum * b for a, b in zip(z, x)])
    return history, x


def trajectory(variables, gradients, **hypers):
    return _run(variables, gradients, **hypers)[0]


def final_evaluation(variables, gradients, **hypers):
    return _run(variables, gradients, **hypers)[1]
