"""ADOPT: Algorithm 2 of arXiv:2411.02853, with the clipping of its second version on request."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.8, "epsilon": 0.3},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.8, "epsilon": 0.3, "clipped": False},
]


def trajectory(
    variables, gradients, learning_rate=0.001, beta_1=0.9, beta_2=0.9999, epsilon=1e-6, clipped=True
):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    m = [np.zeros_like(x) for x in theta]
    v = [g * g for g in gradients[0]]
    history = [[x.copy() for x in theta]]
    for t in range(1, len(gradients)):
        for i, g in enumerate(gradients[t]):
            normed = g / np.maximum(np.sqrt(v[i]), epsilon)
            if clipped:
                normed = np.minimum(np.maximum(normed, -(t ** 0.25)), t ** 0.25)
            m[i] = beta_1 * m[i] + (1 - beta_1) * normed
            theta[i] = theta[i] - learning_rate * m[i]
            v[i] = beta_2 * v[i] + (1 - beta_2) * g * g
        history.append([x.copy() for x in theta])
    return history
