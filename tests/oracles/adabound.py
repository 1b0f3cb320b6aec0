"""AdaBound and AMSBound: Algorithms 2 and 3 of arXiv:1902.09843, with the code's bias corrections."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.8, "epsilon": 0.03, "gamma": 0.1},
    {"learning_rate": 0.3, "final_learning_rate": 0.2, "gamma": 0.05, "beta_2": 0.8, "amsbound": True},
    {"learning_rate": 0.3, "final_learning_rate": 0.25, "gamma": 0.3, "epsilon": 0.2},
]


def trajectory(
    variables,
    gradients,
    learning_rate=0.001,
    final_learning_rate=0.1,
    beta_1=0.9,
    beta_2=0.999,
    gamma=1e-3,
    epsilon=1e-8,
    amsbound=False,
):
    x = [np.array(value, dtype=np.float64) for value in variables]
    m = [np.zeros_like(value) for value in x]
    v = [np.zeros_like(value) for value in x]
    top = [np.zeros_like(value) for value in x]
    history = []
    for t, row in enumerate(gradients, start=1):
        low = final_learning_rate - final_learning_rate / (gamma * t + 1)
        high = final_learning_rate + final_learning_rate / (gamma * t)
        for i, g in enumerate(row):
            m[i] = beta_1 * m[i] + (1 - beta_1) * g
            v[i] = beta_2 * v[i] + (1 - beta_2) * g * g
            top[i] = np.maximum(top[i], v[i])
            eta = learning_rate * np.sqrt(1 - beta_2 ** t) / (1 - beta_1 ** t)
            eta = eta / (np.sqrt(top[i] if amsbound else v[i]) + epsilon)
            eta = np.where(eta < low, low, np.where(eta > high, high, eta))
            x[i] = x[i] - eta * m[i]
        history.append([value.copy() for value in x])
    return history
