"""Run a file's rules through the laws on each target of this environment, and train a small classifier.

FILE is a Python file; every compat_opt.UpdateRule subclass that it defines is checked, or the one named
after a colon. For each rule and target the laws run that apply there (each compares the compiled optimizer
with the NumPy reference, or a promise of the contract with what happens), then a net of one hidden layer
learns scikit-learn's digits with model.fit, with the rule's own default hyperparameters.

Exit codes: 0 every law that applies is kept and the training ran; 1 a law is broken, or the training
raised; 2 the check could not run: no such file, rule, law or target, or the file can't be imported.
Without scikit-learn the digits are left out, and the exit code speaks of the laws alone.
"""

import json
import time

from compat_opt._version import __version__
from compat_opt.cli._rulefile import load_rules, split
from compat_opt.cli._terminal import Progress, quieten_frameworks, silent_stderr, table, write_file
from compat_opt.env import default_target, describe_environment, find_target, targets
from compat_opt.errors import CommandError, closest

SUMMARY = "run a file's rules through the laws on each target, and train on digits"

OK, BROKEN, NOT_APPLICABLE, MISSING = "ok", "BROKEN", "not applicable", "missing"


def add_arguments(parser):
    """Declare the command's arguments."""
    parser.add_argument("file", metavar="FILE[:RULE]", help="a Python file with rules, or one rule of it")
    parser.add_argument("--target", action="append", metavar="NAME", help="only this target; may be repeated")
    parser.add_argument("--law", action="append", metavar="NAME", help="only this law; may be repeated")
    parser.add_argument("--no-digits", action="store_true", help="leave the training out")
    parser.add_argument("--json", metavar="FILE", help="also write the results here")


def run(arguments):
    """Check the file; the exit code is described in this module's docstring."""
    quieten_frameworks()
    rules = load_rules(arguments.file)
    chosen = _targets(arguments.target)
    with silent_stderr():
        laws = _laws(arguments.law)
        for target in chosen:
            _start(target)
    progress, started = Progress(), time.time()
    print("compat-opt %s check %s on %s" % (__version__, arguments.file, describe_environment()))
    results = []
    for rule in rules:
        columns = [_check(rule, target, laws, not arguments.no_digits, progress) for target in chosen]
        results.append({"rule": rule.__name__, "targets": columns})
        progress.clear()
        print("\n" + "\n".join(_report(results[-1])), flush=True)
    broken = sum(cell["status"] == BROKEN for cell in _cells(results))
    exit_code = 1 if broken else 0
    print("\n" + _summary(results, time.time() - started))
    if arguments.json:
        _write(arguments, results, exit_code)
    return exit_code


def _targets(names):
    if not names:
        default_target()  # without one, its error says what to do
        return targets()
    return list(dict.fromkeys(find_target(name) for name in names))


def _start(target):
    """Import the target's framework and touch its device: what both print at first is no news."""
    from compat_opt.testing.digits import keras_of
    from compat_opt.testing.harness import harness_for

    try:
        keras_of(target)
        harness_for(target).variable(0.0, "float32")
    except Exception as error:
        raise CommandError(
            "The target %s can't be imported." % target,
            received="%s: %s" % (type(error).__name__, error),
            remedy="`compat-opt doctor` shows what is installed.",
            environment=target.describe(),
        ) from error


def _laws(names):
    from compat_opt.testing.laws import LAWS

    for name in names or ():
        if name not in LAWS:
            raise CommandError("There is no law %r." % name, "one of %s" % ", ".join(LAWS), "--law %s" % name, closest(name, LAWS))
    return [LAWS[name] for name in (dict.fromkeys(names) if names else LAWS)]


def _check(rule, target, laws, with_digits, progress):
    """One rule on one target: ``{"target", "laws": [cell], "digits": cell or None}``."""
    from compat_opt.testing.laws import LawBroken, run_law
    from compat_opt.testing.subject import Subject

    cells = []
    try:
        subject = Subject(rule, target)
        subject.optimizer()
    except Exception as error:
        cells.append(_cell("compile", target, BROKEN, detail="%s: %s" % (type(error).__name__, error)))
        return {"target": target.key, "laws": cells, "digits": None}
    for number, law in enumerate(laws):
        progress.show("%s on %s: law %d of %d, %s" % (rule.__name__, target, number + 1, len(laws), law.name))
        reason, started = subject.lacking(law.needs), time.time()
        if reason:
            cells.append(_cell(law.name, target, NOT_APPLICABLE, reason=reason))
            continue
        try:
            run_law(law, subject)
            cell = _cell(law.name, target, OK)
        except LawBroken as error:
            cell = _cell(law.name, target, BROKEN, step=error.step, largest_error=error.largest_error, detail=error.detail)
        cells.append(dict(cell, seconds=round(time.time() - started, 3)))
    digits = None
    if with_digits:
        progress.show("%s on %s: training on digits" % (rule.__name__, target))
        digits = _digits(subject, target)
    return {"target": target.key, "laws": cells, "digits": digits}


def _cell(law, target, status, **facts):
    cell = {"law": law, "target": target.key, "status": status}
    cell.update(facts)
    return cell


def _digits(subject, target):
    from compat_opt.testing.digits import REMEDY, train_digits

    started = time.time()
    try:
        import sklearn  # noqa: F401
    except ImportError:
        return _cell("digits", target, MISSING, reason="scikit-learn is not installed: %s" % REMEDY)
    try:
        result = train_digits(subject.optimizer_class(), target)
    except Exception as error:
        return _cell("digits", target, BROKEN, detail="%s: %s" % (type(error).__name__, error))
    return dict(_cell("digits", target, OK, seconds=round(time.time() - started, 3)), **result._asdict())


def _cells(results):
    for result in results:
        for column in result["targets"]:
            for cell in column["laws"] + ([column["digits"]] if column["digits"] else []):
                yield cell


def _report(result):
    """The table of one rule, the reasons in it, and what is broken."""
    columns = result["targets"]
    names = list(dict.fromkeys(cell["law"] for column in columns for cell in column["laws"]))
    rows, notes = [[result["rule"]] + [column["target"] for column in columns]], []
    for name in names:
        row = [name]
        for column in columns:
            cell = next((cell for cell in column["laws"] if cell["law"] == name), None)
            row.append(_mark(cell, notes))
        rows.append(row)
    if any(column["digits"] for column in columns):
        rows.append(["digits"] + [_mark(column["digits"], notes) for column in columns])
    lines = [table(rows)]
    lines += ["(%d) %s" % (number + 1, note) for number, note in enumerate(notes)]
    for cell in _cells([result]):
        if cell["status"] == BROKEN:
            lines += [""] + _broken(result["rule"], cell)
    return lines


def _mark(cell, notes):
    """What the table shows for one cell; a reason is numbered and goes below."""
    if cell is None:
        return "-"
    if cell["law"] == "digits" and cell["status"] == OK:
        return "accuracy %.3f, loss %.3f" % (cell["accuracy"], cell["loss"])
    if "reason" not in cell:
        return cell["status"]
    if cell["reason"] not in notes:
        notes.append(cell["reason"])
    return "%s (%d)" % (cell["status"], notes.index(cell["reason"]) + 1)


def _broken(rule, cell):
    from compat_opt.testing.laws import LAWS

    lines = ["BROKEN: law %s, rule %s, target %s" % (cell["law"], rule, cell["target"])]
    if cell["law"] in LAWS:
        lines.append("  the law:        %s" % LAWS[cell["law"]].explanation)
    if cell.get("step") is not None:
        lines.append("  step:           %d" % cell["step"])
    if cell.get("largest_error") is not None:
        lines.append("  largest error:  %.3g (relative)" % cell["largest_error"])
    lines.append("  detail:         %s" % cell["detail"])
    return lines


def _summary(results, seconds):
    count = {status: 0 for status in (OK, BROKEN, NOT_APPLICABLE)}
    for result in results:
        for column in result["targets"]:
            for cell in column["laws"]:
                count[cell["status"]] += 1
    trained = [cell for cell in _cells(results) if cell["law"] == "digits"]
    text = "laws: %d ok, %d broken, %d not applicable" % (count[OK], count[BROKEN], count[NOT_APPLICABLE])
    if trained:
        text += "; digits: %d of %d trained" % (sum(cell["status"] == OK for cell in trained), len(trained))
    return "%s; %.0f s" % (text, seconds)


def _write(arguments, results, exit_code):
    path, _ = split(arguments.file)
    document = {
        "compat_opt": __version__,
        "environment": describe_environment(),
        "file": path,
        "results": results,
        "exit_code": exit_code,
    }
    write_file(arguments.json, json.dumps(document, indent=1) + "\n")
