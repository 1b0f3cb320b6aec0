"""Show the optimizer state in a file, move it into another file, or compare two files.

    compat-opt state show FILE
    compat-opt state convert FILE --to record -o OUT
    compat-opt state convert FILE --to keras/keras3 --into TEMPLATE -o OUT
    compat-opt state diff A B

FILE is a TensorFlow checkpoint (its prefix, its folder, or a SavedModel), an H5 file, a .keras file, the folder of
BackupAndRestore, or a file of compat_opt.state.save. TEMPLATE is a file that the other version wrote itself, with an
optimizer that is built: OUT is a copy of it with the state in it, which that version's own loader reads.

Exit codes: 0 done (diff: they are equal); 1 diff: they differ; convert --no-strict: something was dropped; 2 the file
can't be read, or, as --strict is the default, something in it has no place: nothing is written then.
"""

import json
import os

from compat_opt.cli._terminal import table
from compat_opt.errors import CommandError, StateError

SUMMARY = "show, convert and compare the optimizer state in files"


def add_arguments(parser):
    """Declare the command's arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
    actions.required = True
    show = actions.add_parser("show", help="what a file holds, slot by slot")
    show.add_argument("file", metavar="FILE")
    convert = actions.add_parser("convert", help="write the state into another file")
    convert.add_argument("file", metavar="FILE")
    convert.add_argument("--to", required=True, metavar="FORMAT[/GENERATION]", help="record, checkpoint, h5 or keras")
    convert.add_argument("--into", metavar="TEMPLATE", help="a file of the other version, with an optimizer that is built")
    convert.add_argument("-o", "--output", required=True, metavar="OUT", help="the file to write; for a checkpoint its prefix")
    convert.add_argument("--map", action="append", default=[], metavar="OLD=NEW", help="a variable that changed its name; or `order`")
    convert.add_argument("--into-optimizer", metavar="KEY", help="as --optimizer, of TEMPLATE")
    convert.add_argument("--into-class", metavar="NAME", help="as --class, of TEMPLATE")
    convert.add_argument("--into-config", metavar="JSON", help="as --config, of TEMPLATE")
    convert.add_argument("--no-strict", action="store_true", help="drop what has no place instead of refusing it")
    diff = actions.add_parser("diff", help="compare two files")
    diff.add_argument("file", metavar="A")
    diff.add_argument("other", metavar="B")
    diff.add_argument("--tolerance", type=float, default=0.0, help="largest relative difference that counts as none")
    for action in (show, convert, diff):
        action.add_argument("--optimizer", metavar="KEY", help="which one, where a checkpoint has several")
        action.add_argument("--class", dest="class_name", metavar="NAME", help="the optimizer's class, where the file does not tell")
        action.add_argument("--config", metavar="JSON", help="the optimizer's get_config(), or a part of it")
        action.add_argument("--rule", metavar="RULE", help="the rule of a compiled optimizer: a name, or FILE.py:NAME")
        action.add_argument("--json", action="store_true", help="print the same as JSON")


def run(arguments):
    """Do what was asked for; the exit code."""
    try:
        return {"show": _show, "convert": _convert, "diff": _diff}[arguments.action](arguments)
    except OSError as error:
        raise CommandError("A file can't be read or written: %s." % error)


def _read(path, arguments):
    from compat_opt.state import files

    hints = files.Hints(arguments.optimizer, arguments.class_name, _config(arguments.config), _rule(arguments.rule))
    return files.to_record_of(files.read_raw(path, hints), hints)


def _config(text):
    try:
        config = json.loads(text or "{}")
    except ValueError as error:
        raise CommandError("--config is no JSON: %s." % error, 'such as {"momentum": 0.9}', text)
    if not isinstance(config, dict):
        raise CommandError("--config is no JSON object.", 'such as {"momentum": 0.9}', text)
    return config


def _rule(text):
    if text is None or ".py" not in text:
        return text
    from compat_opt.cli._rulefile import load_rules

    found = load_rules(text)
    if len(found) > 1:
        raise CommandError("%s has several rules." % text, "FILE.py:NAME, of %s" % ", ".join(r.__name__ for r in found))
    return found[0]


def _show(arguments):
    record = _read(arguments.file, arguments)
    print(json.dumps(_as_dict(record), indent=2) if arguments.json else "\n".join(_lines(record)))
    return 0


def _as_dict(record):
    """The record without its numbers: shapes, dtypes and norms."""
    return {
        "algorithm": record.algorithm,
        "iterations": record.iterations,
        "micro_step": record.micro_step,
        "hypers": record.hypers,
        "options": record.options,
        "loss_scale": record.loss_scale,
        "provenance": record.provenance,
        "variables": [v.path for v in record.variables],
        "arrays": [dict(zip(("name", "shape", "dtype", "norm"), row)) for row in _rows(record)],
    }


def _rows(record):
    import numpy as np

    for key, array in record.arrays():
        array = np.asarray(array)
        name = "%s of %s" % (key[2], key[1]) if key[0] == "slots" else " ".join(key)
        norm = float(np.sqrt(np.sum(np.abs(array.astype("float64") if array.dtype.kind != "c" else array) ** 2)))
        yield name, list(array.shape), str(array.dtype), norm


def _lines(record):
    origin = ", ".join("%s %s" % item for item in sorted(record.provenance.items()) if item[1])
    lines = ["%s, %d finished updates" % (record.algorithm, record.iterations), "from: %s" % origin]
    if record.micro_step:
        lines.append("%d calls are accumulated for the next one" % record.micro_step)
    for name, values in (("hyperparameters", record.hypers), ("options", record.options), ("loss scale", record.loss_scale)):
        if values:
            shown = ["%s=%s" % (key, _plain(value)) for key, value in values.items()]
            lines.append("%s: %s" % (name, ", ".join(shown)))
    rows = [(name, str(tuple(shape)), dtype, "%.6g" % norm) for name, shape, dtype, norm in _rows(record)]
    return lines + (["", table([("Array", "Shape", "dtype", "norm")] + rows)] if rows else [])


def _plain(value):
    return "%.8g" % value if isinstance(value, float) else value.get("class_name") if isinstance(value, dict) else value


def _convert(arguments):
    from compat_opt.state import files, save

    format_name, _, generation = arguments.to.partition("/")
    _check_target(format_name, arguments)
    record = _read(arguments.file, arguments)
    if format_name == "record":
        save(record, arguments.output)
        lines = [{"kind": "moved", "what": name, "detail": "", "refused": False} for name, _, _, _ in _rows(record)]
        print(json.dumps({"target": "record", "lines": lines}) if arguments.json else "\n".join("moved  %s" % l["what"] for l in lines))
        return 0
    found = files.format_of(arguments.into)
    config = _config(arguments.into_config)
    hints = files.Hints(arguments.into_optimizer, arguments.into_class, config, _rule(arguments.rule))
    raw = found.read(arguments.into, hints)
    is_there = getattr(raw, "generation", "")  # a file of `save` has none
    if found.NAME != format_name or generation not in ("", is_there):
        raise CommandError(
            "The template is something else than --to says.",
            arguments.to,
            "%s/%s in %s" % (found.NAME, is_there, arguments.into),
        )
    from compat_opt.state.files.writing import write_file

    report = write_file(record, arguments.output, arguments.into, _renames(arguments.map), not arguments.no_strict, hints)
    print(json.dumps(report.as_dict(), indent=2) if arguments.json else report)
    return 1 if any(line.refused for line in report.lines) else 0


def _check_target(format_name, arguments):
    known = ("record", "checkpoint", "h5", "keras")
    if format_name not in known:
        raise CommandError("There is no format %r to write." % format_name, "--to one of %s" % ", ".join(known), "--to %s" % arguments.to)
    if format_name == "record" and (arguments.to != "record" or arguments.into or arguments.map):
        raise CommandError(
            "A record is written as it is, with the names of FILE.",
            "--to record, without a generation, --into and --map",
            remedy="They are for the step from the record into another file, or for compat_opt.state.write.",
        )
    folder = os.path.dirname(arguments.output)
    if folder and not os.path.isdir(folder):
        raise CommandError("There is no folder %s." % folder, "-o in a folder that exists", "-o %s" % arguments.output)
    from compat_opt.state.files.checkpoint import prefix_of

    if os.path.realpath(arguments.output) in [os.path.realpath(p) for p in (arguments.file, prefix_of(arguments.file)) if p]:
        raise CommandError("%s would be overwritten." % arguments.file, "-o with another name than FILE's", "-o %s" % arguments.output)
    if os.path.isdir(arguments.output) and format_name != "checkpoint":
        raise CommandError("%s is a folder." % arguments.output, "-o with the name of a file")
    if format_name != "record" and arguments.into is None:
        raise CommandError(
            "A %s file is written into a copy of one that the other version wrote itself." % format_name,
            "--into TEMPLATE",
            remedy="Save one there, from a model whose optimizer is built: optimizer.build(model.trainable_variables). Or do "
            "without: compat_opt.state.write(optimizer, read_file(FILE), model.trainable_variables) there, and save.",
        )


def _renames(pairs):
    if pairs == ["order"]:
        return "order"
    renames = {}
    for pair in pairs:
        old, equals, new = pair.partition("=")
        if not equals or old in renames:
            raise StateError("--map takes pairs.", "OLD=NEW once for each OLD, or `order` alone", "--map %s" % pair)
        renames[old] = new
    return renames or None


def _diff(arguments):
    left, right = (_read(path, arguments) for path in (arguments.file, arguments.other))
    differences = left.diff(right, arguments.tolerance)
    if arguments.json:
        print(json.dumps({"equal": not differences, "differences": [{"where": d.where, "text": d.text} for d in differences]}, indent=2))
    else:
        print("\n".join(d.text for d in differences) or "They are equal.")
    return 1 if differences else 0
