"""SGLD: equation 4 of Welling and Teh (2011), at a temperature."""

import math

import numpy as np
from _noise import normal

#: The noise is made in float32: one unit in the last place.
TOLERANCE = 1e-6

CASES = [{}, {"learning_rate": 0.2, "temperature": 0.5, "seed": 7}, {"learning_rate": 0.2, "temperature": 0.0}]


def trajectory(variables, gradients, learning_rate=1e-3, temperature=1.0, seed=0):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    history = []
    for t, row in enumerate(gradients, start=1):
        for i, g in enumerate(row):
            eta = math.sqrt(learning_rate) * math.sqrt(temperature) * normal(g.shape, seed, t, i)
            theta[i] = theta[i] + learning_rate / 2 * -g + eta
        history.append([x.copy() for x in theta])
    return history
