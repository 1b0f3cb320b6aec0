"""DoG: equation DoG and Algorithm 1 of arXiv:2302.12022, over all variables as one vector."""

import math

import numpy as np

CASES = [
    {},
    {"initial_distance": 0.05, "epsilon": 0.5},
    {"learning_rate": 0.3, "initial_distance": 0.3},
]


def trajectory(variables, gradients, learning_rate=1.0, initial_distance=1e-6, epsilon=1e-8):
    shapes = [np.shape(value) for value in variables]
    start = np.concatenate([np.ravel(value) for value in variables]).astype(np.float64)
    x, farthest, squares, history = start.copy(), 0.0, 0.0, []
    for t, row in enumerate(gradients):
        g = np.concatenate([np.ravel(gradient) for gradient in row])
        if t == 0:
            farthest = initial_distance * (1 + math.sqrt(x.dot(x)))
        else:
            farthest = max(farthest, math.sqrt((x - start).dot(x - start)))
        squares += g.dot(g)
        x = x - learning_rate * farthest / math.sqrt(squares + epsilon) * g
        parts, used = [], 0
        for shape in shapes:
            count = int(np.prod(shape))
            parts.append(x[used : used + count].reshape(shape))
            used += count
        history.append(parts)
    return history
