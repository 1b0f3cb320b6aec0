"""Muon: Jordan et al. (2024), with the scale of arXiv:2502.16982; Adam for other shapes.

The Newton-Schulz iteration is written on singular values: each step maps them by the odd
polynomial a s + b s^3 + c s^5 and leaves the singular vectors alone.
"""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "momentum": 0.6, "nesterov": False, "weight_decay": 0.0},
    {"learning_rate": 0.1, "momentum": 0.6, "ns_steps": 3, "rms_rate": None, "weight_decay": 0.2},
    {"learning_rate": 0.1, "muon_a": 2.0, "muon_b": -1.5, "muon_c": 0.5, "ns_steps": 4},
    {
        "learning_rate": 0.1,
        "adam_lr_ratio": 0.5,
        "adam_beta_1": 0.7,
        "adam_beta_2": 0.9,
        "epsilon": 0.03,
        "rms_rate": 0.4,
    },
]


def _orthogonalized(matrix, a, b, c, steps):
    left, s, right = np.linalg.svd(matrix, full_matrices=False)
    s = s / (np.sqrt(np.sum(s ** 2)) + 1e-7)
    for _ in range(steps):
        s = a * s + b * s ** 3 + c * s ** 5
    return left @ np.diag(s) @ right


def trajectory(
    variables,
    gradients,
    learning_rate=0.001,
    momentum=0.95,
    nesterov=True,
    ns_steps=5,
    muon_a=3.4445,
    muon_b=-4.7750,
    muon_c=2.0315,
    rms_rate=0.2,
    adam_lr_ratio=1.0,
    adam_beta_1=0.9,
    adam_beta_2=0.999,
    epsilon=1e-7,
    weight_decay=0.004,
):
    w = [np.array(x, dtype=np.float64) for x in variables]
    first = [np.zeros_like(x) for x in w]
    second = [np.zeros_like(x) for x in w]
    history = []
    for t, row in enumerate(gradients, start=1):
        for i, g in enumerate(row):
            w[i] = w[i] - learning_rate * weight_decay * w[i]
            if w[i].ndim == 2:
                first[i] = momentum * first[i] + g
                looked = g + momentum * first[i] if nesterov else first[i]
                o = _orthogonalized(looked, muon_a, muon_b, muon_c, ns_steps)
                scale = 1.0 if rms_rate is None else rms_rate * np.sqrt(max(w[i].shape))
                w[i] = w[i] - learning_rate * scale * o
            else:
                first[i] = adam_beta_1 * first[i] + (1 - adam_beta_1) * g
                second[i] = adam_beta_2 * second[i] + (1 - adam_beta_2) * g * g
                step = learning_rate * adam_lr_ratio
                step = step * np.sqrt(1 - adam_beta_2 ** t) / (1 - adam_beta_1 ** t)
                w[i] = w[i] - step * first[i] / (np.sqrt(second[i]) + epsilon)
        history.append([x.copy() for x in w])
    return history
