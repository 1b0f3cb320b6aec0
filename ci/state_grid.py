"""Print the grid of moves: from every committed file of a case to every optimizer of this environment.

    python ci/state_grid.py [CASE]        such as Adam, RMSprop_centered, compiled_Nadam; default Adam

A cell has the slots that came over and those that were expected, and the largest difference of a weight after five
further steps from the trajectory of never having stopped; `refused` where the state is not in the file.
"""

import os
import sys
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
TESTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests")
sys.path[:0] = [TESTS, os.path.join(TESTS, "state"), os.path.join(TESTS, "state_files")]

import numpy as np  # noqa: E402
from actors import actors  # noqa: E402
from test_files_go_on import arguments_of, takes  # noqa: E402
from test_files_read import ASKED  # noqa: E402
from written import cases  # noqa: E402

from compat_opt.errors import StateError  # noqa: E402
from compat_opt.state import read_file, write  # noqa: E402


def main(name):
    """Print a row for each file, a column for each optimizer."""
    warnings.simplefilter("ignore")
    chosen = [case for case in cases() if case.name == name]
    columns = actors(chosen[0].algorithm)
    print("%-50s" % ("%s, from" % name) + "".join("%-26s" % actor for actor in columns))
    for case in chosen:
        print("%-50s" % case + "".join("%-26s" % move(case, actor) for actor in columns), flush=True)


def move(case, actor):
    """One cell."""
    if not takes(actor, case):
        return "-"
    try:
        record = read_file(case.path, **ASKED.get(case.name, {}))
    except StateError:
        return "refused"
    arguments = arguments_of(case, actor)
    if not actor.native and "epsilon_outside" in record.hypers:
        arguments["epsilon_outside"] = record.hypers["epsilon_outside"]
    variables = actor.variables(case.weights, [path for path, _ in case.variables])
    optimizer = actor.make(**arguments)
    report = write(optimizer, record, variables)
    moved = [l for l in report.lines if l.kind in ("moved", "renamed", "converted") and " of " in l.what]
    slots = sum(not l.what.startswith(("average", "accumulator", "calls")) for l in moved)
    values = [actor.run(optimizer, variables, [row]) for row in case.gradients()][-1]
    largest = max(float(np.max(np.abs(value - wanted))) for value, wanted in zip(values, case.after[-1]))
    return "%d/%d %.1e" % (slots, len(case.slots()), largest)


if __name__ == "__main__":
    main((sys.argv[1:] or ["Adam"])[0])
