"""RMSprop: Tieleman and Hinton's lecture 6.5; centered and with momentum: arXiv:1308.0850, eq. 38-45."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "rho": 0.7, "epsilon": 0.02},
    {"learning_rate": 0.1, "rho": 0.7, "epsilon": 0.02, "epsilon_outside": True},
    {"learning_rate": 0.1, "rho": 0.7, "epsilon": 0.02, "centered": True},
    {"learning_rate": 0.1, "rho": 0.7, "epsilon": 0.02, "centered": True, "epsilon_outside": True},
    {"learning_rate": 0.1, "rho": 0.7, "epsilon": 0.02, "momentum": 0.6},
    {"learning_rate": 0.1, "rho": 0.7, "epsilon": 0.02, "momentum": 1.0, "centered": True},
]


def trajectory(
    variables,
    gradients,
    learning_rate=0.001,
    rho=0.9,
    momentum=0.0,
    epsilon=1e-7,
    centered=False,
    epsilon_outside=False,
):
    w = [np.array(x, dtype=np.float64) for x in variables]
    n = [np.zeros_like(x) for x in w]
    mean = [np.zeros_like(x) for x in w]
    delta = [np.zeros_like(x) for x in w]
    history = []
    for row in gradients:
        for i, g in enumerate(row):
            n[i] = rho * n[i] + (1 - rho) * g ** 2
            mean[i] = rho * mean[i] + (1 - rho) * g
            spread = n[i] - mean[i] ** 2 if centered else n[i]
            scale = np.sqrt(spread) + epsilon if epsilon_outside else np.sqrt(spread + epsilon)
            delta[i] = momentum * delta[i] - learning_rate * g / scale
            w[i] = w[i] + delta[i]
        history.append([x.copy() for x in w])
    return history
