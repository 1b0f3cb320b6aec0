"""AdamP: Algorithm 2 of arXiv:2006.08217 and the authors' choice of views; channels on the last axis."""

import math

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.8, "epsilon": 0.03, "nesterov": True},
    {"learning_rate": 0.1, "delta": 3.0, "wd_ratio": 0.4, "decay_in_step": 0.3, "epsilon": 0.02},
    {"learning_rate": 0.1, "delta": 0.8, "decay_in_step": 0.3, "epsilon": 0.02},
    {"learning_rate": 0.1, "delta": 0.3, "decay_in_step": 0.3},
]


def _tangent(step, g, w, groups, epsilon):
    """For each group of positions: the step less its part along w; and the largest cosine."""
    out, worst = step.copy(), 0.0
    for where in groups:
        wn = math.sqrt(np.sum(w[where] ** 2)) + epsilon
        gn = math.sqrt(np.sum(g[where] ** 2)) + epsilon
        worst = max(worst, abs(np.sum(w[where] * g[where])) / wn / gn)
        out[where] = step[where] - w[where] / wn * np.sum(w[where] / wn * step[where])
    return out, worst


def trajectory(
    variables,
    gradients,
    learning_rate=0.001,
    beta_1=0.9,
    beta_2=0.999,
    nesterov=False,
    delta=0.1,
    wd_ratio=0.1,
    epsilon=1e-8,
    decay_in_step=0.0,
):
    w = [np.array(value, dtype=np.float64) for value in variables]
    m = [np.zeros_like(value) for value in w]
    v = [np.zeros_like(value) for value in w]
    history = []
    for t, row in enumerate(gradients, start=1):
        for i, g in enumerate(row):
            m[i] = beta_1 * m[i] + (1 - beta_1) * g
            v[i] = beta_2 * v[i] + (1 - beta_2) * g ** 2
            top = beta_1 * m[i] + (1 - beta_1) * g if nesterov else m[i]
            step = top / (np.sqrt(v[i]) / math.sqrt(1 - beta_2 ** t) + epsilon)
            ratio = 1.0
            if w[i].ndim > 1:
                channels = [(Ellipsis, k) for k in range(w[i].shape[-1])]
                by_channel, cosine = _tangent(step, g, w[i], channels, epsilon)
                if cosine < delta / math.sqrt(w[i].size / w[i].shape[-1]):
                    step, ratio = by_channel, wd_ratio
                else:
                    as_one, cosine = _tangent(step, g, w[i], [Ellipsis], epsilon)
                    if cosine < delta / math.sqrt(w[i].size):
                        step, ratio = as_one, wd_ratio
            w[i] = w[i] - learning_rate * decay_in_step * ratio * w[i]
            w[i] = w[i] - learning_rate / (1 - beta_1 ** t) * step
        history.append([value.copy() for value in w])
    return history
