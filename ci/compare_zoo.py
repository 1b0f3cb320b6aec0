"""Runs every algorithm beside the paper's oracle and whatever ships it, and writes docs/algorithms.md.

    python ci/compare_zoo.py oracle            # NumPy only
    python ci/compare_zoo.py native tfa        # in an environment with TensorFlow, tensorflow-addons
    python ci/compare_zoo.py torch optax       # where those are installed
    python ci/compare_zoo.py table             # docs/algorithms.json -> docs/algorithms.md

100 steps on four variables in float64. A run puts its results into docs/algorithms.json, each under the name
and version of what was measured; `table` writes the page from all of them. Rows for torch and optax are those
of tests/rules/test_peers.py. Exits 1 when something that ships an algorithm could not be run.
"""

import argparse
import ast
import inspect
import json
import os
import re
import sys
import textwrap

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tests", "rules"), ROOT]

from compat_opt import rules, transforms  # noqa: E402
from compat_opt.adapters.reference import run_reference  # noqa: E402

RESULTS, PAGE = os.path.join(ROOT, "docs", "algorithms.json"), os.path.join(ROOT, "docs", "algorithms.md")
SHAPES, STEPS = [(), (5,), (4, 3), (3, 5)], 100
#: Below this difference two implementations count as one algorithm: natives keep their hyperparameters in float32.
SAME = 1e-4
RATE = dict(learning_rate=0.05)
DECAYED = dict(RATE, weight_decay=0.1)
ADAM = dict(RATE, epsilon=0.01)

#: rule, our hypers, name and arguments of the native optimizer, our hypers that the OptimizerV2 generation needs.
NATIVE = [
    ("SGD", dict(RATE, momentum=0.8, nesterov=True), "SGD", dict(RATE, momentum=0.8, nesterov=True), {}),
    ("RMSprop", dict(ADAM, momentum=0.7, centered=True), "RMSprop", dict(ADAM, momentum=0.7, centered=True), {}),
    ("Adam", dict(ADAM, amsgrad=True), "Adam", dict(ADAM, amsgrad=True), {}),
    ("Adamax", ADAM, "Adamax", ADAM, {}),
    ("Nadam", ADAM, "Nadam", ADAM, dict(schedule_decay=0.004)),
    ("Adagrad", ADAM, "Adagrad", ADAM, dict(epsilon_outside=True)),
    ("Adadelta", ADAM, "Adadelta", ADAM, {}),
    ("Ftrl", dict(RATE, l1_regularization_strength=0.01), "Ftrl", dict(RATE, l1_regularization_strength=0.01), {}),
    ("AdamW", dict(ADAM, weight_decay=0.1), "AdamW", dict(ADAM, weight_decay=0.1), {}),
    ("Adafactor", RATE, "Adafactor", RATE, {}),
    ("Lion", DECAYED, "Lion", DECAYED, {}),
    ("LAMB", ADAM, "Lamb", ADAM, {}),
    ("Muon", dict(RATE, weight_decay=0.0), "Muon", dict(RATE, weight_decay=0.0, adam_weight_decay=0.0), {}),
    ("ScheduleFreeAdamW", RATE, "ScheduleFreeAdamW", RATE, {}),
]

#: rule, our hypers, name and arguments of the class in tensorflow-addons.
TFA = [
    ("AdaBelief", dict(RATE, epsilon=1e-3), "AdaBelief", dict(RATE, epsilon=1e-3)),
    ("COCOB", {}, "COCOB", {}),
    ("ConditionalGradient", dict(learning_rate=0.9, lambda_=0.5), "ConditionalGradient", dict(learning_rate=0.9, lambda_=0.5)),
    ("LAMB", dict(ADAM, decay_in_ratio=0.1), "LAMB", dict(ADAM, weight_decay=0.1)),
    ("LazyAdam", ADAM, "LazyAdam", ADAM),
    ("NovoGrad", dict(ADAM, beta_2=0.25, decay_in_momentum=0.1), "NovoGrad", dict(ADAM, beta_2=0.25, weight_decay=0.1)),
    ("ProximalAdagrad", dict(RATE, l1_regularization_strength=0.01), "ProximalAdagrad", dict(RATE, l1_regularization_strength=0.01)),
    ("RectifiedAdam", ADAM, "RectifiedAdam", ADAM),
    ("Yogi", ADAM, "Yogi", ADAM),
    ("AdamW", dict(ADAM, weight_decay=0.2), "AdamW", dict(ADAM, weight_decay=0.01)),
    ("SGDW", dict(RATE, momentum=0.8, weight_decay=0.2), "SGDW", dict(RATE, momentum=0.8, weight_decay=0.01)),
]


def problem():
    """(first values, gradients over steps)."""
    generator = np.random.RandomState(0)
    variables = [generator.normal(size=shape) for shape in SHAPES]
    return variables, [[generator.normal(size=shape) for shape in SHAPES] for _ in range(STEPS)]


def difference(found, expected):
    """The largest difference of an element, in parts of its array's largest one, over all steps."""
    worst = 0.0
    for row, other in zip(found, expected):
        for value, wanted in zip(row, other):
            apart = np.max(np.abs(np.asarray(value) - wanted)) / max(np.max(np.abs(wanted)), 1e-30)
            worst = max(worst, float(apart)) if np.isfinite(apart) else float("inf")
    return worst


def ours(name, hypers):
    with np.errstate(all="ignore"):
        return run_reference(getattr(rules, name), *problem(), **hypers)


def against_oracles():
    """{"oracle": {rule: largest difference over its cases}}"""
    from oracle_comparison import load_oracle

    found = {}
    for name in rules.names():
        oracle = load_oracle(name.lower())
        with np.errstate(all="ignore"):
            found[name] = max(
                difference(ours(name, case), oracle.trajectory(*problem(), **case)) for case in oracle.CASES
            )
    return {"oracle": found}


def _tensorflow_trajectory(make, dtype="float64"):
    """Values after each step of the optimizer that make() returns, on variables of this dtype."""
    import tensorflow as tf

    values, rows = problem()
    optimizer = make()
    make_variable = getattr(tf.keras, "Variable", tf.Variable)  # Keras 3's own optimizers ask for a path
    variables = [make_variable(value.astype(dtype), dtype=dtype, name="v%d" % i) for i, value in enumerate(values)]
    found = []
    for row in rows:
        optimizer.apply_gradients([(tf.constant(g, dtype), v) for g, v in zip(row, variables)])
        found.append([np.array(variable) for variable in variables])
    return found


def against_natives():
    """Every native optimizer of this TensorFlow's generations."""
    import tensorflow as tf

    places = {"keras": tf.keras.optimizers, "legacy": getattr(tf.keras.optimizers, "legacy", None)}
    found = {}
    for place, module in places.items():
        results = {}
        for name, hypers, native, arguments, legacy in NATIVE:
            cls = getattr(module, native, None)
            same = place == "legacy" and cls is getattr(tf.keras.optimizers, native, None)
            if cls is None or same or not callable(getattr(cls, "apply_gradients", None)):
                continue
            hypers = dict(hypers, **(legacy if hasattr(cls, "_resource_apply_dense") else {}))
            for dtype in ("float64", "float32"):  # Keras 3's Muon takes float32 only
                made = lambda: _tensorflow_trajectory(lambda: cls(**arguments), dtype)  # noqa: E731, B023
                results[name] = attempt(lambda: difference(made(), ours(name, hypers)))  # noqa: B023
                if not isinstance(results[name], str):
                    break
        if results:
            found["TF %s%s" % (".".join(tf.__version__.split(".")[:2]), " legacy" if place == "legacy" else "")] = results
    return found


def against_tfa():
    """Every optimizer of tensorflow-addons, and its Lookahead."""
    import tensorflow as tf
    import tensorflow_addons as tfa

    results = {}
    for name, hypers, peer, arguments in TFA:
        cls = getattr(tfa.optimizers, peer, None)
        if cls is None:
            continue
        accepted = inspect.signature(cls.__init__).parameters
        renamed = dict(weight_decay="weight_decay_rate") if "weight_decay_rate" in accepted else {}
        if "beta1" in accepted:
            renamed.update(beta_1="beta1", beta_2="beta2")
        arguments = {renamed.get(key, key): value for key, value in arguments.items()}
        results[name] = attempt(lambda: difference(_tensorflow_trajectory(lambda: cls(**arguments)), ours(name, hypers)))
    sgd = getattr(tf.keras.optimizers, "legacy", tf.keras.optimizers).SGD
    with np.errstate(all="ignore"):
        expected = run_reference(transforms.lookahead(rules.SGD), *problem(), learning_rate=0.05, sync_period=5)
    looking = lambda: tfa.optimizers.Lookahead(sgd(0.05), sync_period=5)  # noqa: E731
    results["lookahead(SGD)"] = attempt(lambda: difference(_tensorflow_trajectory(looking), expected))
    return {"TFA %s" % tfa.__version__: results}


def against_torch():
    """The rows of tests/rules/test_peers.py for torch, 100 steps."""
    import test_peers
    import torch

    torch.set_default_dtype(torch.float64)
    values, rows = problem()
    results = {}
    for name, hypers, peer, arguments in test_peers.TORCH:
        parameters = [torch.nn.Parameter(torch.tensor(value)) for value in values]
        optimizer, found = getattr(torch.optim, peer)(parameters, **arguments), []
        for row in rows:
            for parameter, gradient in zip(parameters, row):
                parameter.grad = torch.tensor(gradient)
            optimizer.step()
            found.append([parameter.detach().numpy().copy() for parameter in parameters])
        results[name] = max(results.get(name, 0.0), difference(found, ours(name, hypers)))
    return {"torch %s" % torch.__version__.split("+")[0]: results}


def against_optax():
    """The rows of tests/rules/test_peers.py for optax, 100 steps."""
    import jax
    import optax
    import test_peers

    jax.config.update("jax_enable_x64", True)
    values, rows = problem()
    results = {}
    for name, hypers, peer, arguments, _ in test_peers.OPTAX:
        module, found = optax, []
        for part in peer.split("."):
            module = getattr(module, part)
        optimizer, parameters = module(**arguments), [jax.numpy.asarray(value) for value in values]
        state, update = optimizer.init(parameters), jax.jit(optimizer.update)
        for row in rows:
            updates, state = update([jax.numpy.asarray(g) for g in row], state, parameters)
            parameters = optax.apply_updates(parameters, updates)
            found.append([np.asarray(parameter) for parameter in parameters])
        results[name] = difference(found, ours(name, hypers))
    return {"optax %s" % optax.__version__: results}


def attempt(measure):
    """measure(), or how it failed."""
    try:
        return measure()
    except Exception as error:
        return "%s: %s" % (type(error).__name__, str(error).split("\n")[0][:120])


def lines_of_formula(rule):
    """Lines of prepare, measure and update, without their first lines."""
    count = 0
    for method in ("measure", "prepare", "update"):
        function = getattr(rule, method)
        if "compat_opt.rules" not in function.__module__:
            continue
        source = textwrap.dedent(inspect.getsource(function))
        first = ast.parse(source).body[0].body[0].lineno
        count += len([line for line in source.splitlines()[first - 1 :] if line.strip()])
    return count


def write_table(results):
    kinds = ["oracle", "TF", "TFA", "optax", "torch"]

    def kind_of(source):
        return source.split()[0]

    def by_version(source):
        return [int(part) for part in re.findall("[0-9]+", source)], source

    def cell(name, kind):
        parts = {}
        for source, found in sorted(results.items(), key=lambda pair: by_version(pair[0])):
            if kind_of(source) == kind and name in found:
                value = found[name]
                text = value if isinstance(value, str) else "%.0e" % value if value else "0"
                parts.setdefault(text, []).append(source.partition(" ")[2])
        several = kind in ("TF", "TFA")
        return "<br>".join("%s: %s" % (", ".join(labels), text) if several else text for text, labels in parts.items())

    lines = [
        "# Algorithms",
        "",
        "Written by `ci/compare_zoo.py`; do not edit. Largest difference after %d steps on four variables in float64," % STEPS,
        "in parts of the largest element: from an oracle written from the paper (tests/oracles), from TensorFlow's and Keras's",
        "own optimizers, from tensorflow-addons, optax and torch. Natives keep hyperparameters in float32, hence 1e-7 to 1e-5;",
        "Muon of Keras 3 takes float32 variables only.",
        "What differs, and why, is in each rule's docstring under \"Differs from\"; larger differences are listed below.",
        "",
        "| algorithm | lines | paper's oracle | TF and Keras | TFA | optax | torch |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in rules.names() + ["lookahead(SGD)"]:
        rule = getattr(rules, name, None)
        cells = [cell(name, kind) for kind in kinds]
        lines.append("| %s | %s | %s |" % (name, lines_of_formula(rule) if rule else "", " | ".join(cells)))
    versions = {kind: [s for s in sorted(results, key=by_version) if kind_of(s) == kind and kind != "oracle"] for kind in kinds}
    lines += ["", "Measured: %s." % "; ".join(", ".join(v) for v in versions.values() if v), ""]
    apart = [
        (name, source, value)
        for source, found in sorted(results.items())
        for name, value in sorted(found.items())
        if isinstance(value, str) or value > SAME
    ]
    lines += ["## Larger differences", ""]
    for name, source, value in apart:
        lines.append("- %s, %s: %s. %s" % (name, source, value if isinstance(value, str) else "%.1e" % value, explained(name, source)))
    if not apart:
        lines.append("None.")
    with open(PAGE, "w", encoding="utf-8") as stream:
        stream.write("\n".join(lines) + "\n")


def explained(name, source):
    """What the rule's docstring says about that package."""
    text = inspect.getdoc(getattr(rules, name, rules.SGD))
    text = " ".join(text.partition("Differs from:")[2].partition("Source:")[0].split())
    return "Its docstring: %s" % text


def main():
    sources = dict(
        oracle=against_oracles, native=against_natives, tfa=against_tfa, torch=against_torch, optax=against_optax
    )
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", nargs="+", choices=list(sources) + ["table"])
    results = {}
    if os.path.exists(RESULTS):
        with open(RESULTS, encoding="utf-8") as stream:
            results = json.load(stream)
    failed = False
    for what in parser.parse_args().what:
        if what == "table":
            write_table(results)
            continue
        for source, found in sources[what]().items():
            results[source] = found
            for name, value in sorted(found.items()):
                failed = failed or isinstance(value, str)
                print("%-14s %-20s %s" % (source, name, value if isinstance(value, str) else "%.1e" % value))
    with open(RESULTS, "w", encoding="utf-8") as stream:
        json.dump(results, stream, indent=1, sort_keys=True)
        stream.write("\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
