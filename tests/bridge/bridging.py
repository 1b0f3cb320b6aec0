"""What the tests of the bridge share: the legacy classes as files, and oracles in float64."""

import pathlib

import numpy as np
import pytest

import compat_opt as co

LEGACY = pathlib.Path(__file__).parent / "legacy"

TARGETS = co.targets()
ON_TENSORFLOW = bool(TARGETS) and co.default_target().backend == "tensorflow"
#: Whether the default target has another API than OptimizerV2, so that a host is made.
HOSTED = ON_TENSORFLOW and co.default_target().generation != "optimizer_v2"
GENERATIONS = {target.generation for target in TARGETS}

needs_tensorflow = pytest.mark.skipif(not ON_TENSORFLOW, reason="legacy classes are TensorFlow code: no TensorFlow here")
needs_host = pytest.mark.skipif(not HOSTED, reason="models take OptimizerV2 classes here: nothing to bridge")


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
