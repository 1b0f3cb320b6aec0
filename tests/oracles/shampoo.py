"""Shampoo: Algorithm 1 of arXiv:1802.09568; roots by SVD of the stacked gradients.

With G_1 ... G_t beside each other, L_t = sum G G^T has the left singular vectors of the stack and
the squares of its singular values.
"""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "momentum": 0.7, "epsilon": 0.2},
    {"learning_rate": 0.1, "momentum": 1.0, "epsilon": 0.2, "largest_side": 4},
    {"learning_rate": 0.1, "epsilon": 0.2, "largest_side": 3},
    {"learning_rate": 0.1, "epsilon": 0.2, "largest_side": 2},
]


def _root(stack, epsilon, power):
    u, s, _ = np.linalg.svd(stack, full_matrices=True)
    values = np.zeros(len(u))
    values[: len(s)] = s ** 2
    return u @ np.diag((values + epsilon) ** power) @ u.T


def trajectory(variables, gradients, learning_rate=0.01, momentum=0.0, epsilon=1e-4, largest_side=1024):
    w = [np.array(value, dtype=np.float64) for value in variables]
    velocity = [np.zeros_like(value) for value in w]
    history = []
    for t in range(len(gradients)):
        for i in range(len(w)):
            g, past = gradients[t][i], [row[i] for row in gradients[: t + 1]]
            if w[i].ndim > 1:
                past = [p.reshape(-1, p.shape[-1]) for p in past]
                rows, columns = past[0].shape
            use_left = w[i].ndim > 1 and rows <= largest_side
            use_right = w[i].ndim > 1 and columns <= largest_side
            if use_left or use_right:
                power = -1.0 / (2 * (use_left + use_right))
                step = past[-1]
                if use_left:
                    step = _root(np.hstack(past), epsilon, power) @ step
                if use_right:
                    step = step @ _root(np.hstack([p.T for p in past]), epsilon, power)
                step = step.reshape(g.shape)
            else:
                step = g / np.sqrt(sum(p ** 2 for p in past) + epsilon)
            velocity[i] = momentum * velocity[i] + step
            w[i] = w[i] - learning_rate * velocity[i]
        history.append([value.copy() for value in w])
    return history
