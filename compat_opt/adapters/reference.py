"""The reference executor: a rule in NumPy float64, no framework needed."""

import inspect

from compat_opt.adapters.hypers import source_of
from compat_opt.adapters.options import Options
from compat_opt.adapters.slots import first_array, plan_slots
from compat_opt.adapters.step import Item, plan_call
from compat_opt.adapters.update import Setting
from compat_opt.errors import GradientError, RuleError
from compat_opt.spec import UpdateRule


class Trajectory(list):
    """Values of the variables after each call: ``trajectory[call][variable]``.

    Attributes:
        initial: the variables' first values.
        slots: final slots, a list over variables of {name: array}; with use_ema also "average".
        shared: final shared scalars, {name: array}.
        iterations: number of updates made.
    """

    def __init__(self, initial, slots, shared):
        super().__init__()
        self.initial = initial
        self.slots = slots
        self.shared = shared
        self.iterations = 0


def run_reference(rule, variables, gradients, dtype="float64", exclude_from_weight_decay=(), **hypers):
    """Run a rule in NumPy and return its trajectory.

    Args:
        rule: an `UpdateRule` class or instance.
        variables: a list of array-likes, the first values.
        gradients: a list over calls of lists over variables; None where a variable has none.
        dtype: the dtype of variables and slots; complex variables stay complex.
        exclude_from_weight_decay: positions of variables that weight decay leaves alone.
        **hypers: hyperparameters (numbers, or functions of the number of finished updates) and
            the options of compiled optimizers: clipnorm, use_ema, gradient_accumulation_steps...

    Returns:
        A `Trajectory` of arrays of `dtype`.

    Raises:
        ArgumentError: an unknown keyword.
        GradientError: a gradient that is not finite, of another shape, or a wrong number of them.
    """
    import numpy as np

    from compat_opt.ops import Ops
    from compat_opt.ops.numpy_executor import NumpyExecutor

    options = Options(**{n: hypers.pop(n) for n in Options.names() if n in hypers})
    rule, schedules = _instance(rule, hypers)
    executor = NumpyExecutor()
    values = [_array(np, value, dtype) for value in variables]
    slots = [_first_slots(np, rule, options, value) for value in values]
    shared = {name: np.asarray(s.init, s.dtype)[()] for name, s in rule.shared().items()}
    if dtype == "float64":
        shared = {name: np.float64(s.init) for name, s in rule.shared().items()}
    trajectory = Trajectory([value.copy() for value in values], slots, shared)
    calls, micro_step = [0] * len(values), 0
    for number, row in enumerate(gradients):
        row = _checked_row(np, rule, number, row, values, options)
        items = [
            Item("variables[%d]" % i, i, values[i], row[i], slots[i], i not in exclude_from_weight_decay, calls=calls[i])
            for i in range(len(values))
        ]
        scalars = {
            name: schedules[name](trajectory.iterations) if name in schedules else getattr(rule, name)
            for name, hyper in rule.hypers().items()
            if not hyper.static
        }
        due, on_due, otherwise = plan_call(
            [Setting(rule, scalars, shared)], options, lambda: Ops(executor), items, trajectory.iterations, micro_step
        )
        outcome = on_due() if due is None or due else otherwise()
        present = [i for i in range(len(values)) if due is not None or row[i] is not None]
        for position, i in enumerate(present):
            values[i] = np.asarray(outcome.variables.get(position, values[i]))
            slots[i].update((n, np.asarray(v)) for n, v in outcome.slots.get(position, {}).items())
            calls[i] = outcome.calls.get(position, calls[i])
        shared.update(
            {name: np.float64(v) if dtype == "float64" else v for name, v in outcome.shared.items()}
        )
        trajectory.iterations = trajectory.iterations if outcome.iterations is None else outcome.iterations
        micro_step = 0 if outcome.micro_step is None else outcome.micro_step
        trajectory.append([value.copy() for value in values])
    return trajectory


def _instance(rule, hypers):
    """The rule with its numbers, and the hypers that are functions of the step."""
    if isinstance(rule, type) and issubclass(rule, UpdateRule):
        cls, given = rule, {}
    elif isinstance(rule, UpdateRule):
        cls, given = type(rule), {name: getattr(rule, name) for name in rule.hypers()}
    else:
        raise RuleError(
            "This is no rule.", "an UpdateRule class or instance", "rule=%r" % (rule,)
        )
    given.update(hypers)
    declared = cls.hypers()
    for name, value in given.items():
        if name in declared and not declared[name].static:
            source_of(name, value, declared[name], cls.__name__)
    schedules = {
        n: _by_step(v) for n, v in given.items() if callable(v) and n in declared and not declared[n].static
    }
    return cls(**given), schedules


def _by_step(function):
    """`function` as a function of the step, also where it takes no argument."""
    try:
        takes_step = bool(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        takes_step = True
    return function if takes_step else lambda step: function()


def _array(np, value, dtype):
    array = np.array(value)
    if np.iscomplexobj(array):
        return array.astype(np.result_type(dtype, np.complex64))
    return array.astype(dtype)


def _first_slots(np, rule, options, value):
    """The first slots, floating ones in the dtype of the reference whatever the rule declares."""
    slots = {}
    for plan in plan_slots(rule, options, value.shape, value.dtype.name):
        array = first_array(np, plan, value)
        real = array.dtype.kind == "f" and value.dtype.kind == "f"
        slots[plan.name] = array.astype(value.dtype) if real else array
    return slots


def _checked_row(np, rule, number, row, values, options):
    row = list(row)
    where = "gradients[%d]" % number
    if len(row) != len(values):
        raise GradientError(
            "%s does not fit the variables." % where,
            "%d gradients" % len(values),
            "%d gradients" % len(row),
        )
    if all(gradient is None for gradient in row):
        raise GradientError("%s has no gradient for any variable." % where)
    checked = []
    for i, gradient in enumerate(row):
        if gradient is None:
            checked.append(None)
            continue
        array = np.asarray(gradient)
        if array.shape != values[i].shape:
            raise GradientError(
                "%s[%d] has another shape than its variable." % (where, i),
                "shape %s" % (values[i].shape,),
                "shape %s" % (array.shape,),
            )
        if not np.all(np.isfinite(array)):
            raise GradientError(
                "%s[%d] is not finite." % (where, i),
                "finite numbers",
                "%d NaN or infinite elements of %d" % (np.sum(~np.isfinite(array)), array.size),
                "The update of %s would carry it into the variable and its slots."
                % type(rule).__name__,
            )
        array = array.astype(values[i].dtype)
        checked.append(array / options.loss_scale_factor if options.loss_scale_factor else array)
    return checked
