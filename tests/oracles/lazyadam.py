"""LazyAdam: Adam of arXiv:1412.6980 on those rows that have a gradient, t counting all steps."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.95, "epsilon": 0.03},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.8, "epsilon": 0.03, "amsgrad": True},
]


def trajectory(
    variables, gradients, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False
):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    m = [np.zeros_like(x) for x in theta]
    v = [np.zeros_like(x) for x in theta]
    top = [np.zeros_like(x) for x in theta]
    history = []
    for t, row in enumerate(gradients, start=1):
        lr = learning_rate * np.sqrt(1 - beta_2 ** t) / (1 - beta_1 ** t)
        for i, gradient in enumerate(row):
            rows = [()] if gradient.ndim == 0 else [(k,) for k in range(len(gradient))]
            for k in rows:
                g = gradient[k]
                if not np.any(g):
                    continue
                m[i][k] = beta_1 * m[i][k] + (1 - beta_1) * g
                v[i][k] = beta_2 * v[i][k] + (1 - beta_2) * g ** 2
                top[i][k] = np.maximum(top[i][k], v[i][k])
                used = top[i][k] if amsgrad else v[i][k]
                theta[i][k] = theta[i][k] - lr * m[i][k] / (np.sqrt(used) + epsilon)
        history.append([x.copy() for x in theta])
    return history
