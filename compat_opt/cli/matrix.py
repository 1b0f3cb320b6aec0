"""Try an optimizer on many TensorFlow releases, and say where it works and where its numbers change.

WHAT is a rule (FILE.py, FILE.py:Rule or compat_opt.rules:Lion), a built-in optimizer
(tf.keras.optimizers:Nadam: that name in every optimizer API of each release), or any optimizer class or
factory (package.module:Name). Each release gets an environment of its own, made by uv and kept for the
next run; each cell is one process. Results are kept too: a second run does only what is new or was not
finished. Interrupt it at any time and run it again.

Exit codes: 0 same: all cells ran, agree and keep their laws; 1 differs: a law is broken, cells fall into
several groups, or with --against a cell differs from its baseline; 2 could not run: a cell is missing,
crashed, was killed or ran out of time, or the arguments are wrong.
"""

import signal
import sys

from compat_opt.cli._terminal import Progress
from compat_opt.errors import CommandError

SUMMARY = "try an optimizer on many TensorFlow releases: where it works, where its numbers change"


def add_arguments(parser):
    """Declare the command's arguments."""
    parser.add_argument("what", metavar="WHAT", help="FILE[:RULE], tf.keras.optimizers:Name or package.module:Name")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--tf", metavar="LIST", help="such as 2.0,2.4,2.10-2.15,2.9.1,latest,keras3-jax,here")
    chosen.add_argument("--all", action="store_true", help="every release of the table, each at its last patch")
    parser.add_argument("--list", action="store_true", help="print the cells and what they need, and run nothing")
    add_common_arguments(parser)
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="cells at a time (default 1)")
    parser.add_argument("--laws", metavar="LIST", help="only these laws or checks; none: no laws")
    parser.add_argument("--no-times", action="store_true", help="leave out the step times")
    parser.add_argument("--record", metavar="DIR", help="write the traces there, as baselines")
    parser.add_argument("--against", metavar="DIR", help="compare with the baselines there")
    parser.add_argument("--html", metavar="FILE", help="write the report: one file that needs no network")
    parser.add_argument("--json", metavar="FILE", help="write the cells as JSON")
    parser.add_argument("--junit", metavar="FILE", help="write the cells as JUnit XML")


def add_common_arguments(parser):
    """The arguments that `matrix` and `bisect` have in common."""
    parser.add_argument("--target", action="append", metavar="NAME", help="only this target, e.g. keras2 or default; may be repeated")
    parser.add_argument("--args", default="", metavar="TEXT", help='constructor arguments: "learning_rate=0.1, centered=True"')
    parser.add_argument("--workload", default="trajectory", metavar="NAME", help="trajectory (default), digits or FILE:function")
    parser.add_argument("--steps", type=int, metavar="N", help="steps (default 10; digits 60)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of values and gradients (default 0)")
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64", help="of the trajectory, where the backend has it")
    parser.add_argument("--tolerance", type=float, metavar="X", help="distances up to this agree, as a part of the way moved")
    parser.add_argument("--with", dest="extra", action="append", default=[], metavar="PACKAGE", help="install this too; may be repeated")
    parser.add_argument("--path", action="append", default=[], metavar="DIR", help="import from there (default: the current folder)")
    parser.add_argument("--timeout", type=float, default=1200, metavar="SECONDS", help="per cell (default 1200)")
    parser.add_argument("--again", action="store_true", help="run cells again that have a result")


def settings_of(arguments, laws=None, time=True):
    """The `Settings` that the arguments ask for."""
    from compat_opt.testing.matrix.run import Settings

    return Settings(
        workload=arguments.workload,
        steps=arguments.steps,
        seed=arguments.seed,
        dtype=arguments.dtype,
        laws=laws,
        time=time,
        jobs=max(1, getattr(arguments, "jobs", 1)),
        timeout=arguments.timeout,
        again=arguments.again,
        extra=tuple(arguments.extra),
        tolerance=arguments.tolerance,
    )


def prepare():
    """Say what is needed before anything is done, and let a polite end act as an interrupt does."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        raise CommandError("The matrix compares trajectories with NumPy, which is not installed.", remedy="pip install 'compat_opt[matrix]'")
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    except ValueError:  # not in the main thread
        pass


def run(arguments):
    """Run the matrix; the exit code is described in this module's docstring."""
    prepare()
    from compat_opt.testing.matrix import run as runs
    from compat_opt.testing.matrix.report import text
    from compat_opt.testing.matrix.subjects import Subject

    clock = text.Clock()
    subject = Subject(arguments.what, arguments.args, arguments.path)
    cells = runs.plan(subject, "all" if arguments.all else arguments.tf, arguments.target)
    if arguments.list:
        for cell in cells:
            print("%-18s %-28s %s" % (cell.release.name, cell.target, " ".join(cell.release.requirements())))
        return 0
    laws = None if arguments.laws is None else [n for n in arguments.laws.split(",") if n != "none"]
    matrix = runs.MatrixRun(subject, cells, settings_of(arguments, laws, not arguments.no_times))
    print("compat-opt matrix %s: %d cells, %d at a time" % (subject.title, len(cells), matrix.settings.jobs), flush=True)
    progress = Progress(sys.stderr)

    def on_row(run, row):
        progress.clear()
        print(text.finished_line(run, row), flush=True)

    matrix.run(on_row, lambda schedule: progress.show(text.progress(schedule)))
    progress.clear()
    return report(arguments, matrix, clock)


def report(arguments, matrix, clock):
    """Print and write what was found; returns the exit code."""
    from compat_opt.testing.matrix import baseline
    from compat_opt.testing.matrix import run as runs
    from compat_opt.testing.matrix.report import exports, text

    analysis = matrix.analysis()
    if arguments.against:
        runs.compare_with_baseline(matrix, arguments.against)
    for part in (text.table(matrix.rows, analysis.runs()), text.groups(analysis), text.problems(matrix.rows)):
        if part:
            print("\n" + part)
    if arguments.against:
        print("\nAgainst %s" % arguments.against)
        for row in matrix.rows:
            if row.baseline:
                print("  %-18s %-28s %-12s %s" % (row.cell.release.name, row.target, row.baseline.status, row.baseline.text))
    settings = matrix.settings
    if arguments.record:
        written = baseline.record(
            arguments.record, matrix.rows, matrix.subject, settings.workload, runs.steps_of(settings), settings.seed
        )
        print("\n%d baselines in %s" % (len(written), arguments.record))
    if arguments.json:
        exports.write(arguments.json, matrix, analysis)
    if arguments.junit:
        exports.write_junit(arguments.junit, matrix, analysis)
    if arguments.html:
        from compat_opt.testing.matrix.report import html

        html.write(arguments.html, matrix, analysis)
    print("\n" + text.summary(matrix, clock.seconds()))
    if matrix.stopped:
        print("It was interrupted; the next run does the rest.")
    return runs.exit_code(matrix, analysis, bool(arguments.against))
