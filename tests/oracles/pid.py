"""PID: equation 16 of An et al. (2018), in the form of the authors' code."""

import numpy as np

CASES = [{}, {"learning_rate": 0.02, "momentum": 0.6, "integral": 0.7, "derivative": 0.4}]


def trajectory(variables, gradients, learning_rate=0.01, momentum=0.9, integral=5.0, derivative=10.0):
    w = [np.array(value, dtype=np.float64) for value in variables]
    history = []
    for t in range(len(gradients)):
        for i in range(len(w)):
            g = [row[i] for row in gradients[: t + 1]]
            i_term = sum(momentum ** (t - k) * g[k] for k in range(t + 1))
            d_term = 0.0
            for k in range(1, t + 1):
                d_term = d_term + momentum ** (t - k) * (1 - momentum) * (g[k] - g[k - 1])
            w[i] = w[i] - learning_rate * (g[t] + integral * i_term + derivative * d_term)
        history.append([np.array(value) for value in w])
    return history
