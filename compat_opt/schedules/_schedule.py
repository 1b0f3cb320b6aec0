"""Schedule: a hyperparameter as a pure function of the step."""

import numbers

from compat_opt.errors import HyperError

#: Parameters that are lengths, or are divided by.
_POSITIVE = ("steps", "growth", "shrink")


class Schedule:
    """Base class of schedules.

    A subclass passes its parameters on to this constructor by name, and writes `value`. Parameters are
    numbers, or other schedules, whose values `value_of` gives; `nested` limits them.

    A schedule can be given for any hyperparameter of any compiled optimizer and of `run_reference`. It is
    itself a function of the step in NumPy: ``schedule(10)`` is a float.

    Raises:
        HyperError: a parameter is no number, or a length that is not positive.
    """

    #: Names of the parameters that may be schedules; None for all but lengths.
    nested = None

    def __init__(self, **parameters):
        for name, value in parameters.items():
            number = isinstance(value, numbers.Real) and not isinstance(value, bool) and value == value
            nests = name not in _POSITIVE and (self.nested is None or name in self.nested)
            if not (number or (nests and isinstance(value, Schedule))) or (name in _POSITIVE and not value > 0):
                expected = "a number > 0" if name in _POSITIVE else "a number"
                raise HyperError(
                    "%s.%s can't be that." % (type(self).__name__, name),
                    expected + " or a compat_opt schedule" if nests else expected,
                    "%s=%r" % (name, value),
                )
        self.parameters = parameters

    def __getattr__(self, name):
        parameters = self.__dict__.get("parameters", {})
        if name not in parameters:
            raise AttributeError("%s has no parameter %r." % (type(self).__name__, name))
        return parameters[name]

    def value(self, step, ops):
        """The value at a step.

        Args:
            step: number of finished updates (0 first), a scalar that keeps the digits of float64.
            ops: the operations table, as in a rule.

        Returns:
            A scalar.
        """
        raise NotImplementedError

    def __call__(self, step):
        """The value at `step`, a Python or NumPy number, as a float."""
        from compat_opt.ops import numpy_ops

        ops = numpy_ops()
        value = self.value(ops.scalar(step), ops)
        return float(getattr(value, "raw", value))

    def __eq__(self, other):
        return type(self) is type(other) and self.parameters == other.parameters

    __hash__ = None

    def __repr__(self):
        return "%s(%s)" % (type(self).__name__, ", ".join("%s=%r" % pair for pair in self.parameters.items()))


def value_of(number_or_schedule, step, ops):
    """The value at `step` of a parameter that may be a schedule."""
    if isinstance(number_or_schedule, Schedule):
        return number_or_schedule.value(step, ops)
    return ops.scalar(number_or_schedule)
