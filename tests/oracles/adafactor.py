"""Adafactor: Algorithms 4 and 5 of arXiv:1804.04235, factored over the last two axes."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.5, "epsilon_1": 0.01, "epsilon_2": 0.3, "clip_threshold": 0.6},
    {"learning_rate": 0.1, "epsilon_1": 0.01, "beta_2_decay": -0.5, "relative_step": False},
    {"learning_rate": 0.4, "epsilon_2": 2.5, "relative_step": False},
]


def _rms(x):
    return np.sqrt(np.sum(x ** 2) / x.size)


def trajectory(
    variables,
    gradients,
    learning_rate=0.001,
    beta_2_decay=-0.8,
    epsilon_1=1e-30,
    epsilon_2=1e-3,
    clip_threshold=1.0,
    relative_step=True,
):
    x = [np.array(value, dtype=np.float64) for value in variables]
    rows = [np.zeros(value.shape[:-1]) for value in x]
    columns = [np.zeros(value.shape[:-2] + value.shape[-1:]) for value in x]
    full = [np.zeros_like(value) for value in x]
    history = []
    for t, row in enumerate(gradients, start=1):
        rho = min(learning_rate, t ** -0.5) if relative_step else learning_rate
        beta_2t = 1 - float(t) ** beta_2_decay
        for i, g in enumerate(row):
            alpha = max(epsilon_2, _rms(x[i])) * rho
            if x[i].ndim < 2:
                full[i] = beta_2t * full[i] + (1 - beta_2t) * (g ** 2 + epsilon_1)
                v_hat = full[i]
            else:
                height, width = g.shape[-2:]
                square = g ** 2 + epsilon_1
                # Sums and the outer product over their total, as in Algorithm 4.
                rows[i] = beta_2t * rows[i] + (1 - beta_2t) * square.sum(axis=-1)
                columns[i] = beta_2t * columns[i] + (1 - beta_2t) * square.sum(axis=-2)
                total = rows[i].sum(axis=-1)[..., None, None]
                v_hat = rows[i][..., :, None] * columns[i][..., None, :] / total
            u = g / np.sqrt(v_hat)
            u = u / max(1.0, _rms(u) / clip_threshold)
            x[i] = x[i] - alpha * u
        history.append([value.copy() for value in x])
    return history
