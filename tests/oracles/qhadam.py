"""QHAdam: section 4 of arXiv:1810.06801."""

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.1, "beta_1": 0.7, "beta_2": 0.8, "nu_1": 0.4, "nu_2": 0.6, "epsilon": 0.03},
]


def trajectory(
    variables,
    gradients,
    learning_rate=0.001,
    beta_1=0.995,
    beta_2=0.999,
    nu_1=0.7,
    nu_2=1.0,
    epsilon=1e-8,
):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    g1 = [np.zeros_like(x) for x in theta]
    s1 = [np.zeros_like(x) for x in theta]
    history = []
    for t, row in enumerate(gradients, start=1):
        # The authors' code keeps corrected moments: running means with weight 1 / (1 + b + b^2 ...).
        w1 = (1 - beta_1) / (1 - beta_1 ** t)
        w2 = (1 - beta_2) / (1 - beta_2 ** t)
        for i, g in enumerate(row):
            g1[i] = (1 - w1) * g1[i] + w1 * g
            s1[i] = (1 - w2) * s1[i] + w2 * g ** 2
            top = (1 - nu_1) * g + nu_1 * g1[i]
            bottom = np.sqrt((1 - nu_2) * g ** 2 + nu_2 * s1[i]) + epsilon
            theta[i] = theta[i] - learning_rate * top / bottom
        history.append([x.copy() for x in theta])
    return history
