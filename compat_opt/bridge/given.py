"""Hands a legacy optimizer what a user of today passes: schedules, optimizers and hosts of the target's Keras."""

import importlib

from compat_opt.bridge import inner
from compat_opt.bridge.frameworks import keras_of, target_with
from compat_opt.bridge.legacy_code import legacy_code
from compat_opt.errors import TargetError

_WRAPPED = {}


def for_legacy(value, target, generation):
    """`value` as legacy code can use it.

    Its own schedule class for the target's, what a host holds for the host, the API's own optimizer for a native one
    of the target's Keras; layers of Keras 3, and functions that give variables, give their tf.Variables.
    """
    if "_held" in getattr(value, "__dict__", {}):
        return value._held.optimizer
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(for_legacy(item, target, generation) for item in value)
    if generation != target.generation and inner.is_native(value, target):
        cls, arguments = inner.in_legacy(value, generation, target)
        with legacy_code():
            return cls(**{name: for_legacy(item, target, generation) for name, item in arguments.items()})
    schedules = keras_of(target.namespace).optimizers.schedules
    if isinstance(value, schedules.LearningRateSchedule) and target.generation == "keras3":
        try:
            legacy = target_with("optimizer_v2")
        except TargetError:
            return value
        return _wrapper(legacy)(value)
    return value


def _wrapper(legacy):
    """The class of the legacy Keras for schedules of today's."""
    if legacy not in _WRAPPED:
        legacy_keras = keras_of(legacy.namespace)
        today = importlib.import_module("keras")

        @legacy_keras.utils.register_keras_serializable("compat_opt.bridge", "Schedule")
        class Schedule(legacy_keras.optimizers.schedules.LearningRateSchedule):
            """A Keras 3 schedule as one of Keras 2."""

            def __init__(self, schedule):
                if isinstance(schedule, dict):
                    schedule = today.saving.deserialize_keras_object(schedule)
                self.schedule = schedule

            def __call__(self, step):
                return self.schedule(step)

            def get_config(self):
                """The schedule as Keras 3 writes it."""
                return {"schedule": today.saving.serialize_keras_object(self.schedule)}

        _WRAPPED[legacy] = Schedule
    return _WRAPPED[legacy]
