"""AdamW: Algorithm 2 of arXiv:1711.05101, its eta_t * lambda being learning_rate * weight_decay."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.95, "epsilon": 0.03, "weight_decay": 0.3},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.8, "epsilon": 0.03, "amsgrad": True},
    {"learning_rate": 0.05, "weight_decay": 0.0},
]


def trajectory(
    variables,
    gradients,
    learning_rate=0.001,
    beta_1=0.9,
    beta_2=0.999,
    epsilon=1e-7,
    amsgrad=False,
    weight_decay=0.004,
):
    x = [np.array(value, dtype=np.float64) for value in variables]
    first = [0.0 * value for value in x]
    second = [0.0 * value for value in x]
    peak = [0.0 * value for value in x]
    history = []
    for t in range(1, len(gradients) + 1):
        for k in range(len(x)):
            g = gradients[t - 1][k]
            first[k] = first[k] + (1 - beta_1) * (g - first[k])
            second[k] = second[k] + (1 - beta_2) * (g * g - second[k])
            peak[k] = np.where(peak[k] > second[k], peak[k], second[k])
            used = peak[k] if amsgrad else second[k]
            root = np.sqrt(1 - beta_2 ** t)
            adam = first[k] / (1 - beta_1 ** t) / (np.sqrt(used) / root + epsilon / root)
            x[k] = x[k] - learning_rate * (adam + weight_decay * x[k])
        history.append([value.copy() for value in x])
    return history
