"""ADADELTA: Algorithm 1 of arXiv:1212.5701, its update times the learning rate."""

import numpy as np

CASES = [{}, {"learning_rate": 1.0, "rho": 0.8, "epsilon": 0.01}, {"learning_rate": 0.5, "epsilon": 0.001}]


def trajectory(variables, gradients, learning_rate=0.001, rho=0.95, epsilon=1e-7):
    x = [np.array(value, dtype=np.float64) for value in variables]
    mean_g2 = [np.zeros_like(value) for value in x]
    mean_dx2 = [np.zeros_like(value) for value in x]
    history = []
    for row in gradients:
        for i, g in enumerate(row):
            mean_g2[i] = rho * mean_g2[i] + (1 - rho) * g ** 2
            rms_g = np.sqrt(mean_g2[i] + epsilon)
            rms_dx = np.sqrt(mean_dx2[i] + epsilon)
            dx = -rms_dx / rms_g * g
            mean_dx2[i] = rho * mean_dx2[i] + (1 - rho) * dx ** 2
            x[i] = x[i] + learning_rate * dx
        history.append([value.copy() for value in x])
    return history
