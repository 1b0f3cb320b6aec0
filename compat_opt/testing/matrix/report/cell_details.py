"""The part of the report about one cell, folded until it is opened."""

from compat_opt.testing.matrix.report.parts import escape, letter_badge, plot
from compat_opt.testing.matrix.report.text import distance, law_counts, step_time


def details(number, row, analysis):
    """The cell's laws, numbers, environment, and its log where it did not run."""
    badges = " ".join(letter_badge(row, run) for run in analysis.runs()) if row.letters else ""
    summary = '<b>%s</b> %s <span class="status %s">%s</span> %s' % (
        escape(row.cell.release.name),
        escape(row.target),
        row.status.split()[0],
        escape(row.status),
        badges,
    )
    parts = [message(row), pairs(facts(row)), laws(row)]
    own = [run for run in analysis.runs() if run in row.curves]
    if own and len(analysis.groups[own[0]]) > 1:
        parts.append(plot(analysis, own[0], [row]))
    parts.append(pairs(environment(row)))
    for name in ("traceback", "log"):
        if row.result.get(name) and row.status not in ("passed", "failed"):
            parts.append("<pre>%s</pre>" % escape(row.result[name][-2500:]))
    return '<details id="cell-%d"><summary>%s</summary><div>%s</div></details>' % (number, summary, "".join(parts))


def message(row):
    """What went wrong, and what the baseline says."""
    text = row.result.get("message", "")
    found = "<p>%s</p>" % escape(text) if text and row.status != "failed" else ""
    if row.baseline:
        found += '<p>Baseline: <b class="%s">%s</b>, %s</p>' % (
            row.baseline.status.split()[0],
            escape(row.baseline.status),
            escape(row.baseline.text),
        )
    return found


def facts(row):
    """Numbers of the cell."""
    ms, ratio = step_time(row)
    times = row.result.get("times") or {}
    found = [("laws kept", law_counts(row)), ("to reference", distance(row.to_reference)), ("to cells", distance(row.to_cells))]
    if ms != "-":
        native = " (native %.2f ms, ratio %s)" % (times["native_ms"], ratio) if "native_ms" in times else ""
        found.append(("step", ms + native))
    if times.get("problem"):
        found.append(("step", times["problem"]))
    for name, value in (row.result.get("metrics") or {}).items():
        found.append((name, "%.4g" % value))
    for name, why in (row.result.get("left_out") or {}).items():
        found.append(("run " + name, "left out: " + why))
    if row.result.get("dtype"):
        found.append(("dtype", row.result["dtype"]))
    if "seconds" in row.result:
        found.append(("took", "%.1f s%s" % (row.result["seconds"], ", kept from an earlier run" if row.reused else "")))
    return found


def laws(row):
    """The laws of the cell, broken ones first, each with a link to what it says."""
    order = {"broken": 0, "kept": 1}
    found = sorted((row.result.get("laws") or {}).items(), key=lambda item: order.get(item[1]["status"], 2))
    lines = []
    for name, law in found:
        text = '<a href="#law-%s">%s</a> <span class="%s">%s</span>' % (
            escape(name),
            escape(name),
            law["status"].split()[0],
            escape(law["status"]),
        )
        if law.get("detail"):
            text += ': <span class="soft">%s</span>' % escape(law["detail"][:600])
        lines.append("<li>%s</li>" % text)
    return '<ul class="laws">%s</ul>' % "".join(lines) if lines else ""


def environment(row):
    """The environment record of the cell."""
    found = [(name, value) for name, value in (row.result.get("environment") or {}).items() if value]
    if row.result.get("installed"):
        found.append(("installed", ", ".join(row.result["installed"])))
    return found


def pairs(items):
    """A list of names and values."""
    return '<dl class="pairs">%s</dl>' % "".join(
        "<dt>%s</dt><dd>%s</dd>" % (escape(name), escape(value)) for name, value in items
    )
