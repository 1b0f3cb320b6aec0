"""NovoGrad: Algorithm 1 of arXiv:1905.11286, with amsgrad on the layer norms."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.6, "epsilon": 0.05, "decay_in_momentum": 0.2},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.6, "epsilon": 0.05, "amsgrad": True},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.6, "epsilon": 0.05, "grad_averaging": True},
]


def trajectory(
    variables,
    gradients,
    learning_rate=0.001,
    beta_1=0.9,
    beta_2=0.999,
    epsilon=1e-7,
    amsgrad=False,
    grad_averaging=False,
    decay_in_momentum=0.0,
):
    w = [np.array(value, dtype=np.float64) for value in variables]
    m = [np.zeros_like(value) for value in w]
    v = [0.0] * len(w)
    top = [0.0] * len(w)
    history = []
    for t, row in enumerate(gradients):
        for i, g in enumerate(row):
            norm2 = float(np.sum(g * g))
            v[i] = norm2 if t == 0 else beta_2 * v[i] + (1 - beta_2) * norm2
            top[i] = max(top[i], v[i])
            normalized = g / (np.sqrt(top[i] if amsgrad else v[i]) + epsilon) + decay_in_momentum * w[i]
            if t == 0:
                m[i] = normalized
            elif grad_averaging:
                m[i] = beta_1 * m[i] + (1 - beta_1) * normalized
            else:
                m[i] = beta_1 * m[i] + normalized
            w[i] = w[i] - learning_rate * m[i]
        history.append([value.copy() for value in w])
    return history
