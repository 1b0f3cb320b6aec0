"""A matrix without environments: cells whose results are made up, in no time."""

import os
import tempfile

import numpy as np

from compat_opt.testing.matrix import cache, process, releases
from compat_opt.testing.matrix.analysis import Row
from compat_opt.testing.matrix.environments import Environment, Missing
from compat_opt.testing.matrix.plan import Cell
from compat_opt.testing.matrix.run import MatrixRun, Settings

RULE_FILE = """\
import compat_opt as co


class Plain(co.UpdateRule):
    learning_rate = co.Hyper(0.1)

    def update(self, grad, var, slots, hyper, ops):
        return var - hyper.learning_rate * grad, {}
"""


def trace(shift=0.0, steps=4, dtype="float64", slot_shift=0.0):
    """A trajectory of two variables and a slot; `shift` moves one element from step 2 on."""
    random = np.random.RandomState(3)
    kernel = np.cumsum(random.normal(size=(steps + 1, 3, 2)), axis=0)
    kernel[2:, 1, 0] += shift
    slot = np.ones((steps, 3, 2))
    slot[1:] += slot_shift
    found = {"var/kernel": kernel, "var/bias": np.arange(steps + 1.0), "slot/kernel/momentum": slot}
    return {key: value.astype(dtype) for key, value in found.items()}


def cell(name="2.10", target="tf.keras:optimizer_v2"):
    """A cell of the release `name`."""
    return Cell(releases.find(name), target, True)


def passed(**more):
    """A result of a cell that ran."""
    result = {
        "status": "passed",
        "message": "",
        "dtype": "float64",
        "laws": {"dense": {"status": "kept", "detail": ""}, "sparse": {"status": "kept", "detail": ""}},
        "explanations": {"dense": "Dense gradients act.", "sparse": "Sparse <gradients> act."},
        "times": {"step_ms": 0.5, "native_ms": 0.25, "ratio": 2.0},
        "environment": {"python": "3.9.1", "tensorflow": "2.10.1", "numpy": "1.26.4"},
        "installed": ["numpy==1.26.4"],
        "seconds": 1.0,
    }
    result.update(more)
    return result


def row(name="2.10", target="tf.keras:optimizer_v2", shift=0.0, run="dense", **more):
    """A `Row` with one run."""
    return Row(cell(name, target), passed(**more), {run: trace(shift, dtype=more.get("dtype", "float64"))})


class FakeMatrix:
    """Stands in for environments and processes; counts what was really run.

    Args:
        monkeypatch: pytest's.
        outcomes: {label of a cell: result, exception or function}; others pass.
        shifts: {release name: shift of its trajectory}.
        missing: names of releases whose environment can't be had.
    """

    def __init__(self, monkeypatch, outcomes=(), shifts=(), missing=()):
        self.outcomes, self.shifts, self.missing = dict(outcomes), dict(shifts), set(missing)
        self.ran, self.made = [], []
        monkeypatch.setattr(process, "run_cell", self.run_cell)
        monkeypatch.setattr(cache, "source_digests", lambda: ("rules", "others"))

    def run_cell(self, cell, job, environment, package, processes, timeout):
        """What `process.run_cell` does, in no time."""
        self.ran.append(cell.label)
        outcome = self.outcomes.get(cell.label)
        if isinstance(outcome, BaseException):
            raise outcome
        if callable(outcome):
            outcome = outcome(processes)
        work = tempfile.mkdtemp()
        if outcome is None:
            outcome = passed(target=cell.target)
            arrays = {"dense/" + key: value for key, value in trace(self.shifts.get(cell.release.name, 0.0)).items()}
            np.savez(os.path.join(work, "traces.npz"), **arrays)
        return dict(outcome), work

    def ensure(self, release):
        """What `Environments.ensure` does, in no time."""
        if release.name in self.missing:
            raise Missing("no Python %s here" % release.python)
        self.made.append(release.name)
        return Environment("python", "key-of-" + release.name, ["numpy==1"])

    def matrix(self, subject, cells, **settings):
        """A `MatrixRun` on this."""
        run = MatrixRun(subject, cells, Settings(**settings))
        run.environments.ensure = self.ensure
        run.environments.start = lambda: None
        return run
