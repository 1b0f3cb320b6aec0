"""What is checked in one cell: the laws for a rule, three checks for any other optimizer."""

import collections
import time

import numpy as np

Check = collections.namedtuple("Check", "name function explanation")


def _finite(traces, tolerance):
    for run, trace in sorted(traces.items()):
        for key, values in sorted(trace.items()):
            bad = np.argwhere(~np.isfinite(values))
            if len(bad):
                return "%s run, step %d: %s has NaN or infinite values" % (run, bad[0][0], key)
    return None


def _compiled(traces, tolerance):
    return _same(traces, "dense", "compiled", tolerance)


def _repeated_rows(traces, tolerance):
    return _same(traces, "summed", "sparse", tolerance)


def _same(traces, expected, actual, tolerance):
    """None where two runs of this cell agree; else where they first differ."""
    one, other = traces[expected], traces[actual]
    keys = sorted(key for key in one if key.startswith("var/"))
    moved = max(float(np.nanmax(np.abs(one[key] - one[key][:1]))) for key in keys) or 1.0
    for step in range(len(one[keys[0]])):
        for key in keys:
            error = np.abs(one[key][step] - other[key][step]) / moved
            if not np.all((error <= tolerance) | (np.isnan(one[key][step]) & np.isnan(other[key][step]))):
                at = np.unravel_index(np.argmax(np.where(np.isnan(error), np.inf, error)), error.shape)
                where = "%s[%s]" % (key[4:], ", ".join(str(int(i)) for i in at)) if at else key[4:]
                text = "step %d: %s is %.9g, and %.9g in the %s run; difference %.3g of the distance moved"
                return text % (step, where, other[key][step][at], one[key][step][at], expected, error[at])
    return None


CHECKS = [
    Check("finite", _finite, "Every value of the trajectory and of the slots is finite."),
    Check("compiled", _compiled, "Inside a compiled train step the optimizer moves as it does eagerly."),
    Check(
        "repeated_rows",
        _repeated_rows,
        "A sparse gradient that names a row more than once acts as the one with these rows summed.",
    ),
]
_RUNS = {"compiled": ("dense", "compiled"), "repeated_rows": ("sparse", "summed"), "finite": ()}


def run_checks(traces, left_out, tolerance, wanted):
    """{check: {"status", "detail"}} of the traces of one cell."""
    found = collections.OrderedDict()
    for check in CHECKS:
        if wanted is not None and check.name not in wanted:
            continue
        missing = [run for run in _RUNS[check.name] if run not in traces]
        if missing:
            why = left_out.get(missing[0], "the workload has no %s run" % missing[0])
            found[check.name] = {"status": "not applicable", "detail": why}
            continue
        problem = check.function(traces, tolerance)
        found[check.name] = {"status": "broken" if problem else "kept", "detail": problem or ""}
    return found


def run_laws(rule, target, arguments, wanted):
    """{law: {"status", "detail", "step", "seconds"}} of a rule on a target."""
    from compat_opt.testing.laws import LAWS, LawBroken, Subject, run_law

    subject = Subject(rule, target, **arguments)
    found = collections.OrderedDict()
    for law in LAWS.values():
        if wanted is not None and law.name not in wanted:
            continue
        started = time.time()
        if not subject.offers(law.needs):
            found[law.name] = {"status": "not applicable", "detail": subject.lacking(law.needs)}
            continue
        try:
            run_law(law, subject)
            found[law.name] = {"status": "kept", "detail": ""}
        except LawBroken as error:
            found[law.name] = {"status": "broken", "detail": error.detail[:1500], "step": error.step}
        found[law.name]["seconds"] = round(time.time() - started, 2)
    return found


def explanations(is_rule):
    """{law or check: what it says}."""
    if not is_rule:
        return {check.name: check.explanation for check in CHECKS}
    from compat_opt.testing.laws import LAWS

    return {law.name: " ".join((law.explanation or "").split()) for law in LAWS.values()}
