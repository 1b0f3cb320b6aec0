"""AdaBelief: Algorithm 2 of arXiv:2010.07468, rectified as in arXiv:1908.03265 on request."""

import numpy as np

#: The length of the average is a difference of numbers near 2 / (1 - beta_2): it keeps 12 digits.
TOLERANCE = 1e-8

CASES = [
    {},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.95, "epsilon": 0.03},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.95, "epsilon": 0.03, "rectify": False},
    {"learning_rate": 0.1, "beta_2": 0.6, "epsilon": 1e-3, "amsgrad": True, "rectify": False},
    {"learning_rate": 0.1, "beta_2": 0.99, "epsilon": 1e-3, "sma_threshold": 7.5},
]


def trajectory(
    variables,
    gradients,
    learning_rate=0.001,
    beta_1=0.9,
    beta_2=0.999,
    epsilon=1e-14,
    amsgrad=False,
    rectify=True,
    sma_threshold=5.0,
):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    m = [np.zeros_like(x) for x in theta]
    s = [np.zeros_like(x) for x in theta]
    top = [np.zeros_like(x) for x in theta]
    history = []
    longest = 2 / (1 - beta_2) - 1
    for t, row in enumerate(gradients, start=1):
        bias_1, bias_2 = 1 - beta_1 ** t, 1 - beta_2 ** t
        length = longest - 2 * t * (1 - bias_2) / bias_2
        for i, g in enumerate(row):
            m[i] = beta_1 * m[i] + (1 - beta_1) * g
            s[i] = beta_2 * s[i] + (1 - beta_2) * (g - m[i]) ** 2 + epsilon
            top[i] = np.maximum(top[i], s[i])
            used = top[i] if amsgrad else s[i]
            adaptive = m[i] / bias_1 / (np.sqrt(used / bias_2) + epsilon)
            if rectify and length < sma_threshold:
                adaptive = m[i] / bias_1
            elif rectify:
                up = (length - 4) * (length - 2) * longest
                down = (longest - 4) * (longest - 2) * length
                adaptive = adaptive * np.sqrt(up / down)
            theta[i] = theta[i] - learning_rate * adaptive
        history.append([x.copy() for x in theta])
    return history
