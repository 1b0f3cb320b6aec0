"""From a record to the entries of an optimizer or a file: the values, and a report of each piece."""

from compat_opt.errors import StateError
from compat_opt.state import conversions
from compat_opt.state.natives.entry import rule_named
from compat_opt.state.pairing import pair, remedy_for
from compat_opt.state.reading import is_of_group, table_for
from compat_opt.state.record import Variable
from compat_opt.state.report import Report

#: The largest relative difference of two hyperparameters that counts as rounding to float32.
_ROUNDING = 1e-6


class Filling:
    """What `fill` returns.

    Attributes:
        values: for each entry of the skeleton an array, which may be the record's own, or None where the first value stays.
        hypers: {native name: number} that differ from what the skeleton's config has.
        report: the `Report`.
    """

    def __init__(self, values, hypers, report):
        self.values = values
        self.hypers = hypers
        self.report = report


def fill(skeleton, record, renames=None, strict=True, hypers=True, first_value=None, target="", pairing=None):
    """Find the value of each entry of a skeleton.

    Args:
        skeleton: a `RawState` whose entries need no values; where they have some, shapes and
            dtypes are compared with them. Its `variables` have paths and shapes.
        record: the `StateRecord`.
        renames: as for `pairing.pair`.
        strict: raise where a piece of the record has no place.
        hypers: whether hyperparameters are compared and moved too.
        first_value: a function of the position of a variable that returns its present value as an
            array, or None: moving averages that the record lacks start there.
        target: names the optimizer or file in messages.
        pairing: the `Pairing`, where it is known.

    Returns:
        A `Filling`.

    Raises:
        StateError: another algorithm, another shape, an ambiguous variable; a piece without place,
            if `strict`.
    """
    report = Report(target)
    native = table_for(skeleton)
    check_algorithm(record, native.rule_class(), strict, report)
    ours = [Variable(str(v[0]), v[1], v[2]) for v in skeleton.variables]
    pairing = pairing or pair(record.variables, ours, renames)
    filler = _Filler(skeleton, record, native, ours, pairing, report, first_value)
    to_set = filler.compare_hypers() if hypers else {}
    filler.compare_options()
    filler.compare_formulas()
    values = [filler.value(entry, to_set) for entry in skeleton.entries]
    filler.leftovers()
    report.refuse(strict, remedy_for(pairing, record.variables, ours))
    return Filling(values, to_set, report)


def check_algorithm(record, rule, strict, report):
    """Refuse the state of an algorithm of which neither is a variation of the other."""
    if record.algorithm == rule.__name__:
        return
    try:
        other = rule_named(record.algorithm)
    except StateError:
        other = None
    related = other is not None and (issubclass(other, rule) or issubclass(rule, other))
    if related:
        report.add("differs", "algorithm", "%s in the record, %s here: the same slots" % (record.algorithm, rule.__name__))
        return
    if strict:
        raise StateError(
            "The state is that of another algorithm.",
            rule.__name__,
            "a record of %s" % record.algorithm,
            "strict=False moves the slots that have the same names.",
            report.target,
        )
    report.add("differs", "algorithm", "%s in the record, %s here" % (record.algorithm, rule.__name__))


class _Filler:
    """One call of `fill`."""

    def __init__(self, skeleton, record, native, ours, pairing, report, first_value):
        self.skeleton = skeleton
        self.record = record
        self.native = native
        self.ours = ours
        self.pairing = pairing
        self.report = report
        self.first_value = first_value
        self.config = skeleton.config
        self.present = dict(native.hypers_of(self.config))
        self.present.update({name: value for name, value in self.config.items() if is_of_group(name)})
        self.taken = set()

    # Hyperparameters

    def compare_hypers(self):
        """{native name: number} to set; lines for everything that differs."""
        native_name = {own: name for name, own in self.native.hypers.items()}
        implied = self.native.implied(self.config)
        declared = self.native.rule_class().hypers()
        settable = {}
        for name, wanted in self.record.hypers.items():
            have = self.present.get(name, self.config.get(name) if name == "decay" else None)
            if _same(wanted, have):
                continue
            if name in declared:
                fixed = declared[name].static
            else:
                fixed = have is None or self.skeleton.compiled and not is_of_group(name)
            number = isinstance(wanted, (int, float)) and not isinstance(wanted, bool)
            if name in implied:
                if not _close(wanted, implied[name]):
                    self.report.add("differs", name, "%r in the record; the class stands for %r" % (wanted, implied[name]))
            elif isinstance(wanted, dict) and isinstance(have, dict):
                self.report.add("kept", name, "it follows the optimizer's own schedule")
            elif isinstance(wanted, dict) or isinstance(have, dict) or have is None or not number or fixed:
                if not _close(wanted, have):  # OptimizerV2 has 0.1 in float32
                    self._refuse_hyper(name, wanted, have)
            else:
                settable[native_name.get(name, name)] = float(wanted)
                self.present[name] = float(wanted)
                if not _close(wanted, have):
                    self.report.add("set", name, "%r, it was %r" % (wanted, have))
        return settable

    def _refuse_hyper(self, name, wanted, have):
        if isinstance(wanted, dict):
            wanted = "the schedule %s" % wanted.get("class_name")
        if isinstance(have, dict):
            have = "the schedule %s" % have.get("class_name")
        detail = "%s in the record, %s here; give it to the constructor, or pass hypers=False" % (wanted, have)
        same_algorithm = self.record.algorithm == self.native.rule_class().__name__
        self.report.add("kept", name, detail, refused=same_algorithm)

    def compare_options(self):
        """Lines for options that are on in the record and otherwise here."""
        for name, theirs in self.record.options.items():
            have = self.config.get(name)
            if name not in ("sparse", "check_numerics") and not _same(theirs, have):
                self.report.add("kept", name, "%r, the record has %r" % (have, theirs))

    def compare_formulas(self):
        """A line where the same state is not continued in the same way."""
        backend = self.skeleton.provenance.get("backend")
        theirs, ours = self.record.provenance.get("formula", ""), self.native.formula(backend)
        if theirs != ours or ours and backend is None:
            self.report.add("differs", "formula", "%s in the record, %s here" % (theirs or "the rule's", ours or "the rule's"))

    # Entries

    def value(self, entry, to_set):
        """The value of one entry."""
        return getattr(self, "_" + entry.role)(entry, to_set)

    def _iteration(self, entry, to_set):
        steps = self.config.get("gradient_accumulation_steps")
        count = self.record.iterations
        if self.skeleton.generation == "keras3" and not self.skeleton.compiled and steps:
            count = conversions.counted_calls(count, self._micro_step(steps), steps)
            self.report.add("converted", "iterations", "%d updates are %d calls" % (self.record.iterations, count))
        else:
            self.report.add("moved", "iterations", str(count))
        return self._cast(count, entry, "iterations")

    def _micro_step(self, steps):
        if self.record.micro_step >= steps:
            raise StateError(
                "The record is in the middle of more calls than the optimizer accumulates.",
                "fewer than %d calls since the last update" % steps,
                "micro_step=%d" % self.record.micro_step,
                environment=self.report.target,
            )
        return self.record.micro_step

    def _hyper(self, entry, to_set):
        own = self.native.hypers.get(entry.name, entry.name)
        number = to_set.get(entry.name, self.present.get(own))
        if isinstance(number, (int, float)) and not isinstance(number, bool):
            return self._cast(float(number), entry, own)
        return None

    def _shared(self, entry, to_set):
        own = self.native.shared[entry.name]
        needs = conversions.SCALARS[self.native.recomputed[own]][1] if own in self.native.recomputed else ()
        changed = [n for n in needs if not _close(self.record.hypers.get(n), self.present.get(n))]
        if own in self.record.shared and not changed:
            self.taken.add(("shared", own))
            self._moved(own, entry.name != own, "")
            return self._cast(self.record.shared[own], entry, own)
        if own in self.native.recomputed:
            self.taken.add(("shared", own))
            why = ", ".join("%s=%r" % (n, self.present.get(n)) for n in changed) or "the record has none"
            self.report.add("recomputed", own, "for %s" % why)
            number = conversions.scalar(self.native.recomputed[own], self.present, self.record.iterations, own)
            return self._cast(number, entry, own)
        self.report.add("defaulted", own, "the record has none")
        return None

    def _slot(self, entry, to_set):
        own = self.native.slots[entry.name]
        ours = self.ours[entry.variable]
        if not self.skeleton.compiled and own not in self._slots_of(ours):
            return None  # a placeholder: nothing reads it
        return self._of_variable(entry, self.record.slots, own, to_set)

    def _slots_of(self, ours):
        return self.native.rule_for(self.config).slots_for(ours.shape)

    def _average(self, entry, to_set):
        theirs = self._partner(entry)
        if theirs is not None and theirs.path in self.record.averages:
            return self._of_variable(entry, {theirs.path: {"average": self.record.averages[theirs.path]}}, "average", to_set)
        ours = self.ours[entry.variable]
        self.report.add("defaulted", "average of %s" % ours.path, "it starts from the present value")
        return self.first_value(entry.variable) if self.first_value else None

    def _accumulator(self, entry, to_set):
        if entry.name == "micro_step":
            self.taken.add(("micro_step",))
            return self._cast(self._micro_step(self.config["gradient_accumulation_steps"]), entry, "micro_step")
        theirs = self._partner(entry)
        if theirs is None:
            return None
        if entry.name == "calls":
            return self._cast(self.record.calls.get(theirs.path, self.record.micro_step), entry, "calls")
        if theirs.path not in self.record.accumulators and not self.record.micro_step:
            return None  # empty between two updates
        named = {path: {"accumulator": array} for path, array in self.record.accumulators.items()}
        return self._of_variable(entry, named, "accumulator", to_set)

    def _unknown(self, entry, to_set):
        return None

    def _partner(self, entry):
        theirs = self.pairing.partners[entry.variable]
        return None if theirs is None else self.record.variables[theirs]

    def _of_variable(self, entry, arrays, own, to_set):
        ours, theirs = self.ours[entry.variable], self._partner(entry)
        what = "%s of %s" % (own, ours.path)
        array = arrays.get(theirs.path, {}).get(own) if theirs is not None else None
        if array is None:
            why = "the variable is not in the record" if theirs is None else "the record has none"
            self.report.add("defaulted", what, why)
            return None
        self.taken.add((own, theirs.path))
        self._check_shape(entry, array, own, ours, what)
        how = self.pairing.how[entry.variable]
        renamed = entry.name not in (own, "gradient_accumulator") or theirs.path != ours.path
        detail = "" if theirs.path == ours.path else "from %s, paired by %s" % (theirs.path, how)
        conversion = self.native.conversions.get(entry.name)
        if conversion:
            array = conversions.SLOTS[conversion][1](array, lambda: conversions.learning_rate_of(self.record.hypers))
            self.report.add("converted", what, conversion.replace("_", " ") + (", " + detail if detail else ""))
        elif entry.value is not None and str(entry.value.dtype) != str(array.dtype):
            self.report.add("converted", what, "%s to %s" % (array.dtype, entry.value.dtype) + (", " + detail if detail else ""))
        else:
            self._moved(what, renamed, ", ".join(t for t in ("to %s" % entry.name if entry.name != own else "", detail) if t))
        return self._cast(array, entry, what)

    def _check_shape(self, entry, array, own, ours, what):
        if entry.value is not None:
            expected = tuple(entry.value.shape)
        elif entry.role == "slot":
            expected = tuple(self.native.rule_class().slots()[own].shape_for(ours.shape))
        else:
            expected = tuple(ours.shape)
        if tuple(array.shape) != expected:
            raise StateError(
                "%s does not fit." % what,
                "shape %s" % (expected,),
                "shape %s" % (tuple(array.shape),),
                environment=self.report.target,
            )

    def _moved(self, what, renamed, detail):
        self.report.add("renamed" if renamed else "moved", what, detail)

    def _cast(self, value, entry, what):
        """`value` in the dtype of the entry, where that is known; no count is wrapped around."""
        import numpy as np

        value = np.asarray(value)
        if entry.value is None:
            return value
        dtype = np.asarray(entry.value).dtype
        if dtype.kind in "iu" and int(value) > np.iinfo(dtype).max:
            raise StateError(
                "%s is too large for the optimizer." % what,
                "at most %d, the largest %s" % (np.iinfo(dtype).max, dtype),
                "%s=%d" % (what, int(value)),
                environment=self.report.target,
            )
        return value.astype(dtype, copy=False)

    # What is left

    def leftovers(self):
        """Lines for pieces of the record that no entry took."""
        record, kept_by_formula = self.record, self.native.recomputed
        for name in record.shared:
            if ("shared", name) not in self.taken:
                known = name in kept_by_formula
                self.report.add("dropped", name, "the class has no such scalar" if not known else "it follows from the step", not known)
        alone = {record.variables[i].path for i in self.pairing.left}
        for path, slots in record.slots.items():
            for name in slots:
                self._left(name, path, alone, True)
        for path in record.averages:
            self._left("average", path, alone, True)
        for path in record.accumulators:
            self._left("accumulator", path, alone, bool(record.micro_step))

    def _left(self, name, path, alone, refused):
        if (name, path) not in self.taken:
            why = "the optimizer has no such variable" if path in alone else "the optimizer keeps no such thing"
            self.report.add("dropped", "%s of %s" % (name, path), why, refused)


def _same(one, other):
    return one == other or not one and not other


def _close(one, other):
    if one == other or not one and not other:
        return True
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (one, other))
    return numbers and abs(one - other) <= _ROUNDING * max(abs(one), abs(other))
