"""SGDP: Algorithm 1 of arXiv:2006.08217 and the authors' choice of views; channels on the last axis."""

import math

import numpy as np

CASES = [
    {},
    {"learning_rate": 0.05, "momentum": 0.7, "dampening": 0.2, "nesterov": True, "decay_in_step": 0.3},
    {"delta": 3.0, "wd_ratio": 0.4, "decay_in_step": 0.3, "epsilon": 0.02},
    {"delta": 0.8, "decay_in_step": 0.3, "epsilon": 0.02},
    {"delta": 0.3, "decay_in_step": 0.3},
    {"delta": 0.0, "decay_in_step": 0.3},
]


def project(step, g, w, delta, wd_ratio, epsilon):
    """The step without its radial part, and the factor of the weight decay."""
    if w.ndim < 2:
        return step, 1.0
    for columns in (w.shape[-1], 1):
        # One column of the view is one channel, or everything.
        view = [a.reshape(-1, w.shape[-1]) if columns > 1 else a.reshape(-1, 1) for a in (step, g, w)]
        cosines = []
        for k in range(view[0].shape[1]):
            gk, wk = view[1][:, k], view[2][:, k]
            lengths = (math.sqrt(gk.dot(gk)) + epsilon) * (math.sqrt(wk.dot(wk)) + epsilon)
            cosines.append(abs(gk.dot(wk)) / lengths)
        if max(cosines) < delta / math.sqrt(view[0].shape[0]):
            out = view[0].copy()
            for k in range(out.shape[1]):
                unit = view[2][:, k] / (math.sqrt(view[2][:, k].dot(view[2][:, k])) + epsilon)
                out[:, k] = out[:, k] - unit.dot(out[:, k]) * unit
            return out.reshape(w.shape), wd_ratio
    return step, 1.0


def trajectory(
    variables,
    gradients,
    learning_rate=0.1,
    momentum=0.9,
    dampening=0.0,
    nesterov=False,
    delta=0.1,
    wd_ratio=0.1,
    epsilon=1e-8,
    decay_in_step=0.0,
):
    w = [np.array(value, dtype=np.float64) for value in variables]
    buffers = [np.zeros_like(value) for value in w]
    history = []
    for row in gradients:
        for i, g in enumerate(row):
            buffers[i] = momentum * buffers[i] + (1 - dampening) * g
            step = g + momentum * buffers[i] if nesterov else buffers[i]
            step, ratio = project(step, g, w[i], delta, wd_ratio, epsilon)
            w[i] = w[i] * (1 - learning_rate * decay_in_step * ratio / (1 - momentum))
            w[i] = w[i] - learning_rate * step
        history.append([value.copy() for value in w])
    return history
