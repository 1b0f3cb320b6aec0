"""Members that compile_rule and subclassing add to a compiled class: properties, and a wrapper."""

import inspect

from compat_opt.errors import ArgumentError, UnsupportedError

#: Options that are fixed once state has been made for them.
_FIXED = ("use_ema", "gradient_accumulation_steps")


def accepting_all(method):
    """A user's override of apply_gradients, made to accept the arguments of every TensorFlow.

    Keras 2.2 and 2.3 call it with experimental_aggregate_gradients=False; an override written as
    ``apply_gradients(self, grads_and_vars, name=None)`` would fail, or the gradients would be
    summed twice if the argument were dropped. It reaches the base method as a hint.
    """
    parameters = inspect.signature(method).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return method

    def apply_gradients(self, grads_and_vars, *args, **kwargs):
        aggregate = kwargs.get("experimental_aggregate_gradients", True) and not kwargs.get(
            "skip_gradients_aggregation", False
        )
        passed = {name: value for name, value in kwargs.items() if name in parameters}
        unknown = set(kwargs) - set(passed) - {
            "name",
            "experimental_aggregate_gradients",
            "skip_gradients_aggregation",
        }
        if unknown:
            raise ArgumentError("apply_gradients has no argument %r." % sorted(unknown)[0])
        self._core.aggregate_hint = aggregate
        try:
            return method(self, grads_and_vars, *args, **passed)
        finally:
            self._core.aggregate_hint = True

    apply_gradients.__doc__ = method.__doc__
    return apply_gradients


def hyper_property(name, static):
    """The property of a compiled class for one hyperparameter."""

    def get(self):
        core = getattr(self, "_core", None)
        if core is None:
            return None
        return getattr(core.rule, name) if static else core.hypers.get(name, core.iterations)

    def set_value(self, value):
        if getattr(self, "_core", None) is None:
            return  # the native constructor's own default; ours is set right after it
        if static:
            raise UnsupportedError(
                "%s.%s is fixed when the optimizer is made." % (self.rule_class.__name__, name),
                "the value %r" % (getattr(self._core.rule, name),),
                "%s=%r" % (name, value),
                "Make a new optimizer with it.",
            )
        self._core.set_hyper(name, value)

    return property(get, set_value, doc="The hyperparameter %s." % name)


def option_property(name):
    """The property of a compiled class for one option."""

    def get(self):
        core = getattr(self, "_core", None)
        value = None if core is None else getattr(core.options, name)
        if value is None and name in self._hidden_options():
            raise AttributeError("%s is not set." % name)
        return value

    def set_value(self, value):
        core = getattr(self, "_core", None)
        if core is None:
            return  # as for hyperparameters
        if value == getattr(core.options, name):
            return
        if name in _FIXED and value != getattr(core.options, name):
            raise UnsupportedError(
                "%s is fixed when the optimizer is made." % name,
                "the value %r" % (getattr(core.options, name),),
                "%s=%r" % (name, value),
                "Make a new optimizer with it.",
            )
        if core.compiled_in and name != "loss_scale_factor":
            raise UnsupportedError(
                "A train step is compiled already; %s can't be changed in it." % name,
                "the value %r" % (getattr(core.options, name),),
                "%s=%r" % (name, value),
                "Set it before the first step.",
            )
        setattr(core.options, name, value)
        core.version += 1

    return property(get, set_value, doc="The option %s." % name)
