"""QHM: equations 3-4 of arXiv:1810.06801, the momentum as a sum of all past gradients."""

import numpy as np

CASES = [{}, {"learning_rate": 0.3, "beta": 0.8, "nu": 0.4}]


def trajectory(variables, gradients, learning_rate=1.0, beta=0.999, nu=0.7):
    theta = [np.array(x, dtype=np.float64) for x in variables]
    history = []
    for t in range(len(gradients)):
        for i in range(len(theta)):
            total = np.zeros_like(theta[i])
            for k in range(t + 1):
                total = total + (1 - beta) * beta ** (t - k) * gradients[k][i]
            theta[i] = theta[i] - learning_rate * ((1 - nu) * gradients[t][i] + nu * total)
        history.append([x.copy() for x in theta])
    return history
