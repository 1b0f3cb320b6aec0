"""What run_matrix.py prints: a line as each cell ends, and the table at the end."""

import collections
from pathlib import Path

COLUMNS = ("cell", "status", "python", "TF", "Keras", "targets", "laws", "passed", "failed", "skipped", "seconds")


def progress_line(result, results, left, jobs):
    """One line for the cell that ended; `left` holds the rows that wait and, with `ran` seconds, those that run."""
    counts = ", ".join(f"{result[name]} {name}" for name in ("passed", "failed", "skipped") if name in result)
    line = f"[{len(results)}/{len(results) + len(left)}] {result['cell']}: {result['status']}"
    line += f" ({counts or result['why']}), {result['seconds']} s"
    if left:
        minutes = max(1, round(seconds_left(results, left, jobs) / 60))
        line += f"; {len(left)} left, about {minutes} min"
    return line


def seconds_left(results, left, jobs):
    """As if a cell took what the ended cells of its suite took on average, or of any suite where none has ended."""
    total = 0.0
    for row in left:
        same = [r["seconds"] for r in results.values() if r["suite"] == row["suite"]]
        known = same or [r["seconds"] for r in results.values()]
        total += max(0.0, sum(known) / len(known) - row.get("ran", 0))
    return total / jobs


def print_report(summary):
    """The table of cells, the reasons of skips, what failed, and the totals."""
    cells = summary["cells"]
    print()
    print_columns([COLUMNS] + [table_line(cell) for cell in cells])
    print_skips(cells)
    for cell in cells:
        if cell["status"] not in ("passed", "not run"):
            print_failure(cell)
    print_totals(summary)


def table_line(cell):
    keras = cell.get("keras", "-")
    if cell.get("tf_keras", "-") != "-":
        keras += " + tf_keras " + cell["tf_keras"]
    targets = cell.get("targets")
    counts = [cell.get(name, "-") for name in ("laws_passed", "passed", "failed", "skipped", "seconds")]
    found = [cell.get("python", "-"), cell.get("tensorflow", "-"), keras, "-" if targets is None else len(targets)]
    return [cell["cell"], cell["status"]] + found + counts


def print_columns(lines):
    lines = [[str(value) for value in line] for line in lines]
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    for line in lines:
        print("  ".join(value.ljust(width) for value, width in zip(line, widths)).rstrip())


def print_skips(cells):
    by_reason = collections.defaultdict(list)
    for cell in cells:
        for skip in cell.get("skips", ()):
            by_reason[skip["reason"]].append((cell["cell"], skip["count"]))
    if by_reason:
        print("\nskipped:")
    for reason, where in sorted(by_reason.items()):
        names = ", ".join(f"{name} ({count})" for name, count in where)
        if len(where) == len(cells) > 1 and len({count for _, count in where}) == 1:
            names = f"every cell ({where[0][1]})"
        print(f"  {reason or 'no reason given'}: {names}")


def print_failure(cell, longest=20):
    print(f"\n{cell['cell']} {cell['status']}: {cell['why']}; log: {cell['log']}")
    failures = cell.get("failures")
    if not failures:
        failures = Path(cell["log"]).read_text(errors="replace").splitlines()[-longest:]
    for line in failures[:longest]:
        print(f"  {line}")
    if len(failures) > longest:
        print(f"  and {len(failures) - longest} more")


def print_totals(summary):
    cells = summary["cells"]
    statuses = collections.Counter(cell["status"] for cell in cells)
    total = {name: sum(cell.get(name, 0) for cell in cells) for name in ("laws_passed", "passed", "failed", "skipped")}
    print(
        f"\n{len(cells)} cells: " + ", ".join(f"{count} {status}" for status, count in sorted(statuses.items())) + "."
        f" Tests: {total['passed']} passed ({total['laws_passed']} laws), {total['failed']} failed,"
        f" {total['skipped']} skipped. {summary['seconds'] / 60:.1f} minutes."
    )
