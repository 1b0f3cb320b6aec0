"""ASGD: Polyak and Juditsky (1992) with the steps of arXiv:1107.2490, section 2, lambda and alpha."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.3, "lambd": 0.4, "alpha": 0.6, "t0": 3.0},
    {"learning_rate": 0.1, "t0": 0.0},
]


def _run(variables, gradients, learning_rate, lambd, alpha, t0):
    w = [np.array(value, dtype=np.float64) for value in variables]
    tail = [[] for _ in w]
    history = []
    for t, row in enumerate(gradients):
        eta = learning_rate * (1 + lambd * learning_rate * t) ** -alpha
        for i, g in enumerate(row):
            w[i] = (1 - lambd * eta) * w[i] - eta * g
            tail[i] = tail[i] if t - t0 > 1 else []
            tail[i].append(w[i])
        history.append([value.copy() for value in w])
    return history, [sum(values) / len(values) for values in tail]


def trajectory(variables, gradients, learning_rate=0.01, lambd=1e-4, alpha=0.75, t0=1e6):
    return _run(variables, gradients, learning_rate, lambd, alpha, t0)[0]


def final_evaluation(variables, gradients, **hypers):
    return final_slots(variables, gradients, **hypers)["mean"]


def final_slots(variables, gradients, learning_rate=0.01, lambd=1e-4, alpha=0.75, t0=1e6):
    return {"mean": _run(variables, gradients, learning_rate, lambd, alpha, t0)[1]}
