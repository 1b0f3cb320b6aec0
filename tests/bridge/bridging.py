"""What the tests of the bridge share: the legacy classes as files, and oracles in float64."""

import pathlib

import numpy as np
import pytest

import compat_opt as co

LEGACY = pathlib.Path(__file__).parent / "legacy"

TARGETS = co.targets()
GENERATIONS = {target.generation for target in TARGETS}
#: Whether there is TensorFlow, and the real base class of OptimizerV2.
HAS_BASE = bool(TARGETS) and co.default_target().backend == "tensorflow" and "optimizer_v2" in GENERATIONS
#: Whether the default target has another API than OptimizerV2, so that a host is made.
HOSTED = HAS_BASE and co.default_target().generation != "optimizer_v2"

needs_base = pytest.mark.skipif(not HAS_BASE, reason="no OptimizerV2 here to run on: no TensorFlow, or no tf-keras")
needs_host = pytest.mark.skipif(not HOSTED, reason="nothing to bridge: models take OptimizerV2 here, or there is none")


def location(file, name):
    """A class in tests/bridge/legacy as `load` takes it."""
    return "%s:%s" % (LEGACY / file, name)


def momentum(variable, gradients, learning_rate=0.1, factor=0.9, decay=0.0):
    """The trajectory of v = factor * v + g; w -= lr / (1 + decay * t) * v."""
    w, v, path = np.array(variable, "float64"), np.zeros(np.shape(variable)), []
    for step, gradient in enumerate(gradients):
        v = factor * v + np.asarray(gradient, "float64")
        w = w - learning_rate / (1 + decay * step) * v
        path.append(w)
    return path


def adam(variable, gradients, learning_rate=0.001, rate=0.0, norm=None):
    """Adam in TensorFlow's form; decoupled decay before each step; the one variable's gradient clipped by its norm."""
    w = np.array(variable, "float64")
    m, v, path = np.zeros_like(w), np.zeros_like(w), []
    for step, gradient in enumerate(gradients, 1):
        g = np.asarray(gradient, "float64")
        if norm is not None:
            g = g * norm / max(np.sqrt((g * g).sum()), norm)
        w = w - learning_rate * rate * w
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        corrected = learning_rate * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
        w = w - corrected * m / (np.sqrt(v) + 1e-7)
        path.append(w)
    return path


def lookahead(variable, gradients, inner, period=2, ratio=0.5):
    """Lookahead around a rule without state: `inner(w, g)` gives the next w."""
    w = slow = np.array(variable, "float64")
    path = []
    for step, gradient in enumerate(gradients, 1):
        w = inner(w, np.asarray(gradient, "float64"))
        if step % period == 0:
            w = slow = slow + ratio * (w - slow)
        path.append(w)
    return path
