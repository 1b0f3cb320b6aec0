"""The table and the lines that appear while cells finish."""

import time

from compat_opt.testing.matrix.analysis import describe, spans

HEAD = ("tf", "target", "status", "laws", "to reference", "to cells", "groups", "step", "x native", "took")


def distance(value):
    """A distance for a table."""
    return "-" if value is None else "0" if value == 0 else "%.1e" % value


def law_counts(row):
    """``18/19``: kept of those that apply."""
    kept, broken = len(row.laws("kept")), len(row.laws("broken"))
    return "%d/%d" % (kept, kept + broken) if kept + broken else "-"


def step_time(row):
    """(milliseconds, ratio to the native optimizer) as text."""
    times = row.result.get("times") or {}
    ms, ratio = times.get("step_ms"), times.get("ratio")
    return "-" if ms is None else "%.2f ms" % ms, "-" if ratio is None else "%.2f" % ratio


def letters(row, runs):
    """``A B``: the groups of a row, a dot where a run has none of it."""
    return " ".join(row.letters.get(run, ".") for run in runs) or "-"


def cells_of(row, runs):
    """One line of the table as strings."""
    ms, ratio = step_time(row)
    took = "kept" if row.reused else "%.0f s" % row.result["seconds"] if "seconds" in row.result else "-"
    return (
        row.cell.release.name,
        row.target,
        row.status,
        law_counts(row),
        distance(row.to_reference),
        distance(row.to_cells),
        letters(row, runs),
        ms,
        ratio,
        took,
    )


def table(rows, runs, head=HEAD):
    """The whole table."""
    lines = [head] + [cells_of(row, runs) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
    return "\n".join([text[0], "  ".join("-" * width for width in widths)] + text[1:])


def finished_line(run, row):
    """What is printed when one cell is there."""
    done, total = len(run.rows), len(run.cells)
    left = run.schedule.seconds_left()
    what = {"passed": "", "failed": row.result.get("message", "")}.get(row.status, row.result.get("message", ""))
    ms, ratio = step_time(row)
    took = "kept from an earlier run" if row.reused else "%.0f s" % row.result["seconds"] if "seconds" in row.result else ""
    parts = [law_counts(row) if row.status in ("passed", "failed") else "", ms if ms != "-" else "", took]
    left = "" if left is None or done == total else ", %s left" % clock(left)
    return "[%*d/%d%s] %-18s %-28s %-8s %s%s" % (
        len(str(total)),
        done,
        total,
        left,
        row.cell.release.name,
        row.target,
        row.status,
        "  ".join(part for part in parts if part),
        "  " + what[:160] if what else "",
    )


def progress(schedule):
    """The line that says what runs now and how long it may still take."""
    running = ", ".join("%s (%d s)" % item for item in schedule.running())
    left = schedule.seconds_left()
    text = "%d of %d done; " % (len(schedule.results), len(schedule.cells))
    return text + ("" if left is None else "about %s left; " % clock(left)) + running


def clock(seconds):
    """``3:05``."""
    return "%d:%02d" % divmod(int(round(seconds)), 60)


def groups(analysis):
    """Which cells agree, and where the others first differ from the first group."""
    lines = []
    for run, found in analysis.groups.items():
        count = len(found)
        lines.append("%s: %s" % (run, "all cells agree" if count == 1 else "%d groups" % count))
        for each in found:
            lines.append("  %-2s %s" % (each.letter, "; ".join(spans(each.rows))))
            if each.difference is not None:
                lines.append("     from A: %s" % describe(each.difference))
    return "\n".join(lines)


def problems(rows):
    """Broken laws and cells that did not run, with the same text once."""
    lines = []
    for row in rows:
        if row.status not in ("passed", "failed"):
            lines.append(("%s: %s" % (row.status, _first_line(row.result.get("message", ""))), row))
        for law in row.laws("broken"):
            lines.append(("broken %s: %s" % (law, _first_line(row.result["laws"][law]["detail"])), row))
    found = {}
    for text, row in lines:
        found.setdefault(text, []).append(row)
    return "\n".join("%s\n    in %s" % (text, "; ".join(spans(where))) for text, where in found.items())


def _first_line(text):
    return (text.strip().splitlines() or [""])[0][:300]


def summary(run, seconds):
    """The last line."""
    counts = {}
    for row in run.rows:
        counts[row.status] = counts.get(row.status, 0) + 1
    kept = sum(row.reused for row in run.rows)
    text = ", ".join("%d %s" % (count, status) for status, count in counts.items())
    return "%d cells: %s; %d kept from earlier runs; %s" % (len(run.rows), text, kept, clock(seconds))


class Clock:
    """Seconds since it was made."""

    def __init__(self):
        self.started = time.time()

    def seconds(self):
        """Seconds so far."""
        return time.time() - self.started
