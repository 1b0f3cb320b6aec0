"""Optimizers of today's Keras that a user gives to a legacy wrapper (Lookahead, accumulators), as legacy ones."""

import inspect

from compat_opt.bridge.frameworks import bases, is_framework_class, keras_of, optimizers_of, target_with
from compat_opt.errors import UnsupportedError

#: Arguments of the newer APIs that mean nothing to a legacy optimizer at these values.
OFF = {"weight_decay": (None, 0), "use_ema": (False,), "loss_scale_factor": (None,), "gradient_accumulation_steps": (None,)}
#: Arguments of the newer APIs that change no number, or none while the former are off.
IDLE = ("ema_momentum", "ema_overwrite_frequency", "jit_compile", "is_legacy_optimizer")
CLIPPING = ("clipnorm", "clipvalue", "global_clipnorm")


def is_native(value, target):
    """Whether a value is an optimizer that the target's Keras ships."""
    return isinstance(value, optimizers_of(target).Optimizer) and is_framework_class(type(value))


def in_legacy(optimizer, generation, target):
    """The class and arguments with which the API `generation` has a target's native optimizer.

    Returns:
        (class, {argument: value}); a schedule is still one of the target's Keras.

    Raises:
        UnsupportedError: that API has no such rule or argument, or the optimizer has made steps already.
    """
    cls = getattr(bases(generation, target_with(generation)), type(optimizer).__name__, None)
    if cls is None:
        _refuse(optimizer, generation, "that API has no %s" % type(optimizer).__name__)
    if int(optimizer.iterations):
        _refuse(optimizer, generation, "it has made steps, whose state would be lost")
    known = set(inspect.signature(cls.__init__).parameters) | set(CLIPPING)
    arguments = {}
    for name, value in optimizer.get_config().items():
        if name in known and not (name in CLIPPING and value is None):
            arguments[name] = value
        elif name not in IDLE + CLIPPING and value not in OFF.get(name, ()):
            _refuse(optimizer, generation, "its %s=%r has no place there" % (name, value))
    if isinstance(arguments["learning_rate"], dict):
        schedules = keras_of(target.namespace).optimizers.schedules
        arguments["learning_rate"] = schedules.deserialize(arguments["learning_rate"])
    return cls, arguments


def _refuse(optimizer, generation, reason):
    raise UnsupportedError(
        "A legacy optimizer can't wrap this %s of today's Keras: %s." % (type(optimizer).__name__, reason),
        "an optimizer that %s has, new, with arguments that it has, or its name" % generation,
        "%s.%s" % (type(optimizer).__module__, type(optimizer).__name__),
    )
