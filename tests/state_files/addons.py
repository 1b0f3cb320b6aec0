"""The files in tests/state/addons, which TensorFlow Addons and keras-adamw wrote: cases as data.

The names on the right are those of the rules, typed from the papers' and the rules' words.
"""

import collections
import functools
import json
import pathlib

import numpy as np

from compat_opt import rules, transforms

FILES = pathlib.Path(__file__).resolve().parent.parent / "state" / "addons"

FURTHER = 5

ADAM = {"m": "momentum", "v": "velocity"}
#: By case: the rule, and {slot of the class: slot of the rule}.
RULES = {
    "AdaBelief": (rules.AdaBelief, {"m": "momentum", "v": "deviation"}),
    "AdamW": (rules.AdamW, ADAM),
    "COCOB": (
        rules.COCOB,
        {"lr": "scale", "grad_norm_sum": "magnitude_sum", "gradients_sum": "gradient_sum", "tilde_w": "offset", "reward": "reward"},
    ),
    "ConditionalGradient": (rules.ConditionalGradient, {"conditional_gradient": None}),  # nothing reads it
    "LAMB": (rules.LAMB, ADAM),
    "LazyAdam": (rules.LazyAdam, ADAM),
    "NovoGrad": (rules.NovoGrad, ADAM),
    "ProximalAdagrad": (rules.ProximalAdagrad, {"accumulator": "sum_of_squares"}),
    "RectifiedAdam": (rules.RectifiedAdam, ADAM),
    "SGDW": (rules.SGDW, {"momentum": "velocity"}),
    "Yogi": (rules.Yogi, ADAM),
    "Lookahead_Nadam": (transforms.lookahead(rules.Nadam), dict(ADAM, slow="slow")),
    "Lookahead_RectifiedAdam": (transforms.lookahead(rules.RectifiedAdam), dict(ADAM, slow="slow")),
    "MovingAverage_Adam": (transforms.moving_average(rules.Adam), dict(ADAM, average="running_mean")),
    "SWA_SGD": (transforms.swa(rules.SGD), {"momentum": "velocity", "average": "snapshot_mean"}),
    "NadamW": (rules.Nadam, ADAM),
}  # fmt: skip


class Case:
    """One optimizer in one file.

    Attributes:
        version, name, path: of the package that wrote it, and the file.
        class_name: as `read_file` takes it.
        config: arguments that a checkpoint does not hold.
        rule: the rule class; `slots` {(number of the variable, the rule's slot): array}, `last` those after the further
            steps.
        paths, weights: of the variables; `after` their values after each further step.
        steps: how many were made before.
    """

    def __init__(self, provenance, name, path, numbers):
        told = provenance["cases"][name]
        self.version, self.name, self.path = path.parent.name, name, path
        self.class_name, self.config = told["class_name"], told["config"]
        self.rule, renamed = RULES[name]
        self.steps, self.seed = provenance["steps"], provenance["seed"]
        self.paths = [path for path, _ in provenance["variables"]]
        shapes = self.shapes = [tuple(shape) for _, shape in provenance["variables"]]
        rest = collections.deque(numbers)
        take = lambda shape: np.array([rest.popleft() for _ in range(int(np.prod(shape)))], "float32").reshape(shape)  # noqa: E731
        slots = [(number, renamed[slot], shape) for slot, shapes in told["slots"] for number, shape in enumerate(shapes)]
        self.weights = [take(shape) for shape in shapes]
        self.slots = {(number, slot): take(shape) for number, slot, shape in slots}
        self.after = [[take(shape) for shape in shapes] for _ in range(FURTHER)]
        self.last = {(number, slot): take(shape) for number, slot, shape in slots}
        for found in (self.slots, self.last):
            for key in [key for key in found if key[1] is None]:
                del found[key]

    def __repr__(self):
        return "%s-%s%s" % (self.version, self.name, self.path.suffix if self.path.suffix == ".h5" else "")

    def gradients(self):
        """The gradients of the further steps, as ci/addons_files_here.py drew them, after the weights."""
        random = np.random.RandomState(self.seed)
        rows = [[random.normal(size=shape).astype("float32") for shape in self.shapes] for _ in range(1 + self.steps + FURTHER)]
        return rows[1 + self.steps :]


@functools.lru_cache(None)
def addons_cases():
    """Every case, sorted."""
    found = []
    for path in sorted(FILES.glob("*/provenance.json")):
        provenance = json.loads(path.read_text())
        with np.load(str(path.parent / "expected.npz")) as numbers:
            for name in sorted(provenance["cases"]):
                written = [path.parent / name, path.parent / (name + ".h5")]
                there = written[: 1 + written[1].exists()]
                found.extend(Case(provenance, name, file, numbers[name]) for file in there)
    return found
