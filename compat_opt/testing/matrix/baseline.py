"""Baselines: traces written down, and compared with later."""

import collections
import datetime
import json
import os

from compat_opt._version import __version__
from compat_opt.testing.matrix import compare

#: What a cell's comparison found. status: "same", "differs" or "not compared"; text says it in words.
Verdict = collections.namedtuple("Verdict", "status text")


def file_name(row):
    """``2.10-tf.keras-optimizer_v2.npz``."""
    return "%s-%s.npz" % (row.cell.release.name, row.target.replace(":", "-"))


def record(folder, rows, subject, workload, steps, seed):
    """Write one NumPy file for each row with traces; returns their paths.

    Each file holds the arrays of `trajectory.record` as ``run/key``, and ``provenance``: JSON with
    the versions, dtype, seed, date, subject and its arguments.
    """
    import numpy as np

    os.makedirs(folder, exist_ok=True)
    written = []
    for row in rows:
        if not row.traces:
            continue
        provenance = {
            "compat_opt": __version__,
            "date": datetime.datetime.now().strftime("%Y-%m-%d %H:%M:%S"),
            "subject": subject.text,
            "args": subject.args,
            "source": subject.source,
            "tf": row.cell.release.name,
            "target": row.target,
            "dtype": row.dtype,
            "workload": workload,
            "steps": steps,
            "seed": seed,
            "environment": row.result.get("environment"),
        }
        arrays = {"%s/%s" % (r, k): v for r, trace in row.traces.items() for k, v in trace.items()}
        arrays["provenance"] = np.array(json.dumps(provenance, sort_keys=True))
        path = os.path.join(folder, file_name(row))
        with open(path + ".partial", "wb") as stream:
            np.savez_compressed(stream, **arrays)
        os.replace(path + ".partial", path)
        written.append(path)
    return written


def provenance(path):
    """The provenance of a baseline file."""
    import numpy as np

    with np.load(path, allow_pickle=False) as data:
        return json.loads(str(data["provenance"]))


def against(folder, row, is_rule, tolerance=None, workload=None, steps=None, seed=None):
    """The `Verdict` on one row: its runs against those of the baseline.

    Args:
        folder: what `record` wrote.
        row: a `Row`.
        is_rule, tolerance: as for `compare.tolerance_for`.
        workload, steps, seed: what was run now; a baseline of another problem is not compared with.
    """
    path = os.path.join(folder, file_name(row))
    if not row.traces:
        return Verdict("not compared", "no trajectory: %s" % (row.result.get("message") or row.status))
    if not os.path.exists(path):
        return Verdict("not compared", "%s has no %s" % (folder, os.path.basename(path)))
    written = provenance(path)
    for name, value in (("workload", workload), ("steps", steps), ("seed", seed)):
        if value is not None and written[name] != value:
            text = "the baseline is of %s %s, not %s" % (name, written[name], value)
            return Verdict("not compared", text)
    before = compare.load_traces(path)
    limit = compare.tolerance_for(is_rule, {row.dtype, written["dtype"]}, tolerance)
    largest, compared = 0.0, 0
    for run in sorted(set(before) & set(row.traces)):
        found = compare.difference(before[run], row.traces[run], limit)
        compared += 1
        largest = max(largest, found.distance)
        if found.step is not None:
            from compat_opt.testing.matrix.analysis import describe

            return Verdict("differs", "run %s: %s (baseline of %s)" % (run, describe(found), written["date"]))
    if not compared:
        return Verdict("not compared", "the baseline has none of these runs")
    return Verdict("same", "largest distance %.3g (baseline of %s)" % (largest, written["date"]))
