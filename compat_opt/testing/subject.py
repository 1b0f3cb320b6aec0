"""The subject of the laws: a rule on a target, with the problem on which it is tried."""

import warnings

import numpy as np

from compat_opt.adapters import compile_rule
from compat_opt.adapters.reference import run_reference
from compat_opt.testing.compare import assert_close
from compat_opt.testing.harness import harness_for

#: Relative error of the distance moved that counts as rounding of the dtype.
TOLERANCES = {"float64": 1e-9, "float32": 1e-3}

STEPS = 6

#: How often a step may assign to a variable, and round it: weight decay, the update, and the overwriting average.
ASSIGNMENTS = 3

#: What a law may need: {name: (whose it is: "framework", "rule" or "both", what the framework lacks)}.
NEEDS = {
    "graph": ("framework", "no compiled train step"),
    "sparse": ("framework", "no sparse gradients"),
    "float64": ("framework", "no float64"),
    "half": ("framework", "no half precision"),
    "complex": ("both", "no complex variables"),
    "learning_rate": ("rule", ""),
    "local": ("rule", ""),
}

_RULE_LACKS = {
    "complex": 'does not declare capabilities = ("complex",)',
    "learning_rate": "has no learning rate that may change",
    "local": "measures all variables together, or draws numbers by their order: a new one changes others' steps",
}


class Subject:
    """A rule on a target with one choice of hyperparameters, and the problem that laws use.

    Args:
        rule: an `UpdateRule` class.
        target: a `Target`.
        **hypers: hyperparameters that differ from the defaults.
    """

    def __init__(self, rule, target, **hypers):
        self.rule = rule
        self.target = target
        self.hypers = hypers
        self.harness = harness_for(target)
        self.optimizer_class = compile_rule(rule, target)
        self.dtype = "float64" if "float64" in self.harness.offers else "float32"
        self.tolerance = TOLERANCES[self.dtype]
        if "random" in getattr(rule, "capabilities", ()):
            # Normal numbers are made in float32, by logarithms and cosines that frameworks round differently.
            self.tolerance = max(self.tolerance, 1e-5)
        declared = rule.hypers().get("learning_rate")
        if declared and "learning_rate" not in hypers and isinstance(declared.default, (int, float)):
            self.hypers = dict(hypers, learning_rate=max(declared.default, 0.01))

    def offers(self, needs):
        """Whether the framework and the rule offer all that a law needs."""
        return not self.lacking(needs)

    def lacking(self, needs):
        """Why a law with these needs does not apply: a sentence, or "" where it does."""
        reasons = []
        for need in sorted(needs):
            owner, reason = NEEDS[need]
            if owner != "rule" and need not in self.harness.offers:
                here = "Keras %s on %s" % (self.target.keras or "in TensorFlow", self.target.backend)
                reasons.append("%s has %s" % (here, reason))
            elif owner != "framework" and not self._rule_offers(need):
                reasons.append("%s %s" % (self.rule.__name__, _RULE_LACKS[need]))
        return "; ".join(reasons)

    def _rule_offers(self, need):
        if need == "learning_rate":
            declared = self.rule.hypers().get("learning_rate")
            return declared is not None and not declared.static
        if need == "local":
            return not self.rule.overrides("measure") and "random" not in getattr(self.rule, "capabilities", ())
        return need in getattr(self.rule, "capabilities", ())

    def problem(self, steps=STEPS, seed=0, sparse=False, complex_values=False):
        """(first values, gradients): a vector, a matrix, a scalar and a rank-3 array."""
        random = np.random.RandomState(seed)
        shapes = [(5,), (4, 3), (), (2, 3, 2)]

        def draw(shape):
            real = random.normal(size=shape)
            return real + 1j * random.normal(size=shape) if complex_values else real

        values = [np.asarray(draw(shape)) for shape in shapes]
        gradients = [[np.asarray(draw(shape)) for shape in shapes] for _ in range(steps)]
        if sparse:
            for step, row in enumerate(gradients):
                row[1][step % 3] = 0.0
                row[3][step % 2] = 0.0
        return values, gradients

    def optimizer(self, **more):
        """A compiled optimizer with this subject's hyperparameters."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.optimizer_class(**dict(self.hypers, **more))

    def variables(self, values, dtype=None):
        """Variables with these first values."""
        return [
            self.harness.variable(value, dtype or self.dtype, "layer_%d/kernel" % i)
            for i, value in enumerate(values)
        ]

    def run(self, optimizer, variables, gradients, compiled=False, dtype=None, sparse=False):
        """Values after each call."""
        step = self.harness.step(optimizer, variables, compiled)
        trajectory = []
        for row in gradients:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                step([self._gradient(g, dtype or self.dtype, sparse) for g in row])
            trajectory.append([self.harness.numpy(v) for v in variables])
        return trajectory

    def _gradient(self, array, dtype, sparse):
        if array is None:
            return None
        if sparse and np.ndim(array) >= 2:
            return self.harness.sparse_gradient(array, dtype)
        return self.harness.gradient(array, dtype)

    def reference(self, values, gradients, **more):
        """The NumPy reference's trajectory."""
        return run_reference(self.rule, values, gradients, **dict(self.hypers, **more))

    def assert_same(self, actual, expected, first, tolerance=None):
        """Assert that two trajectories move by the same distances, up to rounding of moves and variables."""
        tolerance = self.tolerance if tolerance is None else tolerance
        moved = max([np.max(np.abs(b - a)) for a, b in zip(first, expected[-1]) if np.size(a)] or [0])
        assert len(actual) == len(expected)
        for step, (row, other) in enumerate(zip(actual, expected)):
            for i, (value, wanted) in enumerate(zip(row, other)):
                assert_close(
                    value - first[i],
                    wanted - first[i],
                    tolerance,
                    "step %d, distance moved by variable %d" % (step + 1, i),
                    smallest=max(1e-2 * float(moved), self._rounded(wanted, step + 1) / tolerance),
                )

    def _rounded(self, values, steps):
        """The most by which rounding variables of these values moved them: one in float32 may move by little more."""
        largest = float(np.max(np.abs(values))) if np.size(values) else 0.0
        return ASSIGNMENTS * steps * np.finfo(self.dtype).eps / 2 * largest

    def check(self, values, gradients, compiled=False, sparse=False, reference=None, **options):
        """Assert that the compiled rule agrees with the reference under `options`."""
        expected = self.reference(values, gradients, **(options if reference is None else reference))
        optimizer = self.optimizer(**options)
        variables = self.variables(values)
        actual = self.run(optimizer, variables, gradients, compiled=compiled, sparse=sparse)
        self.assert_same(actual, expected, expected.initial)
        iterations = int(self.harness.numpy(optimizer.iterations))
        assert iterations == expected.iterations, "iterations: %d, expected %d" % (iterations, expected.iterations)
        return optimizer, variables, expected
