"""Runs an old class and the rule made from it, and writes down how far apart they go.

``python -m compat_opt.testing.migration.worker JOBS.json RESULTS.json``, in the environment of the old classes. An
old class updates float64 variables; the rule runs in NumPy float64. Hyperparameters are numbers that float32
holds exactly, since old optimizers keep theirs in float32.
"""

import importlib
import importlib.util
import json
import os
import sys

import numpy as np

STEPS = 6
_IMPORTS = "from compat_opt import Hyper, Shared, Slot, UpdateRule, checks\n"


def main(job_path, result_path):
    """Run the jobs, a list; the result of each is written whatever happens."""
    with open(job_path) as stream:
        jobs = json.load(stream)
    results = []
    for job in jobs:
        try:
            results.append(_run(job))
        except Exception as error:
            results.append({"error": "%s: %s" % (type(error).__name__, str(error)[:500])})
        with open(result_path, "w") as stream:
            json.dump(results, stream)


def _run(job):
    import tensorflow as tf

    run = _run_apply
    if job["style"] == "get_updates":
        tf.compat.v1.disable_eager_execution()  # before the old module makes anything
        run = _run_get_updates
    result = {"tensorflow": tf.__version__, "cases": []}
    pairs = list(_over_known(job) if job.get("beneath") else _alone(job))
    for old, rule, label, beneath in pairs:
        for case in job["cases"]:
            case = {"label": label + case["label"], "old": case["old"], "new": dict(beneath, **case["new"])}
            result["cases"].append(_case(run, old, rule, case))
    old, rule, _, beneath = pairs[0]
    if job["style"] != "get_updates":
        first = job["cases"][0]
        result["sparse"] = _sparse(old, rule, {"old": first["old"], "new": dict(beneath, **first["new"])})
    return result


def _alone(job):
    """(old class, rule, start of labels, hyperparameters of what is beneath): of a class that has its whole update."""
    names = {}
    exec(_IMPORTS + job["rule"], names)
    yield load(job["source"], job["class"]), names[job["class"]], "", {}


#: What classes that change another optimizer are put over: the built-in class, and the rule of that name.
_BENEATH = {
    "SGD": {"learning_rate": 0.0625, "momentum": 0.5},
    "Adam": {"learning_rate": 0.0625, "beta_1": 0.875, "beta_2": 0.96875, "epsilon": 2.0**-20},
}


def _over_known(job):
    """As `_alone`, for a class that changes another optimizer: over each of `_BENEATH`."""
    import tensorflow as tf

    from compat_opt import rules

    beneath = job["beneath"]
    found = load(job["source"], beneath["function"] or job["class"])
    classes = tf.keras.optimizers
    if job["style"] == "optimizer_v2":
        classes = getattr(classes, "legacy", classes)
    for name, settings in _BENEATH.items():
        base, rule = getattr(classes, name), getattr(rules, name)
        if job["style"] == "keras" and not hasattr(base, "update_step"):
            raise ImportError("the optimizers of this release have no update_step")
        names = {beneath["base"]: rule} if beneath["kind"] == "factory" else {}
        exec(_IMPORTS + job["rule"], names)
        made = names[job["class"].split(".")[-1]]
        if beneath["kind"] != "factory":
            made = type(made.__name__, (made, rule), {})
        yield _maker(beneath["kind"], found, base, settings), made, "over %s: " % name, settings


def _maker(kind, found, base, settings):
    """A function that makes the old optimizer over an optimizer of class `base`."""
    if kind == "wrapper":
        return lambda **arguments: found(base(**settings), **arguments)
    over = found(base) if kind == "factory" else type(found.__name__, (found, base), {})
    return lambda **arguments: over(**dict(settings, **arguments))


def load(path, name):
    """The class `name` of the file `path`, imported as the module of its package."""
    folder, module = os.path.dirname(os.path.abspath(path)), os.path.splitext(os.path.basename(path))[0]
    parts = [module]
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, part = os.path.split(folder)
        parts.insert(0, part)
    sys.path.insert(0, folder)
    try:
        return _own(importlib.import_module(".".join(parts)), name)
    except Exception:
        # The package asks for more than the file: the file alone may do.
        spec = importlib.util.spec_from_file_location("old_" + module, path)
        found = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
        return _own(found, name)


def _own(module, name):
    """The class that a module itself defines under `name`."""
    found = getattr(module, name)
    if found.__module__ != module.__name__:
        raise ImportError("%s stands for %s.%s once the file has run" % (name, found.__module__, found.__name__))
    if getattr(found, "__abstractmethods__", None):
        found.__abstractmethods__ = frozenset()  # a get_config that is missing has no part in the update
    return found


def _numbers(shapes, sparse=False):
    """First values, and the gradients of each step."""
    rng = np.random.RandomState(5)
    values = [rng.uniform(-1, 1, shape) for shape in shapes]
    steps = []
    for _ in range(STEPS):
        row = [rng.uniform(-1, 1, shape) for shape in shapes]
        if sparse:
            for gradient in row:
                gradient[rng.permutation(len(gradient))[:3]] = 0.0
        steps.append(row)
    return values, steps


def _case(run, old, rule, case):
    from compat_opt.adapters.reference import run_reference

    values, steps = _numbers([(5,), (4, 3)])
    result = {"label": case["label"]}
    for dtype in ("float64", "float32"):  # some classes mix in float32 numbers of their own
        try:
            theirs = run(old, case["old"], [v.astype(dtype) for v in values], [[g.astype(dtype) for g in s] for s in steps])
        except Exception as error:
            words = "%s: %s" % (type(error).__name__, str(error)[:300])
            if words not in result.get("error", ""):
                result["error"] = "; ".join(filter(None, [result.get("error"), words]))
            continue
        ours = run_reference(rule, values, steps, **case["new"])
        return {"label": case["label"], "dtype": dtype, "difference": _difference(values, theirs, ours)}
    return result


def _difference(values, theirs, ours):
    """The largest distance of any step, as a part of the way the old class moved its variables."""
    largest = 0.0
    for i, first in enumerate(values):
        moved = max(np.max(np.abs(step[i] - first)) for step in theirs)
        apart = max(np.max(np.abs(a[i] - b[i])) for a, b in zip(theirs, ours))
        if not np.isfinite(apart):
            return float("inf")
        largest = max(largest, apart / moved if moved else apart)
    return float(largest)


def _sparse(old, rule, case):
    from compat_opt.adapters.reference import run_reference
    from compat_opt.transforms.lazy_rows import lazy_rows

    values, steps = _numbers([(6, 2)], sparse=True)
    try:
        theirs = _run_apply(old, case["old"], values, steps, sparse=True)
    except Exception as error:
        return {"error": "%s: %s" % (type(error).__name__, str(error)[:300])}
    exact = run_reference(rule, values, steps, **case["new"])
    lazy = run_reference(lazy_rows(rule), values, steps, **case["new"])
    return {"exact": _difference(values, theirs, exact), "lazy": _difference(values, theirs, lazy)}


def _run_apply(old, arguments, values, steps, sparse=False):
    """apply_gradients of OptimizerV2, of Keras 2's and of Keras 3's optimizers."""
    import tensorflow as tf

    optimizer = old(**arguments)
    if "update_step" in dir(optimizer) and not hasattr(optimizer, "_var_key") and not hasattr(optimizer, "_create_slots"):
        import keras

        variables = [keras.Variable(value, dtype=str(value.dtype), name="v%d" % i) for i, value in enumerate(values)]
    else:
        variables = [tf.Variable(value, name="v%d" % i) for i, value in enumerate(values)]
    trajectory = []
    for row in steps:
        gradients = [tf.constant(gradient) for gradient in row]
        if sparse:
            rows = [np.flatnonzero(np.any(g != 0, axis=1)) for g in row]
            gradients = [tf.IndexedSlices(tf.gather(g, r), tf.constant(r), g.shape) for g, r in zip(gradients, rows)]
        optimizer.apply_gradients(list(zip(gradients, variables)))
        trajectory.append([np.array(variable.numpy() if hasattr(variable, "numpy") else variable) for variable in variables])
    return trajectory


def _in_order(optimizer, updates):
    """The updates, with the scalars of the optimizer last: many classes leave open whether they are read before."""
    import tensorflow as tf

    pairs = [part for part in updates if isinstance(part, tuple)]
    others = [part for part in updates if not isinstance(part, tuple)]
    counter = getattr(getattr(optimizer, "iterations", None), "op", None)
    counting = [op for op in counter.graph.get_operations() if _adds_to(op, counter)] if counter is not None else []
    operations = [getattr(part, "op", part) for part in others]
    before = [op for op in operations if op not in counting and not set(op.control_inputs) & set(counting)]
    before += [new.op for _, new in pairs]
    for op in counting:
        op._add_control_inputs(before)
    with tf.control_dependencies(before):
        return others + [tf.compat.v1.assign(variable, new) for variable, new in pairs]


def _adds_to(op, counter):
    return op.type in ("AssignAdd", "AssignAddVariableOp") and op.inputs[0].op in (counter, getattr(counter, "handle", None))


def _run_get_updates(old, arguments, values, steps):
    """get_updates in a graph: the loss is the sum of variable times gradient, so that the gradient is as given."""
    base = next(cls for cls in old.__mro__ if cls.__module__.split(".")[0] in ("keras", "tensorflow", "tensorflow_core"))
    backend = importlib.import_module("keras.backend" if base.__module__.startswith("keras.") else "tensorflow.keras.backend")
    backend.set_floatx(str(values[0].dtype))  # what the class itself makes variables and constants of
    optimizer = old(**arguments)
    variables = [backend.variable(value, dtype=str(value.dtype)) for value in values]
    holders = [backend.placeholder(shape=value.shape, dtype=str(value.dtype)) for value in values]
    loss = sum(backend.sum(variable * holder) for variable, holder in zip(variables, holders))
    updates = _in_order(optimizer, optimizer.get_updates(loss, variables))
    train = backend.function(holders, [loss], updates=updates)
    read = backend.function(holders, [variable + 0.0 for variable in variables])  # get_value of Keras 2.3 is for eager only
    trajectory = []
    for row in steps:
        train(row)
        trajectory.append([np.array(value) for value in read(row)])
    return trajectory


if __name__ == "__main__":
    main(*sys.argv[1:3])
