"""A run of the matrix: cells in, rows and an exit code out."""

import collections
import os

from compat_opt.errors import CommandError
from compat_opt.testing.matrix import baseline, cache, compare, process, releases
from compat_opt.testing.matrix.analysis import Analysis, Row
from compat_opt.testing.matrix.environments import Environments, Missing
from compat_opt.testing.matrix.plan import make_cells
from compat_opt.testing.matrix.processes import Processes
from compat_opt.testing.matrix.releases import HERE
from compat_opt.testing.matrix.schedule import Schedule

#: Statuses of cells that ran to their end.
RAN = ("passed", "failed")

SAME, DIFFERS, COULD_NOT_RUN = 0, 1, 2

#: What a run does: see `compat-opt matrix --help` for each.
Settings = collections.namedtuple(
    "Settings", "workload steps seed dtype laws time jobs timeout again extra tolerance"
)
Settings.__new__.__defaults__ = ("trajectory", None, 0, "float64", None, True, 1, 1200, False, (), None)


def steps_of(settings):
    """Steps of a run: 10 of a trajectory, 60 batches of digits."""
    return settings.steps or (60 if settings.workload == "digits" else 10)


class MatrixRun:
    """One subject in several cells.

    Args:
        subject: a `Subject`.
        cells: a list of `Cell`.
        settings: a `Settings`.
    """

    def __init__(self, subject, cells, settings=Settings()):
        self.subject, self.cells, self.settings = subject, list(cells), settings
        self.results = cache.Results(settings.again)
        self.processes = Processes()
        tools = ["scikit-learn"] if settings.workload == "digits" else []
        self.environments = Environments(self.processes, settings.extra, tools)
        self.package = cache.package_copy()
        rule_source, other_source = cache.source_digests()
        needs_all = subject.is_rule or settings.workload != "trajectory"
        self.source = [subject.source, rule_source if needs_all else other_source]
        self.workload_source = workload_source(settings.workload)
        self.rows = []
        self.stopped = False

    def run(self, on_row=None, on_tick=None):
        """Run what has no result yet; returns the rows, in the order of the cells.

        Args:
            on_row: called with this run and each `Row` as it is there.
            on_tick: called with the `Schedule` about twice a second.
        """
        if any(cell.release.name != HERE for cell in self.cells):
            self.environments.start()
        if self.settings.workload == "digits":
            _need_images_here(self.cells)
        schedule = Schedule(self.cells, self.environments.ensure, self._cell, self.settings.jobs, Missing)

        def on_finish(cell, result):
            row = self._row(cell, result)
            self.rows.append(row)
            if on_row:
                on_row(self, row)

        self.schedule = schedule
        schedule.run(on_finish, on_tick, stop=self.processes.stop_all)
        self.stopped = schedule.stopping
        done = {row.cell: row for row in self.rows}
        for cell in self.cells:
            if cell not in done:
                done[cell] = Row(cell, {"status": "not run", "message": "the run was stopped"})
        self.rows = [done[cell] for cell in self.cells]
        return self.rows

    def analysis(self):
        """The `Analysis` of the rows."""
        return Analysis(self.rows, self.subject.is_rule, self.settings.tolerance)

    def key(self, cell, environment, whole=False):
        """The key of a cell's result, or of the one with all laws and times, which serves too."""
        job = dict(self.job(cell), laws=None, time=True) if whole else self.job(cell)
        # Sources are in the key by content; where they lie has no part in a result.
        subject = {name: value for name, value in job["subject"].items() if name not in ("path", "paths")}
        job.update(subject=subject, workload=os.path.basename(job["workload"]))
        return cache.digest(self.source, self.workload_source, environment.key, job, cell.release.environ)

    def _part(self, result):
        """The part of a result that was asked for: fewer laws may be kept where fewer are looked at."""
        wanted = self.settings.laws
        if wanted is None or result["status"] not in RAN:
            return result
        laws = {name: law for name, law in result["laws"].items() if name in wanted}
        broken = [name for name, law in laws.items() if law["status"] == "broken"]
        message = "broken: %s" % ", ".join(broken) if broken else ""
        return dict(result, laws=laws, status="failed" if broken else "passed", message=message)

    def job(self, cell):
        """What the worker is told."""
        settings = self.settings
        return {
            "subject": dict(self.subject.job(), is_rule=self.subject.is_rule),
            "target": cell.target,
            "workload": located(settings.workload),
            "dtype": settings.dtype,
            "steps": steps_of(settings),
            "seed": settings.seed,
            "laws": settings.laws,
            "time": settings.time,
            "tolerances": {
                dtype: compare.tolerance_for(self.subject.is_rule, {dtype}, settings.tolerance)
                for dtype in ("float64", "float32")
            },
        }

    def _cell(self, cell, environment):
        key, whole = self.key(cell, environment), self.key(cell, environment, whole=True)
        for candidate in (key, whole):
            found = self.results.find(candidate)
            if found is not None:
                return dict(self._part(found), reused=True, key=candidate)
        result, work = process.run_cell(
            cell, self.job(cell), environment, self.package, self.processes, self.settings.timeout
        )
        try:
            if result["status"] != "not run":
                result["installed"] = environment.installed
                self.results.keep(key, result, work)
        finally:
            process.remove(work)
        return dict(result, key=key)

    def _row(self, cell, result):
        traces = {}
        if "key" in result and result["status"] in RAN:
            path = self.results.path(result["key"], "traces.npz")
            if os.path.exists(path):
                traces = compare.load_traces(path)
        return Row(cell, result, traces, result.pop("reused", False))


def workload_source(workload):
    """The hash of a user's workload and of what it imports; "" for the matrix's own."""
    if workload in ("trajectory", "digits"):
        return ""
    from compat_opt.testing.matrix.subjects import source_closure

    path, colon, name = workload.rpartition(":")
    if not (colon and name.isidentifier() and os.path.isfile(path)):
        raise CommandError("There is no such workload.", "trajectory, digits or FILE:function", workload)
    return cache.digest_files(source_closure(os.path.abspath(path), [os.path.dirname(os.path.abspath(path))]))


def located(workload):
    """A workload with the absolute path of its file."""
    return workload if workload in ("trajectory", "digits") else os.path.abspath(workload)


def _need_images_here(cells):
    if any(cell.release.name == HERE for cell in cells):
        try:
            import sklearn  # noqa: F401
        except ImportError:
            raise CommandError("The workload digits needs scikit-learn.", remedy="pip install scikit-learn")


def plan(subject, selection, wanted_targets=None):
    """The cells of a subject for ``--tf`` (None: the default, "all": ``--all``) and ``--target``."""
    chosen = releases.every() if selection == "all" else releases.select(selection or releases.DEFAULT_SELECTION)
    return make_cells(chosen, wanted_targets, subject.has_targets)


def compare_with_baseline(run, folder):
    """Give each row its verdict."""
    settings = run.settings
    for row in run.rows:
        if row.status != "absent":
            row.baseline = baseline.against(
                folder,
                row,
                run.subject.is_rule,
                settings.tolerance,
                settings.workload,
                steps_of(settings),
                settings.seed,
            )


def exit_code(run, analysis, with_baseline=False):
    """0 same, 1 differs, 2 could not run; a difference outranks a cell that could not run.

    Without a baseline: 1 where a law or check is broken or where cells fall into several groups.
    With one: 1 where a cell differs from it, 2 where a cell could not be compared.
    """
    ran = [row for row in run.rows if row.status in RAN]
    failed = [row for row in run.rows if row.status not in RAN + ("absent",)]
    if with_baseline:
        verdicts = [row.baseline.status for row in run.rows if row.baseline]
        if "differs" in verdicts:
            return DIFFERS
        return COULD_NOT_RUN if failed or not verdicts or "not compared" in verdicts else SAME
    if any(row.status == "failed" for row in ran) or analysis.differs():
        return DIFFERS
    return COULD_NOT_RUN if failed or not ran else SAME
