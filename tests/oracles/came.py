"""CAME: Algorithm 2 of arXiv:2307.02047, over the last two axes."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.05, "beta_1": 0.7, "beta_2": 0.8, "beta_3": 0.6, "epsilon_1": 0.05, "epsilon_2": 0.1},
    {"learning_rate": 0.05, "beta_3": 0.9, "epsilon_2": 0.1, "clip_threshold": 0.4},
]


def _factored(rows, columns):
    """r c^T / (1^T r), for each matrix of the last two axes, of row and column sums."""
    out = np.zeros(rows.shape + columns.shape[-1:])
    for k in np.ndindex(*rows.shape[:-1]):
        out[k] = np.outer(rows[k], columns[k]) / np.sum(rows[k])
    return out


def trajectory(
    variables,
    gradients,
    learning_rate=2e-4,
    beta_1=0.9,
    beta_2=0.999,
    beta_3=0.9999,
    epsilon_1=1e-30,
    epsilon_2=1e-16,
    clip_threshold=1.0,
):
    w = [np.array(value, dtype=np.float64) for value in variables]
    m = [np.zeros_like(value) for value in w]
    state = [[0.0, 0.0, 0.0, 0.0, 0.0] for _ in w]
    history = []
    for row in gradients:
        for i, g in enumerate(row):
            r, c, big_r, big_c, v = state[i]
            square = g ** 2 + epsilon_1
            if g.ndim >= 2:
                # Means over one axis: sums over it up to a factor that the product brings back.
                r = beta_2 * r + (1 - beta_2) * square.sum(axis=-1)
                c = beta_2 * c + (1 - beta_2) * square.sum(axis=-2)
                u = g / np.sqrt(_factored(r, c))
            else:
                v = beta_2 * v + (1 - beta_2) * square
                u = g / np.sqrt(v)
            u = u / max(1.0, np.sqrt(np.mean(u ** 2)) / clip_threshold)
            m[i] = beta_1 * m[i] + (1 - beta_1) * u
            direction = m[i]
            if g.ndim >= 2:
                unstable = (u - m[i]) ** 2 + epsilon_2
                big_r = beta_3 * big_r + (1 - beta_3) * unstable.sum(axis=-1)
                big_c = beta_3 * big_c + (1 - beta_3) * unstable.sum(axis=-2)
                direction = m[i] / np.sqrt(_factored(big_r, big_c))
            state[i] = [r, c, big_r, big_c, v]
            w[i] = w[i] - learning_rate * direction
        history.append([value.copy() for value in w])
    return history
