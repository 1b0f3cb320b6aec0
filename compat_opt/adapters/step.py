"""One optimizer step as a pure function of values: what every generation and the reference share.

The order is the package's contract: sum and scale gradients, accumulate, clip, evaluate
hyperparameters, measure, prepare; then per variable weight decay and update; then the moving
average, overwriting and constraints. An adapter reads values from its variables, calls
`plan_call`, and writes the outcome back.
"""

from compat_opt.adapters.namespace import Namespace
from compat_opt.errors import RuleError
from compat_opt.ops import Value, dtypes


class Item:
    """One variable in one call.

    Attributes:
        name: the variable's name, for messages.
        index: its position among the optimizer's variables.
        variable: its value.
        gradient: its dense gradient, or None where this call has none.
        slots: {name: value}, the rule's slots and then the engine's.
        decays: whether weight decay applies to it.
        constraint: None or a function of the new value.
        calls: number of calls accumulated so far, where gradients are accumulated.
    """

    __slots__ = "name index variable gradient slots decays constraint calls".split()

    def __init__(self, name, index, variable, gradient, slots, decays=True, constraint=None, calls=None):
        self.name = name
        self.index = index
        self.variable = variable
        self.gradient = gradient
        self.slots = slots
        self.decays = decays
        self.constraint = constraint
        self.calls = calls


class Outcome:
    """What a call changes; whatever is not mentioned keeps its value.

    Attributes:
        variables: {position in the items: new value}.
        slots: {position in the items: {slot name: new value}}.
        calls: {position in the items: new count}.
        shared: {name: new value}.
        iterations, micro_step: new counts, or None.
    """

    __slots__ = "variables slots calls shared iterations micro_step".split()

    def __init__(self):
        self.variables = {}
        self.slots = {}
        self.calls = {}
        self.shared = {}
        self.iterations = None
        self.micro_step = None


def plan_call(rule, options, ops, items, scalars, shared, iterations, micro_step=None):
    """What one call of apply_gradients does.

    Args:
        rule: an `UpdateRule`.
        options: the `Options` of the optimizer.
        ops: a function that makes the `Ops` of one branch.
        items: a list of `Item`; with accumulation, of all variables of the optimizer.
        scalars: {hyperparameter: its value at this step, or None}.
        shared: {name: value} of the shared scalars.
        iterations, micro_step: the counts before this call.

    Returns:
        ``(due, on_due, otherwise)``: `due` is None where every call is a step, else a boolean
        scalar; the other two are functions without arguments that return an `Outcome`.
    """
    if options.gradient_accumulation_steps in (None, 1):
        present = [item for item in items if item.gradient is not None]
        return None, lambda: _step(rule, options, ops(), present, scalars, shared, iterations), None
    count = options.gradient_accumulation_steps

    def accumulated(each):
        sums = []
        for item in items:
            total = Value(item.slots["accumulator"], each)
            sums.append(total if item.gradient is None else total + _gradient(each, item))
        return sums

    def on_due():
        each = ops()
        means = [total / count for total in accumulated(each)]
        outcome = _step(rule, options, each, items, scalars, shared, iterations, means)
        for position, item in enumerate(items):
            kept = outcome.slots[position]
            if item.gradient is None:
                _keep_untouched(each, item, position, outcome)
            kept["accumulator"] = each.zeros_like(each.wrap(item.slots["accumulator"])).raw
            outcome.calls[position] = item.calls * 0
        outcome.micro_step = micro_step * 0
        return outcome

    def otherwise():
        outcome = Outcome()
        for position, (item, total) in enumerate(zip(items, accumulated(ops()))):
            if item.gradient is not None:
                outcome.slots[position] = {"accumulator": total.raw}
                outcome.calls[position] = item.calls + 1
        outcome.micro_step = micro_step + 1
        return outcome

    return micro_step + 1 >= count, on_due, otherwise


def _keep_untouched(ops, item, position, outcome):
    """A variable that got no gradient in any of the accumulated calls does not move."""
    touched = item.calls > 0
    where = ops.executor.function("where")
    outcome.variables[position] = where(touched, outcome.variables[position], item.variable)
    for name, value in outcome.slots[position].items():
        outcome.slots[position][name] = where(touched, value, item.slots[name])


def _gradient(ops, item):
    return ops.astype(Value(item.gradient, ops), dtypes.compute_dtype(ops.executor.dtype(item.variable)))


def _step(rule, options, ops, items, scalars, shared, iterations, gradients=None):
    """One update of every item."""
    stepping = rule.for_step()
    if gradients is None:
        gradients = [_gradient(ops, item) for item in items]
    gradients = clip(ops, gradients, options)
    step = ops.scalar(iterations) + 1.0
    ops.entropy = (step.raw,)
    hyper = Namespace(type(rule).__name__, "hyper", {"step": step})
    for name, declared in rule.hypers().items():
        if declared.static:
            hyper.add(name, getattr(rule, name))
        else:
            hyper.add(name, None if scalars[name] is None else ops.scalar(scalars[name]))
    declared_slots = rule.slots()
    per_variable = [
        ops.for_variable(dtypes.compute_dtype(ops.executor.dtype(item.variable)), item.index)
        for item in items
    ]
    values = [each.astype(Value(item.variable, each), each.compute_dtype) for each, item in zip(per_variable, items)]
    slots = [
        Namespace(
            type(rule).__name__,
            "slots",
            {name: Value(item.slots[name], each) for name in declared_slots if name in item.slots},
        )
        for each, item in zip(per_variable, items)
    ]
    if rule.overrides("measure"):
        hyper.add_all({name: ops.scalar(shared[name]) for name in rule.shared()})
        hyper.add_all(_measured(stepping, ops, per_variable, items, gradients, values, slots, hyper))
    outcome = Outcome()
    _prepare(rule, stepping, ops, shared, hyper, outcome)
    for position, item in enumerate(items):
        each = per_variable[position]
        value = values[position]
        if item.decays and hyper.get("weight_decay") is not None:
            value = value - value * (hyper.weight_decay * hyper.get("learning_rate", 1.0))
        returned = stepping.update(gradients[position], value, slots[position], hyper, each)
        new_value, new_slots = _checked(rule, item, value, slots[position], returned, each)
        outcome.slots[position] = {
            name: each.unwrap(new, slots[position][name].dtype) for name, new in new_slots.items()
        }
        outcome.variables[position] = _finish(options, each, item, new_value, step, outcome.slots[position])
    outcome.iterations = iterations + 1
    return outcome


def clip(ops, gradients, options):
    """The gradients (Values) after the one kind of clipping that is on."""
    if options.clipvalue is not None:
        limit = abs(options.clipvalue)
        return [ops.clip(gradient, -limit, limit) for gradient in gradients]
    if options.clipnorm is not None:
        return [_scaled(ops, g, ops.vector_norm(g), options.clipnorm) for g in gradients]
    if options.global_clipnorm is not None:
        squares = [ops.scalar(ops.vector_norm(gradient).raw) for gradient in gradients]
        total = squares[0] * squares[0]
        for norm in squares[1:]:
            total = total + norm * norm
        norm = ops.sqrt(total)
        return [_scaled(ops, gradient, norm, options.global_clipnorm) for gradient in gradients]
    return gradients


def _scaled(ops, gradient, norm, limit):
    """gradient * limit / max(norm, limit): unchanged up to the limit; NaN stays NaN."""
    return gradient * (limit / ops.maximum(norm, limit))


def _measured(stepping, ops, per_variable, items, gradients, values, slots, hyper):
    sums = {}
    for position, each in enumerate(per_variable):
        measured = stepping.measure(gradients[position], values[position], slots[position], hyper, each)
        if not isinstance(measured, dict):
            raise RuleError(
                "measure() returned no dict.", "{name: scalar}", "%s" % type(measured).__name__
            )
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


def _prepare(rule, stepping, ops, shared, hyper, outcome):
    """Run prepare(); its scalars go into `hyper`, those declared Shared into the outcome."""
    if not rule.overrides("prepare"):
        return
    declared = rule.shared()
    present = Namespace(
        type(rule).__name__, "shared", {name: ops.scalar(shared[name]) for name in declared}
    )
    prepared = stepping.prepare(present, hyper, ops)
    if not isinstance(prepared, dict):
        raise RuleError(
            "%s.prepare() returned no dict." % type(rule).__name__,
            "{name: scalar}",
            "%s" % type(prepared).__name__,
        )
    for name, number in prepared.items():
        value = ops.scalar(number.raw if isinstance(number, Value) else number)
        hyper.add(name, value)
        if name in declared:
            outcome.shared[name] = ops.unwrap(value, declared[name].dtype)


def _checked(rule, item, value, slots, returned, ops):
    """What update() returned, after checking it against the contract."""
    where = "%s.update() for variable %s" % (type(rule).__name__, item.name)
    if not (isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], dict)):
        raise RuleError(
            "%s returned something else than a pair." % where,
            "(new_var, {slot name: new value})",
            "a %s" % type(returned).__name__
            + (" of %d" % len(returned) if isinstance(returned, (tuple, list)) else ""),
            "Without slots, return new_var, {}.",
        )
    new_value, new_slots = returned
    for name in new_slots:
        if name not in slots:
            declared = name in rule.slots()
            raise RuleError(
                "%s returned the slot %r, which %s."
                % (where, name, "this variable does not have" if declared else "is not declared"),
                "some of %s" % (", ".join(slots) or "no slots"),
                "{%r: ...}" % name,
                "Test with `%r in slots` first." % name
                if declared
                else "Declare it in the class: %s = Slot()." % name,
            )
    for name, new, old in [("new_var", new_value, value)] + [
        ("slot %s" % name, new, slots[name]) for name, new in new_slots.items()
    ]:
        shape = ops.executor.shape(new.raw) if isinstance(new, Value) else getattr(new, "shape", ())
        if tuple(shape) != tuple(old.shape):
            raise RuleError(
                "%s returned %s with another shape." % (where, name),
                "shape %s" % (tuple(old.shape),),
                "shape %s" % (tuple(shape),),
            )
    return new_value, new_slots


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
