"""The grid of moves: from every committed file of every version to every optimizer of an environment.

    python ci/state_grid.py run results.json [CASE ...]        in each environment; CASE such as Adam_amsgrad, default all
    python ci/state_grid.py write docs/state_grid.md results.json ...

For each move `run` notes the slots that came over and those that were expected, and the largest difference of a weight
after five further steps from the trajectory of never having stopped. A file's own rounding is how far that trajectory is,
then, from the same rule in NumPy's float64. `write` makes the page; it exits with 1 where a slot is missing, or where a
difference is larger than 1e-6 and than twice the file's own rounding.
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
the rule or the native class. A cell has the slots moved / expected of all cases, and the largest difference of a weight (their size is 1,
a step's 0.05) after five further steps from the trajectory of never having stopped. `-`: no such class.

`float32` is how far that trajectory itself is from the same rule in float64: what float32 costs the optimizer that wrote
the file. Differences above 1e-6 are that: native Adam of Keras 2 and 3, for one, has beta_2 ** t of a beta_2 that is rounded
to float32, and 1 - beta_2 of one that isn't, 1e-5 apart, where OptimizerV2 and compiled rules have both of the same.
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
                results.append(dict(source, actor=label, rounding=rounding, **move(case, actor)))
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
    from written import provenance_of

    import compat_opt as co
    from compat_opt.state import read_file

    if not case.after:
        return None
    hypers = read_file(case.path, **ASKED.get(case.name, {})).hypers
    hypers = dict({name: value for name, value in hypers.items() if not isinstance(value, dict)}, **case.arguments)
    if "schedule" in case.name:
        hypers["learning_rate"] = lambda step: 0.05 * 0.5 ** (step / 2)
    random = np.random.RandomState(provenance_of(case.path.parent)["seed"])
    first = [random.normal(size=shape).astype("float32") for _, shape in case.variables]
    try:
        trajectory = co.run_reference(getattr(co.rules, case.algorithm), first, case.gradients(from_start=True), **hypers)
    except Exception:  # a hyperparameter that the file spells otherwise
        return None
    return largest(trajectory[-1], case.after[-1])


def largest(values, wanted):
    """The largest difference of two lists of arrays."""
    return max(float(np.max(np.abs(np.asarray(value) - other))) for value, other in zip(values, wanted))


def write_page(path, files):
    """Write the page from results; the exit code."""
    results = [result for file in files for result in json.load(open(file))]
    columns = list(collections.OrderedDict((r["actor"], None) for r in results if "actor" in r))
    rows = sorted({source(r) for r in results if "actor" in r}, key=lambda row: (version(row[0]),) + row)
    names = ", ".join(sorted({r["case"] for r in results}))
    lines = [HEAD % names, "| from | float32 | " + " | ".join(columns) + " |", "|---" * (len(columns) + 2) + "|"]
    for row in rows:
        here = [r for r in results if source(r) == row and "actor" in r]
        own = [r["rounding"] for r in here if r["rounding"] is not None]
        cells = [cell([r for r in here if r["actor"] == column]) for column in columns]
        lines.append("| %s | %s | %s |" % (" ".join(row), short(max(own)) if own else "", " | ".join(cells)))
    refused = collections.OrderedDict()
    for result in results:
        if "refused" in result:
            refused.setdefault(result["refused"], {})["%s %s %s %s" % (source(result) + (result["case"],))] = None
    lines += ["", "Files that are refused, as the state is not in them, or can't be continued:", ""]
    lines += ["- \"%s\": %s" % (why, ", ".join(which)) for why, which in refused.items()]
    bad = [r for r in results if "actor" in r and not is_right(r)]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    moves = [r for r in results if "actor" in r]
    exact = sum(r["largest"] is not None and r["largest"] <= LIMIT for r in moves)
    print("%d moves, %d of them within %g, %d more within twice the file's own rounding" % (len(moves), exact, LIMIT, len(moves) - exact - len(bad)))
    for result in bad:
        print("not explained: %s" % result)
    return 1 if bad else 0


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
    allowed = max(LIMIT, 2 * (result["rounding"] or 0))
    return result["moved"] == result["expected"] and (result["largest"] is None or result["largest"] <= allowed)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("run", "write"):
        sys.exit(__doc__)
    sys.exit((run if sys.argv[1] == "run" else write_page)(sys.argv[2], sys.argv[3:]))
