"""Schedules of this package as LearningRateSchedules of a target's Keras."""

import importlib
import sys

from compat_opt import schedules
from compat_opt.env import find_target
from compat_opt.errors import HyperError
from compat_opt.ops import Ops
from compat_opt.schedules import Schedule

_CLASSES = {}


def compile_schedule(schedule, target=None):
    """A schedule of this package as a LearningRateSchedule, for native optimizers and callbacks.

    Compiled optimizers do this themselves.

    Args:
        schedule: an instance of a class in `compat_opt.schedules`, or of your own subclass of its `Schedule`.
        target: as for `compile_rule`.

    Returns:
        An instance of a subclass of the LearningRateSchedule of the target's Keras. Called with the step it
        gives a float32 scalar; its method `exact` gives one with all digits that step scalars have.

    Raises:
        HyperError: it is no schedule of this package.
    """
    if not isinstance(schedule, Schedule):
        raise HyperError(
            "compile_schedule takes a schedule of compat_opt.",
            "an instance, such as compat_opt.schedules.Cosine(0.1, 1000)",
            "schedule=%r" % (schedule,),
        )
    target = find_target(target)
    key = (type(schedule), target)
    if key not in _CLASSES:
        _CLASSES[key] = _make_class(type(schedule), target)
    return _CLASSES[key](**schedule.parameters)


def _make_class(kind, target):
    generation = importlib.import_module("compat_opt.adapters.%s.adapter" % target.generation)
    adapter = generation.adapter_for(target)
    executor = adapter.engine.EXECUTOR
    base = adapter.layout_class.schedule_namespaces(target)[0].LearningRateSchedule

    class Compiled(base):
        """A `Schedule` in the form of this Keras."""

        schedule_class = kind

        def __init__(self, **parameters):
            self.schedule = kind(**{name: parameter_from_config(value) for name, value in parameters.items()})

        def __call__(self, step):
            ops = Ops(executor)
            return ops.unwrap(self.schedule.value(ops.scalar(step), ops), "float32")

        def exact(self, step):
            """The value at `step` with the digits that step scalars have."""
            ops = Ops(executor)
            return self.schedule.value(ops.scalar(step), ops).raw

        def get_config(self):
            """The parameters as exact JSON."""
            return config_of(self.schedule)["config"]

        def __reduce__(self):
            return compile_schedule, (self.schedule, target)

    Compiled.target = target
    Compiled.__name__ = Compiled.__qualname__ = kind.__name__
    Compiled.__module__, Compiled.__doc__ = kind.__module__, kind.__doc__
    generation.register(Compiled, "compat_opt>%s" % kind.__name__)
    return Compiled


def config_of(schedule):
    """``{"class_name", "module", "config"}`` of a `Schedule`, the same on every target."""
    kind = type(schedule)
    parameters = {
        name: config_of(value) if isinstance(value, Schedule) else value for name, value in schedule.parameters.items()
    }
    return {"class_name": kind.__name__, "module": kind.__module__, "config": parameters}


def parameter_from_config(value):
    """A number as it is; the `Schedule` that `config_of` wrote.

    Raises:
        HyperError: this process does not know its class.
    """
    if not isinstance(value, dict):
        return value
    kind = find_class(value)
    if kind is None:
        raise HyperError(
            "The config names a schedule that this process does not know.",
            "one of %s, or an imported class" % ", ".join(schedules.names()),
            "class_name=%r, module=%r" % (value["class_name"], value.get("module")),
            "Import the module that defines it first.",
        )
    return kind(**{name: parameter_from_config(parameter) for name, parameter in value["config"].items()})


def find_class(config):
    """The `Schedule` class that a config names, or None: it names none of this process."""
    module, name = config.get("module") or "", config["class_name"].split(">")[-1]
    kind = getattr(schedules if module == schedules.__name__ else sys.modules.get(module), name, None)
    return kind if isinstance(kind, type) and issubclass(kind, Schedule) else None
