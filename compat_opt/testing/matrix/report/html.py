"""The report: one HTML file that needs no network and no script."""

import datetime
import math
import os

from compat_opt._version import __version__
from compat_opt.testing.matrix.analysis import describe, spans
from compat_opt.testing.matrix.report import cell_details, svg
from compat_opt.testing.matrix.report.parts import breakable, colour, escape, letter_badge, plot
from compat_opt.testing.matrix.report.text import distance, law_counts, step_time
from compat_opt.testing.matrix.run import steps_of


def write(path, run, analysis):
    """Write the report."""
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(page(run, analysis))


def page(run, analysis):
    """The whole page as text."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "report.css"), encoding="utf-8") as stream:
        style = stream.read()
    title = "compat-opt matrix: %s" % run.subject.title
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        "<title>%s</title><style>%s</style></head><body>" % (escape(title), style),
        head(run, analysis),
        table(run.rows, analysis),
        groups(analysis),
        losses(run.rows),
        "<h2>Cells</h2>",
        "".join(cell_details.details(number, row, analysis) for number, row in enumerate(run.rows)),
        explanations(run.rows),
        "</body></html>",
    ]
    return "\n".join(part for part in parts if part)


def head(run, analysis):
    """Title, counts and what was run."""
    counts = {}
    for row in run.rows:
        counts[row.status] = counts.get(row.status, 0) + 1
    chips = "".join(
        '<span class="chip"><b class="%s">%d</b> %s</span>' % (status.split()[0], n, status) for status, n in counts.items()
    )
    settings = run.settings
    for name in analysis.runs():
        count = len(analysis.groups[name])
        text = "all agree" if count == 1 else "%d groups" % count
        chips += '<span class="chip">%s: <b>%s</b></span>' % (escape(name), text)
    facts = "%s, %d steps, seed %d, compat_opt %s, %s" % (
        settings.workload,
        steps_of(settings),
        settings.seed,
        __version__,
        datetime.datetime.now().strftime("%Y-%m-%d %H:%M"),
    )
    note = "" if not run.stopped else "<p><b>The run was interrupted; cells that did not run say so.</b></p>"
    return '<h1>%s</h1><p class="soft">%s: %s</p>%s<div class="chips">%s</div>' % (
        escape(run.subject.title),
        escape(run.subject.text),
        escape(facts),
        note,
        chips,
    )


def table(rows, analysis):
    """The table; columns that a phone has no room for are in the details too."""
    runs = analysis.runs()
    heads = ["TF", "target", "status", "groups", "laws", "to reference", "to cells", "step", "&times; native"]
    classes = ["b", "b", "", "", "n", "n wide", "n", "n wide", "n wide"]
    lines = ["<tr>%s</tr>" % "".join('<th class="%s">%s</th>' % pair for pair in zip(classes, heads))]
    for number, row in enumerate(rows):
        ms, ratio = step_time(row)
        values = [
            breakable(row.cell.release.name),
            '<a href="#cell-%d">%s</a>' % (number, breakable(row.target)),
            '<span class="status %s">%s</span>' % (row.status.split()[0], escape(row.status)),
            " ".join(letter_badge(row, run) for run in runs) or "-",
            law_counts(row),
            distance(row.to_reference),
            distance(row.to_cells),
            ms,
            ratio,
        ]
        lines.append("<tr>%s</tr>" % "".join('<td class="%s">%s</td>' % pair for pair in zip(classes, values)))
    legend = "Groups: %s. Cells with the same letter agree. " % escape(", ".join(runs)) if runs else ""
    legend += "Distances are parts of the way moved; the largest of all steps and runs."
    return '<div class="wrap"><table>%s</table></div><p class="soft">%s</p>' % ("".join(lines), legend)


def groups(analysis):
    """For each run its groups, where they first differ, and the plot."""
    parts = []
    for run, found in analysis.groups.items():
        parts.append("<h2>%s: %s</h2>" % (escape(run), "all cells agree" if len(found) == 1 else "%d groups" % len(found)))
        for each in found:
            text = '<p><span class="g g%d">%s</span> %s</p>' % (colour(each.letter), each.letter, escape("; ".join(spans(each.rows))))
            if each.difference is not None:
                text += '<p class="soft">from A: %s</p>' % escape(describe(each.difference))
            parts.append('<div class="group">%s</div>' % text)
        parts.append(plot(analysis, run, [row for row in analysis.rows if run in row.curves]))
    return "".join(parts)


def losses(rows):
    """The plot of losses, where the workload has some."""
    lines = []
    for row in rows:
        for run, trace in row.traces.items():
            if "loss" in trace and not run.startswith("reference."):
                values = [float(v) for v in trace["loss"].reshape(-1)]
                lines.append(svg.Line(values, colour(row.letters.get(run, "A")), row.label))
    if not lines or not any(math.isfinite(v) for line in lines for v in line.values):
        return ""
    return "<h2>Loss</h2><figure>%s<figcaption>Loss of each batch after its step, coloured by group.</figcaption></figure>" % (
        svg.loss_plot(lines, "loss against step")
    )


def explanations(rows):
    """What each law says; the details link here."""
    found = {}
    for row in rows:
        found.update(row.result.get("explanations") or {})
    used = [name for name in found if any(name in (row.result.get("laws") or {}) for row in rows)]
    if not used:
        return ""
    items = "".join('<dt id="law-%s">%s</dt><dd>%s</dd>' % (escape(n), escape(n), escape(found[n])) for n in used)
    return '<h2>The laws</h2><dl class="explain">%s</dl>' % items
