"""Adagrad: Duchi, Hazan and Singer (2011), the diagonal case of Figure 1."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "epsilon": 0.05},
    {"learning_rate": 0.1, "epsilon": 0.05, "epsilon_outside": True},
    {"learning_rate": 0.1, "epsilon": 0.01, "initial_accumulator_value": 0.7},
    {"learning_rate": 0.1, "epsilon": 0.01, "initial_accumulator_value": 0.0},
]


def trajectory(
    variables,
    gradients,
    learning_rate=0.001,
    initial_accumulator_value=0.1,
    epsilon=1e-7,
    epsilon_outside=False,
):
    x = [np.array(value, dtype=np.float64) for value in variables]
    history = []
    for t in range(len(gradients)):
        for i in range(len(x)):
            total = np.full(x[i].shape, float(initial_accumulator_value))
            for earlier in gradients[: t + 1]:
                total = total + earlier[i] ** 2
            if epsilon_outside:
                h = epsilon + total ** 0.5
            else:
                h = (epsilon + total) ** 0.5
            x[i] = x[i] - learning_rate * gradients[t][i] / h
        history.append([value.copy() for value in x])
    return history
