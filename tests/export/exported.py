"""Runs an exported class beside the compiled one; as a script, prints the table of their differences.

    python tests/export/exported.py [RULE ...]

One line per rule and target of the environment: the largest difference of a variable's element, over its size or
1e-3, in five float32 steps: eager, with a sparse gradient whose rows repeat, and inside tf.function (or jax.jit).
"""

import os
import sys

import numpy as np

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # for the script; pytest has tests/ there
from on_target import OnTarget  # noqa: E402

import compat_opt as co  # noqa: E402
from compat_opt import rules  # noqa: E402
from compat_opt.adapters import compile_rule  # noqa: E402
from compat_opt.export import export_rule  # noqa: E402
from compat_opt.testing.harness import harness_for  # noqa: E402

SHAPES = [(), (5,), (4, 3), (2, 3, 2), (3, 5)]
STEPS = 5
MODES = ("dense", "sparse", "compiled")


def exported_class(rule, target, settings=None, change=None):
    """The class in the exported source, after `change` of the text, where one is given."""
    text = export_rule(rule, target.generation, settings)
    text = change(text) if change else text
    if "register_keras_serializable" in text:  # Keras 2 up to 2.12 takes a name once
        OnTarget(target).keras.utils.get_custom_objects().pop("exported>%s" % rule.__name__, None)
    names = {"__name__": "exported"}
    exec(compile(text, "exported_%s.py" % rule.__name__.lower(), "exec"), names)
    return names[rule.__name__]


def modes(target):
    """Those of `MODES` that the target's framework offers."""
    offered = harness_for(target).offers
    return [m for m in MODES if m == "dense" or {"sparse": "sparse", "compiled": "graph"}[m] in offered]


def hypers_in_float32(rule, target):
    """Defaults that float32 holds: OptimizerV2 keeps hyperparameters in float32 variables, where 0.999 is none."""
    if target.generation != "optimizer_v2":
        return {}
    found = {}
    for name, hyper in rule.hypers().items():
        if not hyper.static and hyper.default is not None and name != "weight_decay":
            found[name] = float(np.float32(hyper.default))
    return found


def trajectory(cls, target, mode, hypers, dtype="float32"):
    """The variables after each step, from an optimizer of `cls`."""
    harness, random = harness_for(target), np.random.RandomState(0)
    variables = [harness.variable(random.normal(size=s), dtype, "v%d" % i) for i, s in enumerate(SHAPES)]
    optimizer = cls(**hypers)
    step = _stepper(harness, optimizer, variables, mode == "compiled")
    found = [[harness.numpy(variable) for variable in variables]]
    for _ in range(STEPS):
        gradients = []
        for number, shape in enumerate(SHAPES):
            value = random.normal(size=shape)
            if mode == "sparse" and number == 2:
                value[1:3] = 0.0
                gradients.append(harness.sparse_gradient(value, dtype))
            else:
                gradients.append(harness.gradient(value, dtype))
        step(gradients)
        found.append([harness.numpy(variable) for variable in variables])
    return found


def _stepper(harness, optimizer, variables, compiled):
    if not compiled or hasattr(optimizer, "build"):
        return harness.step(optimizer, variables, compiled)

    @harness.tf.function
    def step(gradients):
        optimizer.apply_gradients(list(zip(gradients, variables)))

    return step


def differences(rule, target, hypers=None, settings=None, change=None, only=MODES):
    """{mode: largest difference between the exported class and the compiled one}."""
    hypers = hypers or {}
    exported = exported_class(rule, target, settings, change)
    compiled = compile_rule(rule, target)
    found = {}
    for mode in [mode for mode in modes(target) if mode in only]:
        ours = trajectory(exported, target, mode, hypers)
        theirs = trajectory(compiled, target, mode, dict(settings or {}, **hypers))
        assert any(np.any(last != first) for first, last in zip(theirs[0], theirs[-1])), "nothing moved"
        found[mode] = largest_difference(ours, theirs)
    return found


def largest_difference(ours, theirs):
    """Over all steps and elements, relative to their size or 1e-3; infinite where only one is finite."""
    largest = 0.0
    for our_step, their_step in zip(ours, theirs):
        for our, their in zip(our_step, their_step):
            if np.any(np.isfinite(our) != np.isfinite(their)):
                return float("inf")
            error = np.abs(our - their) / np.maximum(np.abs(their), 1e-3)
            largest = max(largest, float(np.max(np.where(np.isfinite(their), error, 0.0))))
    return largest


def main(names):
    """Print the table."""
    for target in co.targets():
        print("%s (TensorFlow %s, Keras %s)" % (target.key, target.tensorflow, target.keras or "bundled"))
        print("%-20s" % "rule" + "".join("%12s" % mode for mode in modes(target)))
        for name in names or rules.names():
            rule = getattr(rules, name)
            found = differences(rule, target, hypers_in_float32(rule, target))
            print("%-20s" % name + "".join("%12.1e" % found[mode] for mode in modes(target)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
