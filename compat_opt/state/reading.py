"""From what a file or an optimizer holds, a RawState, to a record with the rule's names."""

import collections
import re

from compat_opt.adapters.options import Options
from compat_opt.errors import StateError
from compat_opt.state import conversions, natives
from compat_opt.state.natives.entry import Native, rule_named
from compat_opt.state.record import StateRecord


def to_record(raw, rule=None):
    """The `StateRecord` of a `RawState`.

    Args:
        raw: a `RawState`; its entries have values.
        rule: the `UpdateRule` class of a compiled optimizer whose rule is none of the shipped ones.

    Raises:
        StateError: a name that no table knows, an array of a wrong shape, or a value that can't be
            converted.
    """
    native = table_for(raw, rule)
    paths = _Paths(raw)
    hypers = _hypers(raw, native)
    present = _present_rate(raw)
    record = StateRecord(
        native.rule_class().__name__,
        hypers=hypers,
        options=_options(raw.config),
        provenance=dict(raw.provenance, generation=raw.generation, class_name=raw.class_name),
    )
    formula = native.formula(raw.provenance.get("backend"))
    if formula:
        record.provenance["formula"] = formula
    _counts(raw, record)
    shapes = paths.shapes(raw, native)
    for entry in raw.entries:
        if entry.role == "unknown":
            raise StateError(
                "Nothing says what entry %s is." % (entry.name or "number %s" % entry.index),
                "state of %s %s" % (raw.generation, raw.class_name),
                "an array of shape %s" % (getattr(entry.value, "shape", None),),
            )
        _take(entry, raw, native, paths, shapes, record, lambda: conversions.learning_rate_of(hypers, present))
    for name, how in native.recomputed.items():
        if name not in record.shared:
            value = conversions.scalar(how, _with_defaults(native, hypers), record.iterations, name)
            record.shared[name] = _scalar(value)
    record.variables = paths.variables(shapes)
    return record


def table_for(raw, rule=None):
    """The `Native` of a RawState; one with the rule's own names for a compiled optimizer."""
    if not raw.compiled:
        return natives.find(raw.generation, raw.class_name, raw.dialect)
    cls = rule or (type(raw.rule) if raw.rule is not None else rule_named(raw.class_name))
    # Beside the rule's own there are those of its groups, which may have other rules.
    slots = list(cls.slots()) + [entry.name for entry in raw.of_role("slot")]
    shared = list(cls.shared()) + [entry.name for entry in raw.of_role("shared")]
    return Native(cls, {name: name for name in slots}, shared={name: name for name in shared})


def is_of_group(name):
    """Whether the name of a scalar says that it is a group's: ``group_1_beta_1``."""
    return re.match(r"group_\d+_", name) is not None


def has_groups(raw):
    """Whether a compiled optimizer's variables are in groups."""
    return any(is_of_group(entry.name) for entry in raw.of_role("hyper", "shared"))


def _scalar(value):
    import numpy as np

    return np.asarray(value, "float64")


def _with_defaults(native, hypers):
    defaults = {name: hyper.default for name, hyper in native.rule_class().hypers().items()}
    return dict(defaults, **hypers)


class _Paths:
    """Positions and paths of the variables that entries belong to."""

    def __init__(self, raw):
        self.given = list(raw.variables)
        self.paths = [str(v[0]) for v in self.given]
        if not self.given:
            for entry in raw.entries:
                if entry.variable is not None and self._path(entry.variable) not in self.paths:
                    self.paths.append(self._path(entry.variable))

    def _path(self, variable):
        return "variable_%d" % variable if isinstance(variable, int) else variable

    def of(self, entry):
        """The path that an entry belongs to."""
        if isinstance(entry.variable, int) and self.given:
            return self.paths[entry.variable]
        return self._path(entry.variable)

    def shapes(self, raw, native):
        """{path: (shape, dtype name)}: as given, else those of a slot that has the variable's shape."""
        known = {}
        for path, shape, dtype in self.given:
            known[str(path)] = (None if shape is None else tuple(shape), dtype)
        declared = native.rule_class().slots()
        for entry in raw.entries:
            if entry.variable is None or entry.value is None:
                continue
            slot = declared.get(native.slots.get(entry.name, entry.name))
            whole = entry.role in ("average", "accumulator") and entry.name != "calls"
            if whole or (entry.role == "slot" and slot is not None and slot.shape is None):
                path, found = self.of(entry), (tuple(entry.value.shape), str(entry.value.dtype))
                shape, dtype = known.get(path, (None, None))
                known[path] = (found[0] if shape is None else shape, dtype or found[1])
        return known

    def variables(self, shapes):
        """The list of (path, shape, dtype)."""
        from compat_opt.state.record import Variable

        return [Variable(path, *shapes.get(path, (None, None))) for path in self.paths]


def _hypers(raw, native):
    """{name: number, plain value or config of a schedule}."""
    hypers = native.hypers_of(raw.config)
    hypers.update({name: value for name, value in raw.config.items() if is_of_group(name)})
    if raw.config.get("decay") and "decay" not in native.hypers:
        hypers["decay"] = raw.config["decay"]
    for entry in raw.of_role("hyper"):
        name, number = native.hypers.get(entry.name, entry.name), float(entry.value)
        if number != number or isinstance(hypers.get(name), dict) and not raw.compiled:
            continue  # NaN stands for a schedule; elsewhere it is the schedule's last value
        known = name in native.rule_class().hypers() or is_of_group(name)
        if not known and (name != "decay" or not number):
            continue
        if raw.compiled and isinstance(hypers.get(name), float) and _rounds_to(hypers[name], number):
            continue  # JAX keeps numbers in float32; the config has all digits
        if name not in native.implied(raw.config):
            hypers[name] = number
    return hypers


def _rounds_to(exact, rounded):
    import numpy as np

    return float(np.float32(exact)) == rounded


def _present_rate(raw):
    for entry in raw.of_role("hyper"):
        if entry.name == "learning_rate" and float(entry.value) == float(entry.value):
            return float(entry.value)
    return None


def _options(config):
    """The options of a config that are not the default."""
    defaults = Options().as_dict()
    own = ("jit_compile", "name")
    return {n: config[n] for n in defaults if n in config and n not in own and config[n] not in (defaults[n], None)}


def _counts(raw, record):
    for entry in raw.of_role("iteration"):
        record.iterations = int(entry.value)
    steps = raw.config.get("gradient_accumulation_steps")
    if raw.generation == "keras3" and not raw.compiled and steps:
        record.iterations, record.micro_step = conversions.counted_updates(record.iterations, steps)


def _take(entry, raw, native, paths, shapes, record, rate):
    """Put one entry into the record."""
    if entry.role == "shared" and entry.name in native.shared:
        record.shared[native.shared[entry.name]] = entry.value
    elif entry.role == "shared":
        raise StateError("No table knows the scalar %r of %s." % (entry.name, raw.class_name))
    elif entry.role == "average":
        # Keras 3's averages are zeros until the first step.
        if raw.compiled or raw.generation != "keras3" or record.iterations or record.micro_step:
            record.averages[paths.of(entry)] = entry.value
    elif entry.role == "accumulator" and entry.name == "micro_step":
        record.micro_step = int(entry.value)
    elif entry.role == "accumulator" and entry.name == "calls":
        record.calls[paths.of(entry)] = int(entry.value)
    elif entry.role == "accumulator":
        record.accumulators[paths.of(entry)] = entry.value
    elif entry.role == "slot":
        _take_slot(entry, raw, native, paths, shapes, record, rate)


def _take_slot(entry, raw, native, paths, shapes, record, rate):
    path = paths.of(entry)
    if entry.name not in native.slots:
        raise StateError(
            "No table knows the slot %r of %s %s." % (entry.name, raw.generation, raw.class_name),
            "one of %s" % ", ".join(native.slots),
            "%r of %s" % (entry.name, path),
        )
    shape = shapes.get(path, (None, None))[0]
    own, array = native.slots[entry.name], entry.value
    if own is None:
        return
    if shape is not None and not _check_slot(entry, own, raw, native, path, shape):
        return
    if entry.name in native.conversions:
        array = conversions.SLOTS[native.conversions[entry.name]][0](array, rate)
    record.slots.setdefault(path, collections.OrderedDict())[own] = array


def _check_slot(entry, own, raw, native, path, shape):
    """Whether the rule has this slot; False for a placeholder, an error for anything else."""
    if raw.compiled:  # its slots are those of its first hyperparameters, which may have been set since
        has = native.rule_class().slots()
    elif not raw.config:
        has = _possible_slots(native, shape)
    else:
        has = native.rule_for(raw.config).slots_for(shape)
    if own not in has:
        if entry.name in native.placeholders:
            return False
        if raw.compiled and has_groups(raw):
            return True  # a slot of a group's own rule
        raise StateError(
            "%s has a slot %r that the rule %s does not give it."
            % (path, entry.name, native.rule_class().__name__),
            "one of %s" % (", ".join(has) or "no slots"),
            "%r of shape %s" % (entry.name, tuple(entry.value.shape)),
            "Does the class treat this variable otherwise than its shape says?",
        )
    expected = tuple(has[own].shape_for(shape))
    if tuple(entry.value.shape) != expected:
        raise StateError(
            "The slot %r of %s has a wrong shape." % (entry.name, path),
            "shape %s" % (expected,),
            "shape %s" % (tuple(entry.value.shape),),
        )
    return True


def _possible_slots(native, shape):
    """Without a config: every slot that some choice of hyperparameters gives a variable of `shape`.

    Conditions that look at the shape alone hold; those on hyperparameters count as met.
    """
    rule = native.rule_class()
    found = {}
    for name, slot in rule.slots().items():
        by_shape = [s for s in ((), (2,), (2, 2), (2, 2, 2)) if slot.exists_for(rule(), s)]
        if not by_shape or slot.exists_for(rule(), shape):
            found[name] = slot
    return found
