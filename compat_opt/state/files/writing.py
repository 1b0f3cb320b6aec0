"""Write a record into a file that another version reads: into a copy of a file which that version wrote itself.

The template is a file of the target's own, saved with an optimizer that is built. Everything in it stays but the
optimizer's numbers, so that the other version's own loader takes it.
"""

import copy

from compat_opt.errors import StateError
from compat_opt.state.files import checkpoint, format_of
from compat_opt.state.files.hints import Hints
from compat_opt.state.placing import fill
from compat_opt.state.raw import RawState


def write_file(record, path, template, renames=None, strict=True, hints=None):
    """Write a record into a copy of `template`, at `path`.

    Args:
        record: a `StateRecord`.
        path: what to write; for a checkpoint its prefix. It may be that of the template.
        template: a checkpoint, H5 or ``.keras`` file of the version that is to read `path`, whose optimizer has met
            its variables (a step, or build()).
        renames: as for `compat_opt.state.write`.
        strict: refuse where a piece of the record has no place.
        hints: the `Hints` for the template.

    Returns:
        A `Report`.

    Raises:
        StateError: the template has no state to replace, or the record does not fit; nothing is written then.
    """
    hints = hints or Hints()
    module = format_of(template)
    raw = module.read(template, hints)
    places = getattr(raw, "places", None)
    if not isinstance(raw, RawState) or not hasattr(module, "write") or places is None:
        raise StateError(
            "%s can't be written into." % template,
            "a checkpoint, H5 or .keras file, without variables in shards and without a LossScaleOptimizer",
            "the format %s" % module.NAME,
            "Or do without a template: compat_opt.state.write(optimizer, record, model.trainable_variables), and save.",
        )
    if not any(entry.role == "slot" for entry in raw.entries) and record.slots:
        raise StateError(
            "The optimizer in %s has no slots yet, so there is no place to write to." % template,
            "a file that was saved after optimizer.build(model.trainable_variables), or after a step",
            "one whose optimizer has made no step",
        )
    skeleton = _by_position(raw)
    known = set(skeleton.config)
    fitting = copy.copy(record)
    numbers_only = raw.provenance["format"] == checkpoint.NAME
    if numbers_only:
        fitting.hypers = {name: value for name, value in record.hypers.items() if name in known}
    filling = fill(skeleton, fitting, renames, strict, target="%s (%s %s)" % (template, raw.generation, raw.class_name))
    for name in sorted(set(record.hypers) - set(fitting.hypers)):
        filling.report.add("kept", name, "the file holds none: give %r to the constructor" % (record.hypers[name],))
    if record.loss_scale:
        filling.report.add("dropped", "loss scale", "%r: set it anew" % record.loss_scale["scale"])
    arrays = {place: value for place, value in zip(places, filling.values) if value is not None}
    module.write(template, path, arrays, {} if numbers_only else filling.hypers)
    return filling.report


def _by_position(raw):
    """A copy of a RawState whose entries have positions, and whose config has the hyperparameters among its entries."""
    position = {str(v[0]): number for number, v in enumerate(raw.variables)}
    variables, entries = list(raw.variables), []
    for entry in raw.entries:
        number = entry.variable if isinstance(entry.variable, int) or entry.variable is None else position[entry.variable]
        entries.append(entry._replace(variable=number))
    shapes = _shapes(raw, entries)
    count = max([e.variable for e in entries if e.variable is not None] + [len(variables) - 1]) + 1
    variables += [("variable_%d" % number, None, None) for number in range(len(variables), count)]
    variables = [(v[0], shapes.get(n, v[1]), v[2]) for n, v in enumerate(variables)]
    config = dict(raw.config)
    for entry in raw.of_role("hyper"):
        config.setdefault(entry.name, float(entry.value))
    return RawState(
        raw.generation, raw.class_name, config, entries, raw.provenance, variables, raw.compiled, raw.dialect, raw.rule
    )


def _shapes(raw, entries):
    """{position: shape of the variable}, by a slot that has it."""
    from compat_opt.state.reading import table_for

    native = table_for(raw)
    declared = native.rule_class().slots()
    found = {}
    for entry in entries:
        slot = declared.get(native.slots.get(entry.name, entry.name))
        if entry.role == "slot" and slot is not None and slot.shape is None:
            found[entry.variable] = tuple(entry.value.shape)
    return found
