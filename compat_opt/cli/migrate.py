"""Turn the optimizer classes in a file into rules, and bring the code around them up to date.

FILE is read, never imported or run (but for --verify). Each optimizer class in it - OptimizerV2 subclasses, Keras 2
and 3 classes with update_step, multi-backend classes with get_updates - becomes a compat_opt.UpdateRule, is
converted with notes (comments at the line, for a person to read), or is refused with the reason and the line and
left as it is. Then fixers go over the rest: lr=, decay=, optimizers.legacy, get_weights, private imports and more.

Without an option the new source is printed. --write puts it into FILE, --diff prints what would change, --check
prints nothing but the report. A second run changes nothing.

--verify runs each old class beside its rule, dense and sparse, in several configurations, in an environment where
the old class works, and prints the largest difference as a part of the way the variables moved.

Exit codes: 0 nothing is left to do: all was converted or there was nothing to convert; 1 with --check or --diff,
FILE would change; with the others, a class was refused; in any case, a verified difference is above 1e-5; 2 the
command could not run: no such file or class, or FILE is no Python.
"""

import difflib
import json
import sys

from compat_opt.cli._terminal import table, write_file
from compat_opt.errors import CommandError, UnsupportedError, closest

SUMMARY = "turn the optimizer classes of a file into rules; nothing is imported or run"


def add_arguments(parser):
    """Declare the command's arguments."""
    parser.add_argument("file", metavar="FILE", help="a Python file; - reads the standard input")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--check", action="store_true", help="only say what would be done")
    shown.add_argument("--diff", action="store_true", help="print the changes as a unified diff")
    shown.add_argument("--write", action="store_true", help="write the new source into FILE")
    parser.add_argument("--class", dest="class_name", metavar="NAME", help="only this class, and nothing around it")
    parser.add_argument("--target", choices=("rule", "keras3"), default="rule", help="what is written (default rule)")
    parser.add_argument("--json", action="store_true", help="print the report as JSON on the standard output, and no source")
    parser.add_argument("--verify", action="store_true", help="run old and new side by side")
    parser.add_argument("--tf", metavar="LIST", help="with --verify: the releases to try, such as 2.4,2.10 or here")
    parser.add_argument("--python", action="append", default=[], metavar="PATH", help="with --verify: an interpreter to try instead")
    parser.add_argument("--with", dest="extra", action="append", default=[], metavar="PACKAGE", help="with --verify: install this too")


def run(arguments):
    """Migrate the file; the exit code is described in this module's docstring."""
    from compat_opt.codemod.rewrite import migrate_text

    if arguments.target != "rule":
        raise UnsupportedError(
            "The migrator writes rules.",
            "--target rule",
            "--target %s" % arguments.target,
            "Migrate to a rule, then `compat-opt export FILE:RULE --target %s`." % arguments.target,
        )
    if arguments.write and arguments.file == "-":
        raise CommandError("The standard input can't be written.", "a file", "--write -", "Leave --write out: the source is printed.")
    text = _read(arguments.file)
    try:
        migration = migrate_text(text, arguments.class_name, None if arguments.file == "-" else arguments.file)
    except SyntaxError as error:
        raise CommandError("%s is no Python: %s." % (arguments.file, error))
    if arguments.class_name and not migration.classes:
        _refuse_unknown_class(arguments, text)
    verified = _verify(arguments, text, migration) if arguments.verify else {}
    changed = migration.text != text
    _show(arguments, text, migration, verified)
    if arguments.write and changed:
        write_file(arguments.file, migration.text)
    if any(result.get("within") is False for result in verified.values()):
        return 1
    if arguments.check or arguments.diff:
        return 1 if changed or _refused(migration) else 0
    return 1 if _refused(migration) else 0


def _refused(migration):
    return any(result.outcome == "refused" for result in migration.classes)


def _read(path):
    if path == "-":
        return sys.stdin.read()
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            return stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError("%s can't be read." % path, "a Python file in UTF-8", "%s: %s" % (type(error).__name__, error))


def _refuse_unknown_class(arguments, text):
    from compat_opt.codemod.migrate import optimizer_classes
    from compat_opt.codemod.module import Module

    names = optimizer_classes(Module(text.lstrip("\ufeff")))
    raise CommandError(
        "%s has no optimizer class %r." % (arguments.file, arguments.class_name),
        "one of %s" % ", ".join(names) if names else "a file with an optimizer class",
        "--class %s" % arguments.class_name,
        closest(arguments.class_name, names),
    )


def _show(arguments, text, migration, verified):
    """Source or diff on the standard output, the report on the error output."""
    if arguments.json:
        print(json.dumps(report(migration, verified), indent=1))
        return
    if arguments.diff:
        lines = difflib.unified_diff(
            text.splitlines(True), migration.text.splitlines(True), arguments.file, arguments.file + " (migrated)"
        )
        sys.stdout.writelines(line if line.endswith("\n") else line + "\n" for line in lines)
    elif not arguments.check and not arguments.write:
        sys.stdout.write(migration.text)
    print("\n".join(_lines(arguments.file, migration, verified)), file=sys.stderr)


def report(migration, verified):
    """``{"classes": [{"name", "outcome", "line", "reason", "verified"}], "fixes": [...]}``."""
    return {
        "classes": [
            {
                "name": result.name,
                "outcome": result.outcome,
                "line": result.line,
                "reason": result.reason,
                "verified": verified.get(result.name),
            }
            for result in migration.classes
        ],
        "fixes": [dict(fix._asdict()) for fix in migration.fixes],
    }


def _lines(path, migration, verified):
    if not migration.classes and not migration.fixes:
        return ["%s: nothing to do" % path]
    rows = [["line", "class", "outcome", "verified"]]
    rows += [[str(r.line), r.name, r.outcome, _verified(verified.get(r.name))] for r in migration.classes]
    lines = [table(rows)] if migration.classes else []
    for result in migration.classes:
        if result.outcome == "refused":
            lines.append("%s:%d: %s is refused: %s" % (path, result.line, result.name, result.reason))
        lines += ["%s:%d: note on %s: %s" % (path, line, result.name, text) for line, text in result.notes]
    for fix in migration.fixes:
        lines.append("%s:%d: %s%s (%s)" % (path, fix.line, "" if fix.changed else "look at this: ", fix.text, fix.fixer))
    return lines


def _verified(result):
    if result is None:
        return "-"
    if "error" in result:
        return "not run: %s" % result["error"][:120]
    sparse = (result.get("sparse") or {}).get("is")
    words = "%.1e%s on %s" % (result["largest"], "" if result["within"] else " DIFFERS", result["tensorflow"])
    return words + (", sparse as %s" % sparse if sparse else "")


def _verify(arguments, text, migration):
    from compat_opt.codemod.module import Module
    from compat_opt.testing.migration.verify import job_of, verify_all

    if arguments.file == "-":
        raise CommandError("--verify needs a file.", "the path of a Python file", "FILE=-")
    module, found, by_style = Module(text, arguments.file), {}, {}
    for result in migration.classes:
        if result.text:
            style = {"none": "optimizer_v2"}.get(module.style(result.name), module.style(result.name))
            job = job_of(arguments.file, result.name, style, result.text, result.hypers, result.beneath)
            by_style.setdefault(style, []).append(job)
    for style, jobs in by_style.items():
        results = verify_all(jobs, arguments.python or _interpreters(arguments, style))
        found.update((job["class"], result) for job, result in zip(jobs, results))
    return found


def _interpreters(arguments, style):
    """Interpreters of the releases to try, made when they are asked for."""
    from compat_opt.testing.matrix import releases
    from compat_opt.testing.matrix.environments import Environments, Missing
    from compat_opt.testing.matrix.processes import Processes
    from compat_opt.testing.migration.verify import RELEASES

    environments = Environments(Processes(), extra=arguments.extra)
    names = arguments.tf.split(",") if arguments.tf else RELEASES[style]
    for name in names:
        release = releases.here() if name == releases.HERE else releases.find(name)
        try:
            yield environments.ensure(release).python
        except Missing as missing:
            print("compat-opt migrate: %s: %s" % (name, missing), file=sys.stderr)
