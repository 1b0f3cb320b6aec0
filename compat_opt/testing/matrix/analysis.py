"""What the finished cells say together: groups, distances, and where groups first differ."""

import collections

from compat_opt.testing.matrix import compare

#: The members of one run's group: letter, rows, and the `Difference` to the first group (None for it).
Group = collections.namedtuple("Group", "letter rows difference")


class Row:
    """One cell with its result.

    Attributes:
        cell, result: as they came.
        traces: {run: {key: array}}, empty without.
        letters: {run: letter of its group}.
        to_reference, to_cells: largest distance of any run, None where there is nothing to compare with.
        curves: {run: distance at each step, to the reference, else to the first cell}.
        reused: whether the result was there already.
    """

    def __init__(self, cell, result, traces=None, reused=False):
        self.cell, self.result, self.reused = cell, result, reused
        self.traces = traces or {}
        self.letters, self.curves = {}, {}
        self.to_reference = self.to_cells = None
        self.baseline = None

    @property
    def label(self):
        """``2.10 tf.keras:optimizer_v2``."""
        return "%s %s" % (self.cell.release.name, self.target)

    @property
    def target(self):
        """The target: the one that ran, where it was open before."""
        return self.result.get("target") or self.cell.target

    @property
    def status(self):
        """``passed``, ``failed``, ..."""
        return self.result["status"]

    @property
    def dtype(self):
        """dtype of its trajectories."""
        return self.result.get("dtype", "float64")

    def laws(self, status):
        """Names of the laws with this status."""
        return [n for n, law in (self.result.get("laws") or {}).items() if law["status"] == status]


class Analysis:
    """Groups and distances of rows.

    Args:
        rows: a list of `Row`, in the order of a table.
        is_rule: whether a rule was tried.
        tolerance: the user's, or None.
    """

    def __init__(self, rows, is_rule, tolerance=None):
        self.rows, self.is_rule, self.given = rows, is_rule, tolerance
        self.groups = collections.OrderedDict()
        for run in compare.GROUPED:
            members = [row for row in rows if run in row.traces]
            if members:
                self.groups[run] = self._group(run, members)
                self._distances(run, members)

    def tolerance(self, *rows):
        """The tolerance for these rows."""
        return compare.tolerance_for(self.is_rule, {row.dtype for row in rows}, self.given)

    def runs(self):
        """The runs that there are groups for."""
        return list(self.groups)

    def differs(self):
        """Whether any run has more than one group."""
        return any(len(groups) > 1 for groups in self.groups.values())

    def companions(self, row):
        """{run: labels of the cells that agree with this one, itself among them}."""
        found = {}
        for run, groups in self.groups.items():
            for group in groups:
                if row in group.rows:
                    found[run] = [member.label for member in group.rows]
        return found

    def _compare(self, run, one, other):
        return compare.difference(one.traces[run], other.traces[run], self.tolerance(one, other))

    def _group(self, run, members):
        def agree(first, row):
            return self._compare(run, first, row).distance <= self.tolerance(first, row)

        # float64 cells first: a group is named after one that shows all digits.
        ordered = sorted(members, key=lambda row: (row.dtype != "float64", self.rows.index(row)))
        found = []
        for number, rows in enumerate(compare.group(ordered, agree)):
            letter = compare.letter(number)
            for row in rows:
                row.letters[run] = letter
            other = self._compare(run, found[0].rows[0], rows[0]) if found else None
            found.append(Group(letter, rows, other))
        return found

    def _distances(self, run, members):
        distinct = collections.OrderedDict()  # many cells have the same bits
        for row in members:
            variables = sorted(item for item in row.traces[run].items() if item[0].startswith("var/"))
            bits = tuple((key, value.dtype.str, value.tobytes()) for key, value in variables)
            distinct.setdefault(hash(bits), []).append(row)
        largest = collections.defaultdict(float)
        alike = list(distinct.values())
        for i, rows in enumerate(alike):
            for others in alike[i + 1 :]:
                distance = self._compare(run, rows[0], others[0]).distance
                for row in rows + others:
                    largest[row] = max(largest[row], distance)
        for row in members:
            if len(members) > 1:
                row.to_cells = max(row.to_cells or 0.0, largest[row])
            reference = row.traces.get("reference." + run)
            if reference is not None:
                found = compare.difference(reference, row.traces[run], self.tolerance(row))
                row.to_reference = max(row.to_reference or 0.0, found.distance)
            elif row is not members[0]:
                found = self._compare(run, members[0], row)
            else:
                continue
            row.curves[run] = found.curve


def describe(difference):
    """A `Difference` in words."""
    if difference.step is None:
        return "largest distance %.3g" % difference.distance
    where = difference.variable
    if difference.index:
        where += "[%s]" % ", ".join(str(i) for i in difference.index)
    text = "first at step %d, variable %s: %s against %s; largest distance %.3g" % (
        difference.step,
        where,
        _number(difference.values[0]),
        _number(difference.values[1]),
        difference.distance,
    )
    if difference.slot:
        text += "; slot %s of %s from step %d" % (difference.slot[2], difference.slot[1], difference.slot[0])
    return text


def _number(value):
    return "%.9g" % value if isinstance(value, float) else str(value)


def spans(rows):
    """Where a group is, by target: ``tf.keras:optimizer_v2 2.0-2.10``; runs of neighbours are spans.

    Args:
        rows: a list of `Row`.
    """
    by_target = collections.OrderedDict()
    for row in rows:
        by_target.setdefault(row.target, []).append(row.cell.release.name)
    return ["%s %s" % (target, _spans_of(names)) for target, names in by_target.items()]


def _spans_of(names):
    from compat_opt.testing.matrix.releases import every, sort_key

    order = [release.name for release in every() if release.name.replace(".", "").isdigit()]
    pieces, run = [], []
    for name in sorted(names, key=sort_key):
        follows = run and name in order and run[-1] in order and order.index(name) == order.index(run[-1]) + 1
        if run and not follows:
            pieces.append(run)
            run = []
        run.append(name)
    pieces.append(run)
    return ", ".join(piece[0] if len(piece) == 1 else "%s-%s" % (piece[0], piece[-1]) for piece in pieces)
