"""Hypers: the live hyperparameters of one optimizer.

Each hyperparameter that is not static has one scalar variable. For a number it holds the number;
assigning to it acts inside train steps that are compiled already. For a schedule, a callable or a
user's variable it holds NaN until a number is set over it.
"""

import functools
import inspect
import math
import numbers
import warnings

from compat_opt.adapters.schedules import compile_schedule
from compat_opt.errors import HyperError, UnsupportedError
from compat_opt.schedules import Schedule


class Source:
    """Where a hyperparameter's value comes from.

    Attributes:
        kind: "number", "off" (None), "schedule", "callable", "variable" or "tensor".
        value: the number, or the object.
    """

    __slots__ = ("kind", "value")

    def __init__(self, kind, value):
        self.kind = kind
        self.value = value


def source_of(name, value, declared, owner):
    """The `Source` for what a user gave for hyperparameter `name`, checked.

    Raises:
        HyperError: it is nothing that can be a hyperparameter, or out of range.
    """
    if value is None:
        declared.validate(value, owner)
        return Source("off", None)
    number = as_number(value)
    if number is not None:
        if math.isnan(number):
            raise HyperError("%s.%s is not a number." % (owner, name), received="%s=nan" % name)
        declared.validate(number, owner)
        return Source("number", number)
    if _has_axes(value):
        raise HyperError("%s.%s is one number." % (owner, name), "a scalar", "%s of shape %s" % (name, tuple(value.shape)))
    if isinstance(value, type):
        raise HyperError("%s.%s is a class." % (owner, name), "an instance of it", "%s=%s" % (name, value.__name__))
    if _is_variable(value) and hasattr(value, "dtype"):
        return Source("variable", value)
    if callable(value):
        return Source("schedule" if takes_step(value) else "callable", value)
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return Source("tensor", value)
    raise HyperError(
        "%s.%s can't be a %s." % (owner, name, type(value).__name__),
        "a number, a schedule (a function of the step), a function without arguments, a variable "
        "or a scalar tensor",
        "%s=%r" % (name, value),
        "A schedule given as a config dict is read by from_config()." if isinstance(value, dict) else "",
    )


def _has_axes(value):
    """Whether `value` is known to be an array of one axis or more."""
    try:
        return len(value.shape) > 0
    except (AttributeError, TypeError, ValueError):  # no shape, or one that is not known yet
        return False


def as_number(value):
    """The float of a Python or NumPy number or of an eager scalar tensor, else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, numbers.Real):
        return float(value)
    if _is_variable(value) or callable(value) or isinstance(value, (str, dict)):
        return None
    try:
        if getattr(value, "ndim", len(getattr(value, "shape", (1,)))) == 0:
            return float(value)
    except Exception:  # a symbolic tensor has no number yet
        pass
    return None


def _is_variable(value):
    """Whether `value` can be assigned to; what `Hypers.get` makes settable is no variable."""
    return hasattr(type(value), "assign")


def takes_step(function):
    """Whether `function` has to be called with the step."""
    if hasattr(function, "get_config"):
        return True
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(p.kind in positional and p.default is p.empty for p in parameters)


class Hypers:
    """The sources and variables of an optimizer's hyperparameters.

    Args:
        owner: whose they are, for messages.
        declared: {name: Hyper}, none of them static.
        given: {name: what the user gave} for all of them.
        layout: the generation's layout, which makes and reads variables.
        decay: the legacy time decay: the learning rate is divided by 1 + decay * iterations.
        prefix: what the names of its variables start with, where an optimizer has several `Hypers`.
    """

    def __init__(self, owner, declared, given, layout, decay=0.0, prefix=""):
        self.owner = owner
        self.layout = layout
        self.decay = decay
        self.declared = declared
        self.prefix = prefix
        #: What sets a number on a present value that was read; see `layout.settable`.
        self.setter = self.set
        self.sources = {
            name: self._source(name, given[name]) for name in declared
        }
        self.variables = {}
        #: Set once a train step outside of this package has been traced with these sources.
        self.compiled_in = False
        #: Changes whenever a step that was traced with the present sources is out of date.
        self.version = 0

    def _source(self, name, value):
        if isinstance(value, Schedule):
            value = compile_schedule(value, type(self.layout.optimizer).target)
        return source_of(name, value, self.declared[name], self.owner)

    def create_variables(self):
        """Make the scalar variables, in declaration order."""
        for name, source in self.sources.items():
            if source.kind == "variable" and self.layout.steps_are_stateless:
                # JAX hands a compiled step the optimizer's variables only: the user's is one of them.
                self.variables[name] = source.value
            else:
                first = source.value if source.kind == "number" else float("nan")
                self.variables[name] = self.layout.scalar(self.prefix + name, first, self.layout.scalar_dtype)

    def evaluate(self, iterations, only_external=None):
        """{name: value at this step, or None}: each source is asked once.

        Args:
            iterations: number of finished updates, as the framework's scalar.
            only_external: {prefixed name: value} already known, see `external`.
        """
        values = {}
        for name, source in self.sources.items():
            if source.kind == "off":
                values[name] = None
                continue
            own = self.layout.read_scalar(self.variables[name])
            if source.kind == "number":
                values[name] = own
            else:
                if only_external is not None and self.prefix + name in only_external:
                    asked = only_external[self.prefix + name]
                else:
                    asked = self._ask(source, iterations)
                values[name] = self.layout.choose_number(own, asked)
        if self.decay and values.get("learning_rate") is not None:
            values["learning_rate"] = self.layout.decayed(values["learning_rate"], self.decay, iterations)
        return values

    def external(self, iterations):
        """{prefixed name: value} of what has to be asked outside of a cached step: user code."""
        return {
            self.prefix + name: self._ask(source, iterations)
            for name, source in self.sources.items()
            if source.kind in ("schedule", "callable")
        }

    def _ask(self, source, iterations):
        if source.kind == "schedule":
            # A schedule of this package has more digits than float32, which Keras's schedules give.
            return self.layout.as_scalar(getattr(source.value, "exact", source.value)(iterations))
        if source.kind == "callable":
            return self.layout.as_scalar(source.value())
        return self.layout.as_scalar(self.layout.read_scalar(source.value))

    def get(self, name, iterations):
        """What reading ``optimizer.<name>`` gives: the variable, or the present value."""
        source = self.sources[name]
        if source.kind == "off":
            return None
        if source.kind == "number":
            return self.variables[name]
        own = self.variables[name]
        if source.kind == "variable" and (own is source.value or math.isnan(self.layout.to_float(own))):
            return source.value
        value = self.layout.choose_number(self.layout.read_scalar(own), self._ask(source, iterations))
        return self.layout.settable(value, functools.partial(self.setter, name))

    def number(self, name):
        """The exact number of a number source, as it is now; None for other sources.

        A variable of float32 (JAX) holds 0.9 rounded: while it still holds the number that was
        set, that number is given back.
        """
        source = self.sources[name]
        if source.kind == "off":
            return None
        now = self.layout.to_float(self.variables[name])
        if source.kind == "number":
            same = now == self.layout.rounded(source.value)
            return source.value if same else now
        return None if math.isnan(now) else now

    def set(self, name, value):
        """Act on ``optimizer.<name> = value``.

        Raises:
            HyperError: out of range, or of a kind that can't be a hyperparameter.
            UnsupportedError: a train step that is compiled already can't take it.
        """
        new = self._source(name, value)
        old = self.sources[name]
        if new.kind == "number" and old.kind == "variable":
            old.value.assign(new.value)
            return
        if new.kind == "number" and old.kind in ("number", "schedule", "callable", "tensor"):
            self.layout.assign(self.variables[name], new.value)
            if old.kind == "number":
                self.sources[name] = new
            else:
                warnings.warn(
                    "%s.%s followed a %s; from the next step on it is %r."
                    % (self.owner, name, old.kind, new.value)
                )
            return
        if self.compiled_in:
            raise UnsupportedError(
                "%s.%s was compiled into a train step as a %s; a %s set now could not act there."
                % (self.owner, name, old.kind, new.kind),
                "a number" if old.kind != "off" else "what the constructor was given",
                "%s=%r" % (name, value),
                "Make a new optimizer with it, build() it, set_weights(old.get_weights()), and "
                "compile the train step anew.",
            )
        self.sources[name] = new
        self.version += 1
        first = new.value if new.kind == "number" else float("nan")
        if self.variables[name] is old.value:
            self.variables[name] = self.layout.scalar(self.prefix + name, first, self.layout.scalar_dtype)
        self.layout.assign(self.variables[name], first)
