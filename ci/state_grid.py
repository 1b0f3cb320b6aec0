"""The grid of moves: from every committed file of every version to every optimizer of an environment.

    python ci/state_grid.py run results.json [CASE ...]        in each environment; CASE such as Adam_amsgrad, default all
    python ci/state_grid.py write docs/state_grid.md results.json ...

For each move `run` notes the slots that came over and those that were expected, and the largest difference of a weight
after five further steps from the trajectory of never having stopped. Rounding is how far the same steps from the first one
on take an optimizer from the same rule in NumPy's float64: the optimizer that wrote the file, or the one that took the
state, with what rounding its hyperparameters to float32 in the middle costs. `write` makes the page; it exits with 1 where a slot is missing, or where a difference is larger than 1e-6 and
than twice the larger of both roundings.
"""

import collections
import json
import os
import sys
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
TESTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests")
sys.path[:0] = [os.path.dirname(TESTS), TESTS, os.path.join(TESTS, "state"), os.path.join(TESTS, "state_files")]

import numpy as np  # noqa: E402

LIMIT = 1e-6
HEAD = """# Moves of optimizer state

Written by ci/state_grid.py. Rows are files in tests/state/files, by the TensorFlow that wrote them, namespace and format;
in checkpoints there can be all of the cases of ci/state_files_here.py (each built-in optimizer, its options, compiled rules),
in other formats Adam and a compiled Adam. On this page: %s. Columns are optimizers that the state moved into, compiled from
the rule or the native class. A cell has the slots moved / expected of all cases, and the largest difference of a weight after
five further steps from the trajectory of never having stopped: absolute, or relative to weights above 1; a step's size is 0.05.
`-`: no such class.

`float32` is how far that trajectory itself is from the same rule in float64: what float32 costs the optimizer that wrote
the file. Differences above 1e-6 are that: native Adam of Keras 2 and 3, for one, has beta_2 ** t of a beta_2 that is rounded
to float32, and 1 - beta_2 of one that isn't, 1e-5 apart, where OptimizerV2 and compiled rules have both of the same. A state
that a compiled rule wrote goes on in a native class, and on JAX, with what float32 hyperparameters cost from there on: %s.
"""


def run(path, names):
    """Move the state of each file into each optimizer here, and write a list of results."""
    from actors import actors
    from test_files_go_on import refusal, takes
    from written import cases

    import compat_opt as co

    warnings.simplefilter("ignore")
    results = []
    chosen = [case for case in cases() if not names or case.name in names]
    for number, case in enumerate(chosen):
        if number % 20 == 0:
            print("%d of %d files, %d moves" % (number, len(chosen), len(results)), flush=True)
        source = {"cell": case.cell, "namespace": case.namespace, "format": case.format, "case": case.name}
        if refusal(case) is not None:
            results.append(dict(source, refused=refusal(case)))
            continue
        rounding = rounding_of(case)
        for actor in actors(case.algorithm):
            if takes(actor, case):
                label = "%s %s" % (environment(co, actor.target), actor)
                moved = move(case, actor)
                if keeps_float32(actor) and (moved["largest"] or 0) > LIMIT:
                    moved["own"] = own_rounding(case, actor)
                results.append(dict(source, actor=label, rounding=rounding, **moved))
    with open(path, "w") as file:
        json.dump(results, file)


def environment(co, target):
    """What a column is called, before the actor."""
    if target.backend != "tensorflow":
        return "Keras %s, %s:" % (target.keras, target.backend)
    import tensorflow as tf

    return "TF %s:" % tf.__version__


def move(case, actor):
    """{"moved", "expected", "largest"} of one move; `largest` is None where the file's steps were not noted."""
    from test_files_go_on import arguments_of
    from test_files_read import ASKED

    from compat_opt.state import read_file, write

    record = read_file(case.path, optimizer=case.optimizer, **ASKED.get(case.name, {}))
    arguments = arguments_of(case, actor)
    if not actor.native and "epsilon_outside" in record.hypers:
        arguments["epsilon_outside"] = record.hypers["epsilon_outside"]
    variables = actor.variables(case.weights, [path for path, _ in case.variables])
    optimizer = actor.make(**arguments)
    report = write(optimizer, record, variables, hypers=bool(case.after))
    moved = [l.what for l in report.lines if l.kind in ("moved", "renamed", "converted") and " of " in l.what]
    slots = sum(not what.startswith(("average", "accumulator", "calls")) for what in moved)
    values = [actor.run(optimizer, variables, [row]) for row in case.gradients()]
    return {"moved": slots, "expected": len(case.slots()), "largest": largest(values[-1], case.after[-1]) if values else None}


def rounding_of(case):
    """How far the file's own trajectory is from the rule in float64, or None where nothing tells."""
    from test_files_read import ASKED

    from compat_opt.state import read_file

    if not case.after:
        return None
    hypers = read_file(case.path, **ASKED.get(case.name, {})).hypers
    hypers = dict({name: value for name, value in hypers.items() if not isinstance(value, dict)}, **case.arguments)
    values = exact_values(case, hypers)
    return None if values is None else largest(values, case.after[-1])


def keeps_float32(actor):
    """Whether hyperparameters and step scalars are float32: in native classes, and on JAX."""
    return actor.native or actor.target.backend == "jax"


def own_rounding(case, actor):
    """What float32 costs the optimizer that takes the state, or None where nothing tells.

    The larger of two: how far it is after the same steps from the first one on from the rule in float64; and how far the
    rule in float64 comes apart from itself where hyperparameters are rounded to float32 from the move on.
    """
    import compat_opt as co
    from test_files_go_on import arguments_of
    from written import provenance_of

    exact = exact_values(case, case.arguments)
    if exact is None:
        return None
    variables = actor.variables(first_values(case), [path for path, _ in case.variables])
    apart = largest(actor.run(actor.make(**arguments_of(case, actor)), variables, case.gradients(from_start=True)), exact)
    steps = provenance_of(case.path.parent)["steps"]
    hypers = dict(case.arguments)
    for name, declared in getattr(co.rules, case.algorithm).hypers().items():
        value = case.arguments.get(name, declared.default)
        if not declared.static and isinstance(value, float):
            hypers[name] = lambda step, value=value: value if step < steps else float(np.float32(value))
    found = [apart, largest(exact_values(case, hypers), exact)]
    return max([each for each in found if each <= 1e-5] or [0])  # more is another formula, no rounding


def exact_values(case, hypers):
    """The rule's float64 values after all steps, or None for a hyperparameter that the rule spells otherwise."""
    import compat_opt as co

    if "schedule" in case.name:
        hypers = dict(hypers, learning_rate=lambda step: 0.05 * 0.5 ** (step / 2))
    try:
        return co.run_reference(getattr(co.rules, case.algorithm), first_values(case), case.gradients(from_start=True), **hypers)[-1]
    except Exception:
        return None


def first_values(case):
    """The values from which ci/state_files_here.py trained."""
    from written import provenance_of

    random = np.random.RandomState(provenance_of(case.path.parent)["seed"])
    return [random.normal(size=shape).astype("float32") for _, shape in case.variables]


def largest(values, wanted):
    """The largest difference of two lists of arrays, relative to numbers above 1."""
    pairs = [(np.asarray(value, "float64"), np.asarray(other, "float64")) for value, other in zip(values, wanted)]
    return max(float(np.max(np.abs(value - other) / np.maximum(np.abs(other), 1))) for value, other in pairs)


def write_page(path, files):
    """Write the page from results; the exit code."""
    results = [result for file in files for result in json.load(open(file))]
    names = ", ".join(sorted({r["case"] for r in results}))
    costs = {r["actor"]: short(r["own"]) for r in sorted(results, key=lambda r: r.get("own") or 0) if r.get("own")}
    own = ", ".join("%s %s" % item for item in sorted(costs.items())) or "nowhere more than 1e-06"
    lines = [HEAD % (names, own)]
    actors = collections.OrderedDict((r["actor"], None) for r in results if "actor" in r)
    for place in collections.OrderedDict((actor.partition(": ")[0], None) for actor in actors):
        lines += ["## Into %s" % place, ""]
        lines += table([r for r in results if r.get("actor", "").startswith(place + ": ")]) + [""]
    refused = collections.OrderedDict()
    for result in results:
        if "refused" in result:
            refused.setdefault(result["refused"], {})["%s %s %s %s" % (source(result) + (result["case"],))] = None
    lines += ["## Refused", "", "The state is not in these files, or can't be continued:", ""]
    lines += ["- \"%s\": %s" % (why, ", ".join(which)) for why, which in refused.items()]
    bad = [r for r in results if "actor" in r and not is_right(r)]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    moves = [r for r in results if "actor" in r]
    exact = sum(r["largest"] is not None and r["largest"] <= LIMIT for r in moves)
    unknown = sum(r["largest"] is None for r in moves)
    print(
        "%d moves: %d within %g, %d more within twice the rounding of either optimizer, %d of files whose further steps are not known"
        % (len(moves), exact, LIMIT, len(moves) - exact - unknown - len(bad), unknown)
    )
    for result in bad:
        print("not explained: %s" % result)
    return 1 if bad else 0


def table(results):
    """The lines of one environment's table."""
    columns = list(collections.OrderedDict((r["actor"], None) for r in results))
    names = [column.partition(": ")[2] for column in columns]
    lines = ["| from | float32 | " + " | ".join(names) + " |", "|---" * (len(columns) + 2) + "|"]
    for row in sorted({source(r) for r in results}, key=lambda row: (version(row[0]),) + row):
        here = [r for r in results if source(r) == row]
        own = [r["rounding"] for r in here if r["rounding"] is not None]
        cells = [cell([r for r in here if r["actor"] == column]) for column in columns]
        lines.append("| %s | %s | %s |" % (" ".join(row), short(max(own)) if own else "", " | ".join(cells)))
    return lines


def source(result):
    """What a row is called."""
    return result["cell"], result["namespace"], result["format"]


def version(cell):
    """TensorFlow's version, for sorting."""
    return [int(part) for part in cell[2:].split(".")]


def cell(results):
    """The text of a cell."""
    if not results:
        return "-"
    known = [r["largest"] for r in results if r["largest"] is not None]
    text = "%d/%d" % tuple(sum(r[key] for r in results) for key in ("moved", "expected"))
    return text + (", %s" % short(max(known)) if known else "")


def short(number):
    """One digit of a number, and none of 0."""
    return "%.0e" % number if number else "0"


def is_right(result):
    """Whether every slot came over, and the difference is none but rounding."""
    allowed = max([LIMIT] + [2 * (result.get(each) or 0) for each in ("rounding", "own")])
    return result["moved"] == result["expected"] and (result["largest"] is None or result["largest"] <= allowed)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("run", "write"):
        sys.exit(__doc__)
    sys.exit((run if sys.argv[1] == "run" else write_page)(sys.argv[2], sys.argv[3:]))
