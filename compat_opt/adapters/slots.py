"""Which state a variable gets, and how each piece starts."""

import collections

#: One slot of one variable. `start` is "fill" (with `value`, a number), "variable" (a copy of the
#: variable's first value) or "call" (`value`, a function without arguments, returns an array-like).
SlotPlan = collections.namedtuple("SlotPlan", "name shape dtype start value")

_FILLS = {"zeros": 0, "ones": 1}


def plan_slots(rule, options, shape, compute_dtype):
    """The slots of a variable of `shape`: the rule's, then those of the options, in order.

    Args:
        rule: an `UpdateRule`.
        options: the `Options` of the optimizer.
        shape: the variable's shape, a tuple of ints.
        compute_dtype: the dtype in which the variable is updated.

    Returns:
        A list of `SlotPlan`.
    """
    plans = []
    for name, slot in rule.slots_for(shape).items():
        slot_shape, dtype = slot.shape_for(shape), slot.dtype_for(compute_dtype)
        if callable(slot.init):
            start, value = "call", _caller(slot.init, slot_shape, dtype)
        elif slot.init == "variable":
            start, value = "variable", None
        else:
            start, value = "fill", _FILLS.get(slot.init, slot.init)
        plans.append(SlotPlan(name, slot_shape, dtype, start, value))
    if options.use_ema:
        plans.append(SlotPlan("average", tuple(shape), compute_dtype, "variable", None))
    if (options.gradient_accumulation_steps or 1) > 1:
        plans.append(SlotPlan("accumulator", tuple(shape), compute_dtype, "fill", 0))
    return plans


def _caller(init, shape, dtype):
    return lambda: init(shape, dtype)


def first_array(np, plan, variable_value):
    """The slot's first value as a NumPy array; `variable_value` is that of its variable."""
    value = {"variable": lambda: variable_value, "fill": lambda: plan.value, "call": plan.value}
    return np.broadcast_to(np.asarray(value[plan.start]()), plan.shape).astype(plan.dtype)
