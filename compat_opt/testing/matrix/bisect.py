"""The release where an optimizer's numbers change, found by halving."""

import collections

from compat_opt.errors import CommandError
from compat_opt.testing.matrix import compare, releases
from compat_opt.testing.matrix.plan import OWN, detection, make_cells
from compat_opt.testing.matrix.releases import HERE

#: first: the first release with the other numbers; last: the last one with the first ones (rows);
#: between: names of releases between the two that could not be tried; tried: rows in the order tried.
Found = collections.namedtuple("Found", "first last between tried run difference")


class Unusable(Exception):
    """An end of the search could not be tried."""


def candidates(good, bad):
    """The releases from `good` to `bad`, patch releases too, in this order; may go backwards.

    Args:
        good, bad: names such as "2.10", "2.9.1" or "latest".

    Raises:
        CommandError: an end is no TensorFlow release, or both are the same.
    """
    ends = [releases.find(good), releases.find(bad)]
    for name, end in zip((good, bad), ends):
        if end.tensorflow is None or "-" in end.minor or end.name == HERE:
            raise CommandError("An end of the search is a TensorFlow release.", "such as 2.10 or 2.9.1", name)
    keys = [releases.version_key(end.tensorflow) for end in ends]
    if keys[0] == keys[1]:
        raise CommandError("Both ends of the search are one release.", received="--good %s --bad %s" % (good, bad))
    pool = [r for r in releases.numbered() if min(keys) <= releases.version_key(r.tensorflow) <= max(keys)]
    return pool if keys[0] < keys[1] else pool[::-1]


def cell_for(release, target, has_targets):
    """The cell of a release: of the target asked for, else of the default one; None without it."""
    try:
        cells = make_cells([release], [target or "default"], has_targets)
    except CommandError:
        return None
    return cells[0]


def search(pool, is_like_good):
    """Halve a list whose first item is good and whose last is bad.

    Args:
        pool: the list.
        is_like_good: function of an index: True, False, or None where it could not be tried.

    Returns:
        (index of the last good one, index of the first bad one); those between could not be tried.

    Raises:
        Unusable: an end could not be tried, or both ends are alike.
    """
    known = {}

    def ask(index):
        if index not in known:
            known[index] = is_like_good(index)
        return known[index]

    low, high = 0, len(pool) - 1
    if ask(low) is not True:
        raise Unusable("good")
    if ask(high) is None:
        raise Unusable("bad")
    if ask(high):
        raise Unusable("same")
    untried = set()
    while True:
        inside = [i for i in range(low + 1, high) if i not in untried]
        if not inside:
            return low, high
        # The middle first; where it can't be tried, its nearest neighbour.
        middle = min(inside, key=lambda i: (abs(2 * i - low - high), i))
        answer = ask(middle)
        if answer is None:
            untried.add(middle)
        elif answer:
            low = middle
        else:
            high = middle


class Bisection:
    """Bisects one subject.

    Args:
        make_run: function of a list of cells that gives a `MatrixRun`.
        subject: the `Subject`.
        target: a name out of `make_cells`, or None for each release's default.
        law: search where this law or check stops being kept, not where the numbers change.
        runs: only these runs, or None for all.
        tolerance: the user's, or None.
        on_row: called with each `Row`.
    """

    def __init__(self, make_run, subject, target=None, law=None, runs=None, tolerance=None, on_row=None):
        self.make_run, self.subject, self.target = make_run, subject, target
        self.law, self.runs, self.tolerance, self.on_row = law, runs, tolerance, on_row
        self.rows = {}
        self.tried = []

    def find(self, good, bad):
        """Search; returns a `Found`.

        Raises:
            Unusable: an end could not be tried, or both ends agree ("same"); `rows` has them.
        """
        self.pool = pool = candidates(good, bad)
        low, high = search(pool, self._is_like_good)
        between = [release.name for release in pool[low + 1 : high]]
        first, last = self.rows[high], self.rows[low]
        run, difference = (None, None) if self.law else self._first_difference(last, first)
        return Found(first, last, between, self.tried, run, difference)

    def row(self, index):
        """The row of a release, run if it is not there; None where it has no such target."""
        if index not in self.rows:
            cell = cell_for(self.pool[index], self.target, self.subject.has_targets)
            self.rows[index] = None
            if cell is not None:
                run = self.make_run([cell])
                self.rows[index] = run.run()[0]
                if run.stopped:
                    raise KeyboardInterrupt
                self.tried.append(self.rows[index])
        return self.rows[index]

    def _is_like_good(self, index):
        row = self.row(index)
        answer = self._judge(row)
        if self.on_row and row is not None:
            self.on_row(row, answer)
        return answer

    def _judge(self, row):
        if row is None or not row.traces:
            return None
        if self.law:
            law = (row.result.get("laws") or {}).get(self.law)
            return None if law is None or law["status"] == "not applicable" else law["status"] == "kept"
        return self._first_difference(self.rows[0], row)[1] is None

    def _first_difference(self, one, other):
        """(run, `Difference`) of the first run that differs; (None, None) where all agree."""
        for run in self.runs or compare.GROUPED:
            if run in one.traces and run in other.traces:
                limit = compare.tolerance_for(self.subject.is_rule, {one.dtype, other.dtype}, self.tolerance)
                found = compare.difference(one.traces[run], other.traces[run], limit)
                if found.step is not None:
                    return run, found
        return None, None


def traces_side_by_side(last, first, run, difference, steps=6):
    """The values of the first differing element in both, step by step, as lines."""
    key = "var/" + difference.variable
    one, other = last.traces[run].get(key), first.traces[run].get(key)
    if one is None or other is None or one.shape != other.shape:
        return ["the two have different variables"]
    lines = ["%6s  %24s  %24s  %10s" % ("step", last.cell.release.tensorflow, first.cell.release.tensorflow, "distance")]
    until = min(len(one), max(difference.step + 2, steps + 1))
    for step in range(until):
        at = (step,) + difference.index
        mark = "  <- first difference" if step == difference.step else ""
        lines.append("%6d  %24.12g  %24.12g  %10.3g%s" % (step, one[at], other[at], difference.curve[step], mark))
    return lines


def why_missing(release, target):
    """Why a release has no cell for a target."""
    offered = ", ".join(t.key for t in detection(release).targets)
    return "%s has no target %s; it has %s" % (release.name, target, offered or "none")


__all__ = ["OWN", "Bisection", "Found", "Unusable", "candidates", "cell_for", "search", "traces_side_by_side", "why_missing"]
