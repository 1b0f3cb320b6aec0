"""The files in tests/state/files: cases as data, and what is to be found in each.

The names on the right are those of the rules; they were typed from the papers' and the rules' words, and not taken from
the package's tables.
"""

import collections
import functools
import json
import pathlib

import numpy as np

FILES = pathlib.Path(__file__).resolve().parent.parent / "state" / "files"

#: By class: {slot or attribute of the native optimizer: slot of the rule}.
SLOTS = {
    "SGD": dict.fromkeys(("momentum", "momentums"), "velocity"),
    "RMSprop": {
        "rms": "mean_square", "momentum": "velocity", "mg": "mean_gradient",
        "_velocities": "mean_square", "_momentums": "velocity", "_average_gradients": "mean_gradient",
    },
    "Adam": {
        "m": "momentum", "v": "velocity", "vhat": "velocity_hat",
        "_momentums": "momentum", "_velocities": "velocity", "_velocity_hats": "velocity_hat",
    },
    "Adamax": {"m": "momentum", "v": "norm", "_m": "momentum", "_u": "norm"},
    "Adagrad": dict.fromkeys(("accumulator", "_accumulators"), "sum_of_squares"),
    "Adadelta": {
        "accum_grad": "mean_square", "accum_var": "mean_square_step",
        "_accumulated_grads": "mean_square", "_accumulated_delta_vars": "mean_square_step",
    },
    "Ftrl": {
        "accumulator": "sum_of_squares", "linear": "linear",
        "_accumulators": "sum_of_squares", "_linears": "linear",
    },
    "Adafactor": {"_r": "row", "_c": "column", "_v": "velocity"},
    "Lion": dict.fromkeys(("momentums", "_momentums"), "momentum"),
    "ScheduleFreeAdamW": {"_momentums": "base", "_velocities": "velocity"},
}  # fmt: skip
for _same in ("AdamW", "Nadam", "Lamb"):
    SLOTS[_same] = SLOTS["Adam"]

#: Attributes that are no slots of the rule.
AVERAGES = ("average", "_model_variables_moving_average")
ACCUMULATORS = ("accumulator", "_accumulated_gradients")


class Case:
    """One optimizer that was saved in one file.

    Attributes:
        cell, namespace, generation: what wrote it.
        name: the case, such as "Adam_amsgrad"; `class_name` its first part, `algorithm` its rule.
        format, path: of the file.
        compiled: whether it is compiled from a rule.
        arguments: of the optimizer.
        iterations: finished calls.
        variables: [(path, shape)].
        weights: the model's weights when it was saved, `after` those after each further step.
        found: [(slot or attribute, number of the variable or None, array)] of the live optimizer.
    """

    def __init__(self, folder, provenance, name, format, numbers):
        told = provenance["cases"][name]
        self.cell, self.namespace = folder.parent.name, folder.name
        self.generation = provenance["generation"]
        self.name, self.format, self.path = name, format, folder / told["formats"][format]
        self.compiled = name.startswith("compiled_")
        self.class_name = {"two": "Adam", "shards": "Adam"}.get(name.split("_")[0], name.replace("compiled_", "").split("_")[0])
        self.algorithm = {"Lamb": "LAMB"}.get(self.class_name, self.class_name)
        self.optimizer = name.replace("two_", "") + "_optimizer" if name.startswith("two_") else None
        self.arguments, self.iterations = told["arguments"], told["iterations"]
        self.variables = [(path, tuple(shape)) for path, shape in told["variables"]]
        rest = collections.deque(numbers)
        take = lambda shape: np.array([rest.popleft() for _ in range(int(np.prod(shape)))], "float32").reshape(shape)  # noqa: E731
        self.weights = [take(shape) for _, shape in self.variables]
        self.found = [(slot, index, take(shape)) for slot, index, shape in told["slots"]]
        self.after = []
        while rest:
            self.after.append([take(shape) for _, shape in self.variables])

    def __repr__(self):
        return "%s-%s-%s-%s" % (self.cell, self.namespace, self.name, self.format)

    def gradients(self, from_start=False):
        """The gradients of the further steps, or of all steps, as ci/state_files_here.py drew them."""
        provenance = provenance_of(self.path.parent)
        random = np.random.RandomState(provenance["seed"] + 1)
        draw = lambda: [random.normal(size=shape).astype("float32") for _, shape in self.variables]  # noqa: E731
        drawn = [draw() for _ in range(provenance["steps"] + len(self.after))]
        return drawn if from_start else drawn[provenance["steps"] :]

    def slots(self):
        """{(number of the variable, the rule's slot): array}, without what exists for its order alone."""
        placeholder = self.class_name == "SGD" and not self.arguments.get("momentum")
        expected = {}
        for name, index, array in self.found:
            if index is None or placeholder or (name in AVERAGES + ACCUMULATORS and not self._is_slot(name)):
                continue
            shape = self.variables[index][1]
            if self.class_name == "Adafactor" and not self.compiled:
                if (name == "_v") == (len(shape) > 1):
                    continue  # v of a matrix, r and c of a vector: nothing reads them
            expected[index, name if self.compiled else SLOTS[self.class_name][name]] = array
        return expected

    def of(self, names):
        """{number of the variable: array} of the averages or accumulators."""
        return {index: array for name, index, array in self.found if name in names and not self._is_slot(name)}

    def _is_slot(self, name):
        return not self.compiled and name in SLOTS.get(self.class_name, ())


@functools.lru_cache(None)
def provenance_of(folder):
    """What is told about a folder of files."""
    return json.loads((folder / "provenance.json").read_text())


@functools.lru_cache(None)
def cases():
    """Every case in every format, sorted."""
    found = []
    for path in sorted(FILES.glob("*/*/provenance.json")):
        provenance = provenance_of(path.parent)
        with np.load(str(path.parent / "expected.npz")) as numbers:
            for name in sorted(provenance["cases"]):
                for format in sorted(provenance["cases"][name]["formats"]):
                    found.append(Case(path.parent, provenance, name, format, numbers[name]))
    return found
