"""One update of all variables: clip, measure, prepare, then the rule for each of them."""

import contextlib
import functools

from compat_opt.adapters.contract import check_scalars, checked_update
from compat_opt.adapters.namespace import Namespace
from compat_opt.errors import RuleError
from compat_opt.ops import Value, dtypes


class Setting:
    """A rule with its values at one step: for the variables of no group, or for those of one.

    Attributes:
        rule: an `UpdateRule`.
        scalars: {hyperparameter: its value at this step, or None}.
        shared: {name: value} of the shared scalars.
        prefix: what the names of its shared scalars start with in an `Outcome`.
    """

    __slots__ = "rule scalars shared prefix".split()

    def __init__(self, rule, scalars, shared, prefix=""):
        self.rule = rule
        self.scalars = scalars
        self.shared = shared
        self.prefix = prefix


class Outcome:
    """What a call changes; whatever is not mentioned keeps its value.

    Attributes:
        variables: {position in the items: new value}.
        slots: {position in the items: {slot name: new value}}.
        calls: {position in the items: new count}.
        shared: {name with the prefix of its setting: new value}.
        iterations, micro_step: new counts, or None.
        in_place: ops that have changed variables and slots already; their entries are empty.
    """

    __slots__ = "variables slots calls shared iterations micro_step in_place".split()

    def __init__(self):
        self.variables = {}
        self.slots = {}
        self.calls = {}
        self.shared = {}
        self.iterations = None
        self.micro_step = None
        self.in_place = []


class Lowering:
    """How updates are carried out; this one calls the rule once for each variable.

    Engines have subclasses that join small variables, compile, or call fused kernels.
    """

    def groups(self, items):
        """Lists of positions in `items`; the variables of a list are updated as one vector."""
        return [[position] for position in range(len(items))]

    def update(self, positions, apply, ops, hyper, gradient, value, slots):
        """``apply(ops, hyper, gradient, value, slots)`` -> (new value, {name: new slot})."""
        return apply(ops, hyper, gradient, value, slots)

    def in_place(self, position, hyper, gradient):
        """An op that updates the variable and its slots in place, or None."""
        return None

    def finish(self):
        """Do what `in_place` put off until all variables had been looked at."""

    def place(self, position):
        """A context in which what concerns one variable is computed: its device, where they differ."""
        return contextlib.nullcontext()


def gradient_value(ops, item):
    """An item's gradient in the compute dtype of its variable."""
    return ops.astype(Value(item.gradient, ops), dtypes.compute_dtype(ops.executor.dtype(item.variable)))


def update_all(settings, options, ops, items, iterations, lowering, gradients=None):
    """Update every item.

    Args:
        settings, options, ops, iterations, lowering: as for `step.plan_call`.
        items: those that have a gradient.
        gradients: Values in place of the items' own gradients (their means, when accumulating).

    Returns:
        An `Outcome`.
    """
    if gradients is None:
        gradients = [gradient_value(ops, item) for item in items]
    gradients = clip(ops, gradients, options, lowering.place)
    for position, item in enumerate(items):
        if item.finish is not None:
            with lowering.place(position):
                gradients[position] = item.finish(gradients[position])
    step = ops.scalar(iterations) + 1.0
    ops.entropy = (step.raw,)
    per_variable, values, slots = [], [], []
    owners = [(type(setting.rule).__name__, list(setting.rule.slots())) for setting in settings]
    for item in items:
        owner, names = owners[item.section]
        each = ops.for_variable(dtypes.compute_dtype(ops.executor.dtype(item.variable)), item.index)
        own = {name: Value(item.slots[name], each) for name in names if name in item.slots}
        per_variable.append(each)
        values.append(each.astype(Value(item.variable, each), each.compute_dtype))
        slots.append(Namespace(owner, "slots", own))
    outcome, hypers = Outcome(), {}
    for number, setting in enumerate(settings):
        own = [position for position, item in enumerate(items) if item.section == number]
        if own:
            inputs = (per_variable, items, gradients, values, slots)
            measure = functools.partial(_measured, setting.rule.for_step(), ops, own, inputs, lowering.place)
            hypers[number] = step_scalars(setting, ops, step, outcome, measure)

    def apply_to(item):
        rule = settings[item.section].rule
        stepping = rule.for_step()

        def apply(each, hyper, gradient, value, slots):
            if item.decays and hyper.get("weight_decay") is not None:
                value = value - value * (hyper.weight_decay * hyper.get("learning_rate", 1.0))
            returned = stepping.update(gradient, value, slots, hyper, each)
            return checked_update(rule, item.name, value, slots, returned, each)

        return apply

    for positions in lowering.groups(items):
        first = positions[0]
        hyper = hypers[items[first].section]
        with lowering.place(first):
            if len(positions) == 1:
                item, each = items[first], per_variable[first]
                op = lowering.in_place(first, hyper, gradients[first])
                if op is not None:
                    outcome.in_place.append(op)
                    outcome.variables[first] = None
                    outcome.slots[first] = {}
                    continue
                parts = (gradients[first], values[first], slots[first])
            else:
                item, each, parts = join(ops, positions, items, gradients, values, slots)
            new_value, new_slots = lowering.update(positions, apply_to(item), each, hyper, *parts)
            new_slots = {n: each.unwrap(v, parts[2][n].dtype) for n, v in new_slots.items()}
            new_variable = _finish(options, each, item, new_value, step, new_slots)
            if len(positions) == 1:
                outcome.variables[first], outcome.slots[first] = new_variable, new_slots
            else:
                split(each, positions, items, new_variable, new_slots, outcome)
    outcome.iterations = iterations + 1
    return outcome


def join(ops, positions, items, gradients, values, slots):
    """Several items as one: their elements in one vector.

    Returns:
        ``(item, ops, (gradient, value, slots))`` of the vector.
    """
    first = items[positions[0]]
    each = ops.for_variable(gradients[positions[0]].dtype, first.index)

    def joined(of):
        return Value(ops.executor.join([of(position) for position in positions]), each)

    names = list(slots[positions[0]])
    own = {name: joined(lambda p: slots[p][name].raw) for name in names}
    engine_slots = {}
    if "average" in first.slots:
        engine_slots["average"] = joined(lambda p: items[p].slots["average"]).raw
    # Of `variable` only the dtype is looked at from here on.
    name = "%s and %d others" % (first.name, len(positions) - 1)
    item = type(first)(name, first.index, first.variable, None, engine_slots, first.decays, section=first.section)
    gradient = joined(lambda p: gradients[p].raw)
    value = joined(lambda p: values[p].raw)
    return item, each, (gradient, value, Namespace("rule", "slots", own))


def split(ops, positions, items, new_variable, new_slots, outcome):
    """Write a joined result into the outcome, each variable's part in its own shape."""
    shapes = [ops.executor.shape(items[p].variable) for p in positions]
    for position, part in zip(positions, ops.executor.split(new_variable, shapes)):
        outcome.variables[position] = part
        outcome.slots[position] = {}
    for name, vector in new_slots.items():
        for position, part in zip(positions, ops.executor.split(vector, shapes)):
            outcome.slots[position][name] = part


def clip(ops, gradients, options, place):
    """The gradients (Values) after the one kind of clipping that is on; `place` as in `Lowering`."""

    def each(function):
        clipped = []
        for position, gradient in enumerate(gradients):
            with place(position):
                clipped.append(function(gradient))
        return clipped

    if options.clipvalue is not None:
        limit = abs(options.clipvalue)
        return each(lambda g: ops.clip(g, -limit, limit))
    if options.clipnorm is not None:
        return each(lambda g: _scaled(ops, g, ops.vector_norm(g), options.clipnorm))
    if options.global_clipnorm is not None:
        squares = each(lambda g: ops.scalar(ops.vector_norm(g).raw))
        total = squares[0] * squares[0]
        for norm in squares[1:]:
            total = total + norm * norm
        norm = ops.sqrt(total)
        return each(lambda g: _scaled(ops, g, norm, options.global_clipnorm))
    return list(gradients)


def _scaled(ops, gradient, norm, limit):
    """gradient * limit / max(norm, limit): unchanged up to the limit; NaN stays NaN."""
    return gradient * (limit / ops.maximum(norm, limit))


def step_scalars(setting, ops, step, outcome, measure=None):
    """`hyper` for the items of one setting; new shared scalars go into the outcome.

    Args:
        setting, ops, outcome: as above.
        step: the number of this step, a Value.
        measure: function of `hyper` -> {name: scalar Value}; needed where the rule overrides `measure`.
    """
    rule = setting.rule
    hyper = Namespace(type(rule).__name__, "hyper", {"step": step})
    for name, declared in rule.hypers().items():
        if declared.static:
            hyper.add(name, getattr(rule, name))
        else:
            value = setting.scalars[name]
            hyper.add(name, None if value is None else ops.scalar(value))
    if rule.overrides("measure"):
        hyper.add_all({name: ops.scalar(setting.shared[name]) for name in rule.shared()})
        hyper.add_all(measure(hyper))
    _prepare(setting, rule.for_step(), ops, hyper, outcome)
    return hyper


def _measured(stepping, ops, positions, inputs, place, hyper):
    per_variable, items, gradients, values, slots = inputs
    sums = {}
    for position in positions:
        with place(position):
            measured = stepping.measure(
                gradients[position], values[position], slots[position], hyper, per_variable[position]
            )
        check_scalars(stepping, "measure", measured)
        for name, number in measured.items():
            number = ops.scalar(number.raw if isinstance(number, Value) else number)
            if number.shape != ():
                raise RuleError(
                    "measure() returned %r with a shape." % name,
                    "a scalar",
                    "shape=%s for variable %s" % (number.shape, items[position].name),
                    "Reduce it with ops.sum.",
                )
            sums[name] = number if name not in sums else sums[name] + number
    return sums


def _prepare(setting, stepping, ops, hyper, outcome):
    """Run prepare(); its scalars go into `hyper`, those declared Shared into the outcome."""
    rule = setting.rule
    if not rule.overrides("prepare"):
        return
    declared = rule.shared()
    present = Namespace(
        type(rule).__name__, "shared", {name: ops.scalar(setting.shared[name]) for name in declared}
    )
    prepared = stepping.prepare(present, hyper, ops)
    check_scalars(rule, "prepare", prepared)
    for name, number in prepared.items():
        value = ops.scalar(number.raw if isinstance(number, Value) else number)
        hyper.add(name, value)
        if name in declared:
            outcome.shared[setting.prefix + name] = ops.unwrap(value, declared[name].dtype)


def _finish(options, ops, item, new_value, step, new_slots):
    """The new value in the variable's dtype, after moving average, overwriting and constraint."""
    storage = ops.executor.dtype(item.variable)
    stored = ops.unwrap(new_value, storage)
    if options.use_ema:
        momentum = options.ema_momentum
        now = ops.astype(Value(stored, ops), ops.compute_dtype)
        average = Value(item.slots["average"], ops) * momentum + now * (1.0 - momentum)
        new_slots["average"] = average.raw
        if options.ema_overwrite_frequency:
            every = float(options.ema_overwrite_frequency)
            due = step == every * ops.floor(step / every)
            stored = ops.unwrap(ops.where(due, average, now), storage)
    if item.constraint is not None:
        stored = item.constraint(stored)
    return stored
