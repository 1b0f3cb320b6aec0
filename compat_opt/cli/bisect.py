"""Find the TensorFlow release where an optimizer's numbers change, patch releases included.

WHAT is as for `compat-opt matrix`. The releases between --good and --bad are halved, by number, not by
date; --bad may be the older one. Without --target, each release's default optimizer API is tried (what
tf.keras.Model.compile takes), so that a change of the API is found too. A release that can't be tried
is passed over and named. Every result is kept: bisecting again, or a matrix over the same releases, does
not run them again.

Exit codes: 1 the change was found, 0 both ends are the same, 2 an end could not be tried.
"""

import sys

from compat_opt.cli._terminal import Progress
from compat_opt.cli.matrix import add_common_arguments, prepare, settings_of

SUMMARY = "find the TensorFlow release where an optimizer's numbers change"


def add_arguments(parser):
    """Declare the command's arguments."""
    parser.add_argument("what", metavar="WHAT", help="FILE[:RULE], tf.keras.optimizers:Name or package.module:Name")
    parser.add_argument("--good", required=True, metavar="TF", help="a release with the numbers you know")
    parser.add_argument("--bad", required=True, metavar="TF", help="a release with other numbers")
    parser.add_argument("--run", action="append", metavar="NAME", help="compare only this run: dense, sparse, training")
    parser.add_argument("--law", metavar="NAME", help="search where this law or check stops being kept")
    add_common_arguments(parser)


def run(arguments):
    """Bisect; the exit code is described in this module's docstring."""
    prepare()
    from compat_opt.errors import CommandError
    from compat_opt.testing.matrix import bisect
    from compat_opt.testing.matrix.report.text import Clock, clock
    from compat_opt.testing.matrix.run import MatrixRun
    from compat_opt.testing.matrix.subjects import Subject

    if arguments.target and len(arguments.target) > 1:
        raise CommandError("A search has one target.", "one --target", ", ".join(arguments.target))
    target = arguments.target[0] if arguments.target else None
    started, progress = Clock(), Progress(sys.stderr)
    subject = Subject(arguments.what, arguments.args, arguments.path)
    settings = settings_of(arguments, [arguments.law] if arguments.law else [], time=False)
    pool = bisect.candidates(arguments.good, arguments.bad)
    print("compat-opt bisect %s: %d releases from %s to %s" % (subject.title, len(pool), pool[0].name, pool[-1].name), flush=True)

    def on_row(row, answer):
        progress.clear()
        what = {True: "like %s" % pool[0].tensorflow, False: "differs", None: "passed over"}[answer]
        if arguments.law and answer is not None:
            what = "kept" if answer else "broken"
        note = _reason(row) if answer is None else ""
        print("  %-10s %-28s %-14s %s%s" % (row.cell.release.tensorflow, row.target, what, _took(row), "  " + note[:160] if note else ""), flush=True)

    search = bisect.Bisection(
        lambda cells: _Showing(MatrixRun(subject, cells, settings), progress),
        subject,
        target,
        arguments.law,
        arguments.run,
        arguments.tolerance,
        on_row,
    )
    try:
        found = search.find(arguments.good, arguments.bad)
    except bisect.Unusable as error:
        return _unusable(str(error), search, target, bisect)
    except KeyboardInterrupt:
        print("It was interrupted; the next run goes on where it was.")
        return 2
    print("\n".join(_lines(arguments, found, bisect)))
    print("\n%d releases tried of %d; %s" % (len(found.tried), len(pool), clock(started.seconds())))
    return 1


class _Showing:
    """A `MatrixRun` whose progress is shown."""

    def __init__(self, matrix, progress):
        self.matrix, self.progress = matrix, progress
        self.stopped = False

    def run(self):
        from compat_opt.testing.matrix.report import text

        rows = self.matrix.run(on_tick=lambda schedule: self.progress.show(text.progress(schedule)))
        self.stopped = self.matrix.stopped
        return rows


def _took(row):
    return "kept from an earlier run" if row.reused else "%.0f s" % row.result["seconds"] if "seconds" in row.result else ""


def _reason(row):
    return (row.result.get("message", "").strip().splitlines() or [""])[0]


def _unusable(which, search, target, bisect):
    if which == "same":
        what = "the law is kept" if search.law else "the numbers are the same"
        print("\nNothing changes: at both ends %s." % what)
        return 0
    index = 0 if which == "good" else len(search.pool) - 1
    row, release = search.rows.get(index), search.pool[index]
    if row is None:
        why = bisect.why_missing(release, target or "default")
    elif search.law and row.traces:
        why = "the law %s is not kept there, or does not apply" % search.law
    else:
        why = "%s: %s" % (row.status, _reason(row))
    print("\nThe %s end, %s, can't be used: %s" % (which, release.tensorflow, why))
    return 2


def _lines(arguments, found, bisect):
    from compat_opt.testing.matrix.analysis import describe

    first, last = found.first, found.last
    lines = ["", "The first release that differs is TensorFlow %s (%s)." % (first.cell.release.tensorflow, first.target)]
    lines.append("The last one before it is %s (%s)." % (last.cell.release.tensorflow, last.target))
    if found.between:
        lines.append("Between the two, these could not be tried: %s." % ", ".join(found.between))
    if arguments.law:
        law = first.result["laws"][arguments.law]
        explanation = (first.result.get("explanations") or {}).get(arguments.law, "")
        return lines + ["Law %s: %s" % (arguments.law, explanation), "Broken there: %s" % law["detail"]]
    lines.append("Run %s, %s." % (found.run, describe(found.difference)))
    return lines + [""] + bisect.traces_side_by_side(last, first, found.run, found.difference)
