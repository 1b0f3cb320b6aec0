"""FTRL-Proximal: McMahan et al. (2013), Algorithm 1, whose lambda_2 is twice the l2 strength here.

z accumulates g - sigma w; the weight is the closed-form minimizer. Written element by element.
"""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "l1_regularization_strength": 0.3, "l2_regularization_strength": 0.2},
    {"learning_rate": 0.1, "learning_rate_power": -0.7, "initial_accumulator_value": 0.5, "beta": 0.4},
    {"learning_rate": 0.1, "l2_shrinkage_regularization_strength": 0.1},
    {"learning_rate": 0.2, "l1_regularization_strength": 1.5, "initial_accumulator_value": 1.0},
]


def trajectory(
    variables,
    gradients,
    learning_rate=0.001,
    learning_rate_power=-0.5,
    initial_accumulator_value=0.1,
    l1_regularization_strength=0.0,
    l2_regularization_strength=0.0,
    l2_shrinkage_regularization_strength=0.0,
    beta=0.0,
):
    alpha, power = learning_rate, -learning_rate_power
    lambda_1, lambda_2 = l1_regularization_strength, 2 * l2_regularization_strength
    w = [np.array(value, dtype=np.float64) for value in variables]
    n = [np.full(value.shape, float(initial_accumulator_value)) for value in w]
    z = [np.zeros_like(value) for value in w]
    history = []
    for row in gradients:
        for i, gradient in enumerate(row):
            for k in np.ndindex(*w[i].shape):
                g = float(gradient[k])
                sigma = ((n[i][k] + g ** 2) ** power - n[i][k] ** power) / alpha
                shrink = 2 * l2_shrinkage_regularization_strength * w[i][k]
                z[i][k] += g + shrink - sigma * w[i][k]
                n[i][k] += g ** 2
                if abs(z[i][k]) <= lambda_1:
                    w[i][k] = 0.0
                else:
                    sign = 1.0 if z[i][k] > 0 else -1.0
                    rate = (beta + n[i][k] ** power) / alpha + lambda_2
                    w[i][k] = -(z[i][k] - sign * lambda_1) / rate
        history.append([value.copy() for value in w])
    return history
