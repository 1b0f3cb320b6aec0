"""Yogi: Zaheer et al. (2018), Algorithm 2, with Adam's bias corrections and a proximal step."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.8, "epsilon": 0.05, "initial_accumulator_value": 0.3},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.8, "activation": "tanh"},
    {
        "learning_rate": 0.1,
        "beta_2": 0.8,
        "epsilon": 0.05,
        "l1_regularization_strength": 0.5,
        "l2_regularization_strength": 0.7,
    },
]


def trajectory(
    variables,
    gradients,
    learning_rate=0.01,
    beta_1=0.9,
    beta_2=0.999,
    epsilon=1e-3,
    l1_regularization_strength=0.0,
    l2_regularization_strength=0.0,
    initial_accumulator_value=1e-6,
    activation="sign",
):
    x = [np.array(value, dtype=np.float64) for value in variables]
    m = [np.zeros_like(value) for value in x]
    v = [np.full(value.shape, float(initial_accumulator_value)) for value in x]
    history = []
    for t, row in enumerate(gradients, start=1):
        eta = learning_rate * np.sqrt(1 - beta_2 ** t) / (1 - beta_1 ** t)
        for i, g in enumerate(row):
            m[i] = beta_1 * m[i] + (1 - beta_1) * g
            turn = np.tanh(10 * (v[i] - g ** 2)) if activation == "tanh" else np.sign(v[i] - g ** 2)
            v[i] = v[i] - (1 - beta_2) * turn * g ** 2
            rate = eta / (np.sqrt(v[i]) + epsilon)
            there = x[i] - rate * m[i]
            edge = rate * l1_regularization_strength
            # argmin of l1 |x| + l2 x^2 / 2 + (x - there)^2 / (2 rate)
            shrunk = np.where(there > edge, there - edge, np.where(there < -edge, there + edge, 0.0))
            x[i] = shrunk / (1 + rate * l2_regularization_strength)
        history.append([value.copy() for value in x])
    return history
