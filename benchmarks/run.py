"""Compiled rules against the native optimizers of this environment.

    python benchmarks/run.py [--only TEXT] [--target KEY] [--steps N] [--json FILE]

Both step in turn in one process; a number is a median over the steps, and a ratio below 1 means
that compat_opt is faster. Timings are the machine's: quote ratios, with their spread.
"""

import argparse
import json
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402

import compat_opt  # noqa: E402
from compat_opt import rules  # noqa: E402
from workloads import WORKLOADS, gradients  # noqa: E402


def native_class(target, name):
    """The native optimizer class of a target, or None where it has none of that name."""
    if target.namespace == "keras":
        import keras

        place = keras.optimizers
    elif target.namespace.startswith("tf_keras"):
        import tf_keras

        place = tf_keras.optimizers
    else:
        import tensorflow as tf

        place = tf.keras.optimizers
    for part in target.namespace.replace("tf.keras", "tf_keras").split(".")[1:]:
        place = getattr(place, part)
    return getattr(place, name, None)


def tensorflow_step(optimizer_class, hypers, shapes, mode):
    """(function that makes one step, seconds until the first step is done, nodes or None)."""
    import tensorflow as tf

    variables = [tf.Variable(tf.random.normal(shape), name="v%d" % i) for i, shape in enumerate(shapes)]
    given = []
    for gradient, shape in zip(gradients(shapes, mode), shapes):
        if mode.startswith("sparse"):
            gradient = tf.IndexedSlices(
                tf.constant(gradient[1]), tf.constant(gradient[0]), tf.constant(shape)
            )
        else:
            gradient = tf.constant(gradient)
        given.append(gradient)
    optimizer = optimizer_class(**hypers)
    if hasattr(optimizer, "build"):
        optimizer.build(variables)

    def step():
        optimizer.apply_gradients(list(zip(given, variables)))

    if mode != "eager":
        step = tf.function(step)
    start = time.perf_counter()
    step()
    first = time.perf_counter() - start
    nodes = None
    if mode != "eager" and hasattr(step, "get_concrete_function"):
        nodes = len(step.get_concrete_function().graph.get_operations())
    return step, first, nodes


def keras_step(optimizer_class, hypers, shapes, mode):
    """The same for the JAX and torch backends; JAX steps are jitted."""
    import keras

    random = np.random.RandomState(0)
    variables = [keras.Variable(random.normal(size=shape).astype("float32")) for shape in shapes]
    given = [keras.ops.convert_to_tensor(g) for g in gradients(shapes, mode)]
    optimizer = optimizer_class(**hypers)
    optimizer.build(variables)
    if keras.backend.backend() == "torch":
        import torch

        def step():
            with torch.no_grad():
                optimizer.apply(given, variables)

    else:
        import jax

        apply = jax.jit(optimizer.stateless_apply, donate_argnums=(0, 2))
        state = [[v.value + 0 for v in optimizer.variables], [v.value + 0 for v in variables]]

        def step():
            values, own = apply(state[0], given, state[1])
            jax.block_until_ready(values)
            state[:] = own, values

    start = time.perf_counter()
    step()
    return step, time.perf_counter() - start, None


def measure(target, name, steps):
    """The record of one workload on one target, or None where the target has no native."""
    rule, hypers, shapes, mode = WORKLOADS[name]
    sparse_or_eager = mode != "graph"
    if target.backend != "tensorflow" and sparse_or_eager and not (target.backend == "torch" and mode == "eager"):
        return None
    native = native_class(target, rule)
    against = "native"
    ours = dict(hypers, learning_rate=1e-3)
    if mode.endswith("lazy"):
        ours["sparse"] = "lazy"
    make = tensorflow_step if target.backend == "tensorflow" else keras_step
    compiled = compat_opt.compile_rule(getattr(rules, rule), target)
    pairs = [("compat_opt", compiled, ours)]
    if native is None:
        against = "plain operations"
        pairs.append((against, compiled, dict(ours, jit_compile=False)))
    else:
        pairs.append((against, native, dict(hypers, learning_rate=1e-3)))
    made = {label: make(cls, given, shapes, mode) for label, cls, given in pairs}
    times = {label: [] for label in made}
    for label, (step, _, _) in made.items():
        step()
    for _ in range(steps):
        for label, (step, _, _) in made.items():
            start = time.perf_counter()
            step()
            times[label].append(time.perf_counter() - start)
    ratios = np.array(times["compat_opt"]) / np.array(times[against])
    return {
        "workload": name,
        "target": target.key,
        "backend": target.backend,
        "tensorflow": target.tensorflow,
        "keras": target.keras,
        "against": against,
        "ratio": float(np.median(times["compat_opt"]) / np.median(times[against])),
        "ratio_quartiles": [float(q) for q in np.percentile(ratios, [25, 75])],
        "milliseconds": {label: float(np.median(t)) * 1e3 for label, t in times.items()},
        "first_step_seconds": {label: made[label][1] for label in made},
        "nodes": {label: made[label][2] for label in made},
        "steps": steps,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    parser.add_argument("--target", default="", help="one target, such as keras:keras3")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--json", help="write the records to this file")
    arguments = parser.parse_args()
    records = []
    print("%-36s %-30s %6s %13s %9s %9s %6s %6s" % (
        "workload", "target", "ratio", "quartiles", "ms", "other ms", "trace", "nodes"))  # fmt: skip
    for target in compat_opt.targets():
        if arguments.target not in target.key:
            continue
        for name in WORKLOADS:
            if arguments.only not in name:
                continue
            record = measure(target, name, arguments.steps)
            if record is None:
                continue
            records.append(record)
            other = record["against"]
            first, nodes = record["first_step_seconds"], record["nodes"]
            print("%-36s %-30s %6.2f %6.2f-%-6.2f %9.2f %9.2f %6.2f %6s%s" % (
                name, target.key, record["ratio"], record["ratio_quartiles"][0], record["ratio_quartiles"][1],
                record["milliseconds"]["compat_opt"], record["milliseconds"][other],
                first["compat_opt"] / first[other],
                "%.2f" % (nodes["compat_opt"] / nodes[other]) if nodes[other] else "-",
                "" if other == "native" else "  (against %s)" % other), flush=True)  # fmt: skip
            if arguments.json:
                with open(arguments.json, "w") as file:
                    json.dump(records, file, indent=1)


if __name__ == "__main__":
    main()
