"""LossScaleOptimizers of every Keras: what is inside, and their own two numbers."""

#: Where the wrappers keep the scale and the count of good steps since it changed: Keras 3, then
#: Keras 2 and TensorFlow 2.0-2.3.
_SCALES = ("dynamic_scale", "_loss_scale._current_loss_scale")
_COUNTS = ("step_counter", "_loss_scale._counter", "_loss_scale.counter", "_loss_scale._num_good_steps")


def is_wrapper(optimizer):
    """Whether it is a LossScaleOptimizer."""
    return any(cls.__name__.startswith("LossScaleOptimizer") for cls in type(optimizer).__mro__)


def unwrapped(optimizer):
    """The innermost optimizer."""
    while is_wrapper(optimizer):
        inner = getattr(optimizer, "inner_optimizer", None)
        optimizer = optimizer._optimizer if inner is None else inner
    return optimizer


def read(optimizer):
    """{"scale", "good_steps"} of a wrapper with a dynamic scale that has made its variables, or None."""
    variables = _variables(optimizer)
    if variables is None:
        return None
    return {"scale": float(_number(variables[0])), "good_steps": int(_number(variables[1]))}


def write(optimizer, record, report):
    """Set a wrapper's numbers to the record's; a line in the report."""
    if record.loss_scale is None:
        return
    variables = _variables(optimizer)
    if variables is None:
        report.add("dropped", "loss scale", "%r: nothing scales the loss here" % record.loss_scale["scale"])
        return
    variables[0].assign(record.loss_scale["scale"])
    variables[1].assign(record.loss_scale["good_steps"])
    report.add("moved", "loss scale", "%r" % record.loss_scale["scale"])


def build(optimizer, inner, variables, view):
    """Make the variables of the optimizer, and of a wrapper that has some of its own."""
    if optimizer is not inner and not getattr(optimizer, "built", True):
        optimizer.build(list(variables))
        optimizer.built = True
    else:
        view.build(variables)


def _variables(optimizer):
    if not is_wrapper(optimizer):
        return None
    found = [_first(optimizer, paths) for paths in (_SCALES, _COUNTS)]
    return None if None in [None if v is None else 0 for v in found] else found


def _first(optimizer, paths):
    for path in paths:
        value = optimizer
        for name in path.split("."):
            value = getattr(value, name, None)
        if hasattr(value, "assign"):
            return value
    return None


def _number(variable):
    return variable.numpy() if hasattr(variable, "numpy") else variable.read_value().numpy()
