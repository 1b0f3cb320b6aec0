"""Transforms and two rules as plain NumPy, one variable at a time, written from the papers.

A stepper is made with the first weights and has ``step(t, w, g) -> w``. A transform's stepper is
made with the inner one's maker, so that they nest like the transforms themselves.
"""

import math
import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "oracles"))

from _noise import normal  # noqa: E402


class Momentum:
    """SGD(learning_rate=0.1, momentum=0.8)."""

    def __init__(self, w, variable):
        self.v = np.zeros_like(w)

    def step(self, t, w, g):
        self.v = 0.8 * self.v - 0.1 * g
        return w + self.v


class Adam:
    """Adam(learning_rate=0.1, beta_1=0.7, beta_2=0.9, epsilon=0.02)."""

    def __init__(self, w, variable):
        self.m, self.v = np.zeros_like(w), np.zeros_like(w)

    def step(self, t, w, g):
        self.m = 0.7 * self.m + 0.3 * g
        self.v = 0.9 * self.v + 0.1 * g * g
        rate = 0.1 * math.sqrt(1 - 0.9 ** t) / (1 - 0.7 ** t)
        return w - rate * self.m / (np.sqrt(self.v) + 0.02)


BASES = {
    "SGD": (Momentum, dict(learning_rate=0.1, momentum=0.8)),
    "Adam": (Adam, dict(learning_rate=0.1, beta_1=0.7, beta_2=0.9, epsilon=0.02)),
}


class Around:
    """A stepper around another; state that the outside reads is in `slots`."""

    def __init__(self, inner, w, variable):
        self.inner, self.variable, self.slots = inner(w, variable), variable, {}
        self.start(w)

    def start(self, w):
        pass


class lookahead(Around):
    hypers = dict(sync_period=4, slow_step_size=0.3)

    def start(self, w):
        self.slow = w

    def step(self, t, w, g):
        w = self.inner.step(t, w, g)
        if t % 4 == 0:
            w = self.slow = 0.7 * self.slow + 0.3 * w
        return w


class centralize_gradient(Around):
    hypers = {}

    def step(self, t, w, g):
        if g.ndim > 1:
            g = g.copy()
            for channel in range(g.shape[-1]):
                g[..., channel] -= np.mean(g[..., channel])
        return self.inner.step(t, w, g)


class noisy_gradient(Around):
    hypers = dict(noise_eta=0.5, noise_gamma=0.8, noise_seed=3)

    def step(self, t, w, g):
        sigma = math.sqrt(0.5 / (1 + t) ** 0.8)
        return self.inner.step(t, w, g + sigma * normal(g.shape, 3, t, self.variable))


class normalize_gradient(Around):
    hypers = dict(norm_epsilon=0.2)

    def step(self, t, w, g):
        return self.inner.step(t, w, g / (math.sqrt(np.sum(g * g)) + 0.2))


class adaptive_clip(Around):
    hypers = dict(clipping=0.6, weight_epsilon=0.5)

    def step(self, t, w, g):
        units = [(Ellipsis, k) for k in range(g.shape[-1])] if g.ndim > 1 else [Ellipsis]
        g = np.array(g)
        for unit in units:
            weight = max(math.sqrt(np.sum(w[unit] ** 2)), 0.5)
            size = math.sqrt(np.sum(g[unit] ** 2))
            if size / weight > 0.6:
                g[unit] = 0.6 * (weight / size) * g[unit]
        return self.inner.step(t, w, g)


class cautious(Around):
    hypers = dict(least_share=0.4)

    def step(self, t, w, g):
        u = w - self.inner.step(t, w, g)
        mask = (u * g > 0).astype(np.float64)
        return w - u * mask / max(np.mean(mask), 0.4)


class decoupled_weight_decay(Around):
    hypers = dict(decoupled_decay=0.05)

    def step(self, t, w, g):
        return self.inner.step(t, w - w * 0.05, g)


class moving_average(Around):
    hypers = dict(average_decay=0.6, start_step=3, dynamic_decay=True)

    def start(self, w):
        self.slots["running_mean"] = w

    def step(self, t, w, g):
        w, n = self.inner.step(t, w, g), t - 1 - 3
        decay = min(0.6, (1.0 + n) / (10.0 + n)) if n >= 0 else 0.0
        self.slots["running_mean"] = self.slots["running_mean"] * decay + w * (1 - decay)
        return w


class swa(Around):
    hypers = dict(start_averaging=2, average_period=3)

    def start(self, w):
        self.slots["snapshot_mean"] = w

    def step(self, t, w, g):
        w = self.inner.step(t, w, g)
        if t - 1 in range(2, 1000, 3):
            taken = (t - 1 - 2) // 3
            self.slots["snapshot_mean"] = (taken * self.slots["snapshot_mean"] + w) / (taken + 1.0)
        return w


class lazy_rows(Around):
    hypers = {}

    def step(self, t, w, g):
        # Rows are held by putting back what every array of the inner steppers was.
        before = _arrays(self.inner)
        new = self.inner.step(t, w, g)
        rows = np.array(g != 0) if g.ndim < 2 else np.any(g != 0, axis=tuple(range(1, g.ndim)))
        held = rows.reshape(rows.shape + (1,) * (g.ndim - rows.ndim))
        for owner, key, value in before:
            owner[key] = np.where(held, owner[key], value)
        return np.where(held, new, w)


def _arrays(stepper):
    """(dict, key, array) of all state of a stepper and those inside it."""
    found = []
    for owner in (vars(stepper), getattr(stepper, "slots", {})):
        found += [(owner, key, value) for key, value in owner.items() if isinstance(value, np.ndarray)]
    if hasattr(stepper, "inner"):
        found += _arrays(stepper.inner)
    return found


def trajectory(maker, variables, gradients):
    """([[arrays of a step] ...], the steppers)"""
    w = [np.array(value, dtype=np.float64) for value in variables]
    steppers = [maker(value, i) for i, value in enumerate(w)]
    history = []
    for t, row in enumerate(gradients, start=1):
        w = [stepper.step(t, value, g) for stepper, value, g in zip(steppers, w, row)]
        history.append([np.array(value) for value in w])
    return history, steppers
