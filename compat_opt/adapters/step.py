"""One optimizer step as a pure function of values: what every generation and the reference share.

The order is the package's contract: sum and scale gradients, accumulate, clip, evaluate
hyperparameters, measure, prepare; then per variable weight decay and update; then the moving
average, overwriting and constraints. An adapter reads values from its variables, calls
`plan_call`, and writes the outcome back.
"""

from compat_opt.adapters.update import Lowering, Outcome, gradient_value, update_all
from compat_opt.ops import Value


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
        finish: None, or what is done with the gradient after clipping.
        section: number of the `Setting` that it is updated by.
    """

    __slots__ = "name index variable gradient slots decays constraint calls finish section".split()

    def __init__(
        self,
        name,
        index,
        variable,
        gradient,
        slots,
        decays=True,
        constraint=None,
        calls=None,
        finish=None,
        section=0,
    ):
        self.name = name
        self.index = index
        self.variable = variable
        self.gradient = gradient
        self.slots = slots
        self.decays = decays
        self.constraint = constraint
        self.calls = calls
        self.finish = finish
        self.section = section


def plan_call(settings, options, ops, items, iterations, micro_step=None, lowering=Lowering()):
    """What one call of apply_gradients does.

    Args:
        settings: a list of `Setting`: rules with the values of this step.
        options: the `Options` of the optimizer.
        ops: a function that makes the `Ops` of one branch.
        items: a list of `Item`; with accumulation, of all variables of the optimizer.
        iterations, micro_step: the counts before this call.
        lowering: how the updates are carried out; the default calls the rule for each variable.

    Returns:
        ``(due, on_due, otherwise)``: `due` is None where every call is a step, else a boolean
        scalar; the other two are functions without arguments that return an `Outcome`.
    """
    if options.gradient_accumulation_steps in (None, 1):
        present = [item for item in items if item.gradient is not None]
        return None, lambda: update_all(settings, options, ops(), present, iterations, lowering), None
    count = options.gradient_accumulation_steps

    def accumulated(each):
        sums = []
        for item in items:
            total = Value(item.slots["accumulator"], each)
            sums.append(total if item.gradient is None else total + gradient_value(each, item))
        return sums

    def on_due():
        each = ops()
        means = [total / count for total in accumulated(each)]
        outcome = update_all(settings, options, each, items, iterations, lowering, means)
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
