"""Compiled rules against the native optimizers of this environment.

    python benchmarks/run.py [--only TEXT] [--target KEY] [--steps N] [--json FILE]

Both step in turn in one process; a number is a median over the steps, and a ratio below 1 means
that compat_opt is faster (or needs less memory). A growth is how much longer a step takes on a table
of 400,000 rows than on one of 2,000, compat_opt's beside the native optimizer's. Timings are the
machine's: quote ratios, with their spread.
"""

import argparse
import json
import os
import subprocess
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402

import compat_opt  # noqa: E402
from compat_opt import rules  # noqa: E402
from stepping import fit_epoch, make_step, native_class  # noqa: E402
from workloads import FIT, GROWTH, MEMORY, STEPS, TABLES  # noqa: E402

RATE = 1e-3


def contestants(target, rule, hypers, mode=""):
    """[(label, class, keywords)]: ours, and the native class or ours with plain operations."""
    ours = dict(hypers, learning_rate=RATE)
    if mode.endswith("lazy"):
        ours["sparse"] = "lazy"
    compiled = compat_opt.compile_rule(getattr(rules, rule), target)
    native = native_class(target, rule)
    if native is None:
        return [("compat_opt", compiled, ours), ("plain operations", compiled, dict(ours, jit_compile=False))]
    return [("compat_opt", compiled, ours), ("native", native, dict(hypers, learning_rate=RATE))]


def interleaved(functions, rounds):
    """{label: seconds of each round}; the functions run in turn."""
    times = {label: [] for label in functions}
    for _ in range(rounds):
        for label, function in functions.items():
            start = time.perf_counter()
            function()
            times[label].append(time.perf_counter() - start)
    return times


def compared(times):
    """The record of ours (the first) against the other."""
    (ours, first), (against, second) = times.items()
    ratios = np.array(first) / np.array(second)
    return {
        "against": against,
        "ratio": float(np.median(ratios)),
        "ratio_quartiles": [float(q) for q in np.percentile(ratios, [25, 75])],
        "milliseconds": {label: float(np.median(t)) * 1e3 for label, t in times.items()},
        "rounds": len(first),
    }


def runs_on(target, mode):
    """Whether a backend has steps of this mode."""
    return target.backend == "tensorflow" or mode == "graph" or (target.backend == "torch" and mode == "eager")


def measure_steps(target, workload, steps):
    """Step times, with those of the first step and the graphs' sizes."""
    rule, hypers, shapes, mode = workload
    if not runs_on(target, mode):
        return None
    made = {
        label: make_step(target, cls, given, shapes, mode)
        for label, cls, given in contestants(target, rule, hypers, mode)
    }
    functions = {label: step for label, (step, _, _) in made.items()}
    interleaved(functions, 1)
    record = compared(interleaved(functions, steps))
    record["first_step_seconds"] = {label: made[label][1] for label in made}
    record["nodes"] = {label: made[label][2] for label in made}
    return record


def measure_growth(target, workload, steps):
    """The growth of our step time and of the native's from the small table to the large one."""
    rule, hypers, mode = workload
    if not runs_on(target, mode):
        return None
    functions = {}
    for label, cls, given in contestants(target, rule, hypers, mode):
        for table in TABLES:
            functions[label, table] = make_step(target, cls, given, [table], mode)[0]
    interleaved(functions, 2)
    times = interleaved(functions, steps)
    medians = {key: float(np.median(t)) for key, t in times.items()}
    labels = [label for label, table in functions if table == TABLES[0]]
    growth = {label: medians[label, TABLES[1]] / medians[label, TABLES[0]] for label in labels}
    each = np.array(times[labels[0], TABLES[1]]) / np.array(times[labels[0], TABLES[0]])
    return {
        "against": labels[1],
        "growth": growth,
        "ratio": growth[labels[0]],
        "ratio_quartiles": [float(q) for q in np.percentile(each, [25, 75])],
        "milliseconds": {label: medians[label, TABLES[1]] * 1e3 for label in labels},
        "rounds": steps,
    }


def measure_fit(target, workload, steps):
    """Times of whole epochs of ``fit``."""
    rule, hypers = workload
    functions = {
        label: fit_epoch(target, cls, given) for label, cls, given in contestants(target, rule, hypers)
    }
    interleaved(functions, 1)
    return compared(interleaved(functions, max(5, steps // 2)))


def measure_memory(target, workload, steps):
    """Peak memory above what the process held before, each contestant in a process of its own."""
    rule, hypers, shapes, mode = workload
    if not runs_on(target, mode) or not os.path.exists("/proc/self/clear_refs"):
        return None
    megabytes = {}
    name = [name for name, found in MEMORY.items() if found is workload][0]
    for position, (label, _, _) in enumerate(contestants(target, rule, hypers, mode)):
        command = [sys.executable, os.path.abspath(__file__), "--memory-of", name, str(position)]
        out = subprocess.run(command + ["--target", target.key], stdout=subprocess.PIPE, check=True).stdout
        megabytes[label] = float(out.decode().split()[-1])
    (ours, first), (against, second) = megabytes.items()
    return {
        "against": against,
        "ratio": first / second,
        "ratio_quartiles": [first / second] * 2,
        "megabytes": megabytes,
        "rounds": 1,
    }


def print_memory(target, name, position):
    """Make five steps, and print by how many MB the process grew at its peak."""

    def status(field):
        with open("/proc/self/status") as lines:
            return [int(line.split()[1]) for line in lines if line.startswith(field + ":")][0] / 1024.0

    rule, hypers, shapes, mode = MEMORY[name]
    _, cls, given = contestants(target, rule, hypers, mode)[position]
    make_step(target, cls, given, [shape[:1] + (1,) * (len(shape) - 1) for shape in shapes[:1]], mode)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # from here on the peak counts anew
    before = status("VmRSS")
    step = make_step(target, cls, given, shapes, mode)[0]
    for _ in range(5):
        step()
    print("%.1f" % (status("VmHWM") - before))


MEASURES = ((STEPS, measure_steps), (GROWTH, measure_growth), (FIT, measure_fit), (MEMORY, measure_memory))


def row(name, target, record):
    """One line of the table."""
    other = record["against"]
    of = record.get("megabytes") or record["milliseconds"]
    unit = "MB" if "megabytes" in record else "ms"
    first, nodes = record.get("first_step_seconds"), record.get("nodes") or {other: None}
    notes = [] if other == "native" else ["against %s" % other]
    if "growth" in record:
        notes.append("%s grows by %.1f" % (other, record["growth"][other]))
    return "%-36s %-30s %6.2f %6.2f-%-6.2f %9.2f %9.2f %s %6s %6s  %s" % (
        name, target.key, record["ratio"], record["ratio_quartiles"][0], record["ratio_quartiles"][1],
        of["compat_opt"], of[other], unit,
        "%.2f" % (first["compat_opt"] / first[other]) if first else "-",
        "%.2f" % (nodes["compat_opt"] / nodes[other]) if nodes[other] else "-", "; ".join(notes))  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    parser.add_argument("--target", default="", help="one target, such as keras:keras3")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--json", help="write the records to this file")
    parser.add_argument("--memory-of", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    targets = [target for target in compat_opt.targets() if arguments.target in target.key]
    if arguments.memory_of:
        print_memory(targets[0], arguments.memory_of[0], int(arguments.memory_of[1]))
        return
    if not targets:
        parser.error("no target here is called %r" % arguments.target)
    records = []
    print("%-36s %-30s %6s %13s %9s %9s    %6s %6s" % (
        "workload", "target", "ratio", "quartiles", "ours", "other", "trace", "nodes"))  # fmt: skip
    for target in targets:
        for workloads, measure in MEASURES:
            for name, workload in workloads.items():
                if arguments.only not in name:
                    continue
                record = measure(target, workload, arguments.steps)
                if record is None:
                    continue
                record.update(workload=name, target=target.key, backend=target.backend,
                              tensorflow=target.tensorflow, keras=target.keras)  # fmt: skip
                records.append(record)
                print(row(name, target, record), flush=True)
                if arguments.json:
                    with open(arguments.json, "w") as file:
                        json.dump(records, file, indent=1)


if __name__ == "__main__":
    main()
