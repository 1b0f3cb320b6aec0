"""COCOB-Backprop: Algorithm 2 of arXiv:1705.07795, coordinate by coordinate."""

import numpy as np

CASES = [
    {},
    {"alpha": 3.0, "initial_scale": 0.5},
    {"learning_rate": 0.3, "alpha": 1.5},
]


def trajectory(variables, gradients, learning_rate=1.0, alpha=100.0, initial_scale=1e-8):
    first = [np.array(value, dtype=np.float64) for value in variables]
    w = [value.copy() for value in first]
    history = []
    state = [np.zeros(value.shape + (4,)) for value in first]
    for i in range(len(state)):
        state[i][..., 0] = initial_scale
    for row in gradients:
        for i, gradient in enumerate(row):
            for k in np.ndindex(*w[i].shape):
                g = -float(gradient[k])
                largest, total, reward, theta = state[i][k]
                # The bet of the round that ends: w - w_1 in units of the learning rate.
                away = (w[i][k] - first[i][k]) / learning_rate
                largest = max(largest, abs(g))
                total += abs(g)
                reward = max(reward + away * g, 0.0)
                theta += g
                bet = theta / (largest * max(total + largest, alpha * largest)) * (largest + reward)
                w[i][k] = first[i][k] + learning_rate * bet
                state[i][k] = largest, total, reward, theta
        history.append([value.copy() for value in w])
    return history
