"""LARS: Algorithm 1 of arXiv:1708.03888."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 5.0, "momentum": 0.7, "trust_coefficient": 0.1, "decay_in_ratio": 0.3},
    {"learning_rate": 5.0, "momentum": 0.7, "trust_coefficient": 0.1, "epsilon": 0.4, "nesterov": True},
    {"learning_rate": 0.2, "momentum": 0.7, "trust_coefficient": 0.1, "adapt_vectors": False},
]


def trajectory(
    variables,
    gradients,
    learning_rate=0.1,
    momentum=0.9,
    trust_coefficient=1e-3,
    decay_in_ratio=0.0,
    epsilon=0.0,
    nesterov=False,
    adapt_vectors=True,
):
    w = [np.array(value, dtype=np.float64) for value in variables]
    v = [np.zeros_like(value) for value in w]
    history = []
    for row in gradients:
        for i, g in enumerate(row):
            wn, gn = np.sqrt(np.sum(w[i] ** 2)), np.sqrt(np.sum(g ** 2))
            local = 1.0
            if wn > 0 and gn > 0 and (adapt_vectors or w[i].ndim >= 2):
                local = trust_coefficient * wn / (gn + decay_in_ratio * wn + epsilon)
            old = v[i]
            v[i] = momentum * v[i] + learning_rate * local * (g + decay_in_ratio * w[i])
            if nesterov:
                w[i] = w[i] - ((1 + momentum) * v[i] - momentum * old)
            else:
                w[i] = w[i] - v[i]
        history.append([value.copy() for value in w])
    return history
