"""What a piece of state means in one class and in another: units, products, counts."""

from compat_opt.errors import StateError


def learning_rate_of(hypers, present=None):
    """The learning rate as a number: `present` where it is known, else that of `hypers`.

    Raises:
        StateError: it follows a schedule, and nobody says what it is now.
    """
    rate = hypers.get("learning_rate") if present is None else present
    if not isinstance(rate, (int, float)) or not rate:
        raise StateError(
            "A momentum can't be converted without the learning rate that is in it.",
            "a learning rate that is a number and not 0",
            "learning_rate=%r" % (rate,),
        )
    return float(rate)


def _times_rate(array, rate):
    return array * array.dtype.type(rate())


def _over_rate(array, rate):
    return array / array.dtype.type(rate())


def _times_minus_rate(array, rate):
    return -_times_rate(array, rate)


def _over_minus_rate(array, rate):
    return -_over_rate(array, rate)


def _not_a_mean(array, rate):
    raise StateError(
        "The centered RMSprop of TensorFlow 2.9 and 2.10 averages squared gradients where the rule "
        "averages gradients; its state can't be continued.",
        remedy="Its weights are NaN after a few steps; start the optimizer anew.",
    )


#: Conversions of slots: (native to rule, rule to native), each called with the array and a function
#: that returns the learning rate.
SLOTS = {
    "without_rate": (_times_rate, _over_rate),
    "with_minus_rate": (_over_minus_rate, _times_minus_rate),
    "not_a_mean": (_not_a_mean, _not_a_mean),
}


def _nadam_product(hypers, iterations):
    product = 1.0
    for step in range(1, iterations + 1):
        product *= hypers["beta_1"] * (1 - 0.5 * 0.96 ** (hypers["schedule_decay"] * step))
        if product == 0.0:
            break
    return product


def _count_of_steps(hypers, iterations):
    return float(iterations)


def _present_rate(hypers, iterations):
    rate = hypers.get("learning_rate")
    warmup = hypers.get("warmup_steps") or 0
    reached = min(1.0, iterations / float(warmup)) if warmup else 1.0
    return float(rate) * reached if iterations and isinstance(rate, (int, float)) else 0.0


#: Shared scalars that follow from the hyperparameters and the count of steps: {name: (function of
#: both, the hyperparameters that it looks at)}.
SCALARS = {
    "nadam_product": (_nadam_product, ("beta_1", "schedule_decay")),
    "count_of_steps": (_count_of_steps, ()),
    "present_rate": (_present_rate, ("learning_rate",)),
}


def scalar(name, hypers, iterations, owner):
    """The value of a scalar in `SCALARS`, as a float.

    Raises:
        StateError: a hyperparameter that it needs is no number.
    """
    function, needs = SCALARS[name]
    for needed in needs:
        if not isinstance(hypers.get(needed), (int, float)) and name != "present_rate":
            raise StateError(
                "%s can't be computed anew." % owner,
                "%s as a number" % needed,
                "%s=%r" % (needed, hypers.get(needed)),
            )
    return function(hypers, iterations)


def counted_calls(iterations, micro_step, accumulation_steps):
    """The counter of a class that counts calls, not updates (Keras 3 with accumulation)."""
    return iterations * accumulation_steps + micro_step if accumulation_steps else iterations


def counted_updates(calls, accumulation_steps):
    """(updates, calls since the last one) for such a counter."""
    return divmod(calls, accumulation_steps) if accumulation_steps else (calls, 0)
