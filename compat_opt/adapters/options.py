"""Options: the constructor arguments that every compiled optimizer has beside its hypers."""

import numbers

from compat_opt.errors import ArgumentError, HyperError

_CLIPPING = ("clipnorm", "clipvalue", "global_clipnorm")

_DEFAULTS = dict(
    clipnorm=None,
    clipvalue=None,
    global_clipnorm=None,
    use_ema=False,
    ema_momentum=0.99,
    ema_overwrite_frequency=None,
    gradient_accumulation_steps=None,
    loss_scale_factor=None,
    jit_compile="auto",
    check_numerics=False,
    sparse="exact",
)


class Options:
    """Validated options.

    Attributes:
        clipnorm, clipvalue, global_clipnorm: a number > 0 or None; at most one is set.
        use_ema: keep a moving average of each variable, started from its first value.
        ema_momentum: weight of the old average, in [0, 1).
        ema_overwrite_frequency: None, or every how many steps variables become their averages.
        gradient_accumulation_steps: None, or how many calls make one update (their mean).
        loss_scale_factor: None, or the number that the loss was multiplied by.
        jit_compile: "auto", True or False: whether the update is compiled with XLA.
        sparse: "exact": a sparse gradient acts as its dense equal; "lazy": rows that it does not
            touch keep their values and slots.
        check_numerics: raise on a NaN or infinite gradient before anything has changed.
    """

    __slots__ = tuple(_DEFAULTS)

    def __init__(self, **given):
        for name, default in _DEFAULTS.items():
            value = given.pop(name, default)
            object.__setattr__(self, name, _checked(name, value))
        if given:
            raise ArgumentError("Unknown options: %s." % ", ".join(sorted(given)))
        _refuse_two_clippings(self)

    def __setattr__(self, name, value):
        old = getattr(self, name)
        object.__setattr__(self, name, _checked(name, value))
        try:
            _refuse_two_clippings(self)
        except ArgumentError:
            object.__setattr__(self, name, old)
            raise

    def as_dict(self):
        """All options by name."""
        return {name: getattr(self, name) for name in _DEFAULTS}

    @staticmethod
    def names():
        """The options' names."""
        return tuple(_DEFAULTS)


def _refuse_two_clippings(options):
    given = [name for name in _CLIPPING if getattr(options, name) is not None]
    if len(given) > 1:
        raise ArgumentError(
            "Gradients are clipped in one way.",
            "at most one of %s" % ", ".join(_CLIPPING),
            ", ".join("%s=%r" % (name, getattr(options, name)) for name in given),
            "Set the others to None first.",
        )


def _checked(name, value):
    """`value` in the form that is kept, or an error that says what option `name` takes."""

    def refuse(expected):
        raise HyperError("The option %s can't be that." % name, expected, "%s=%r" % (name, value))

    if name in _CLIPPING or name == "loss_scale_factor":
        if value is None:
            return None
        if isinstance(value, bool) or not _is_number(value) or not float(value) > 0:
            refuse("a number > 0, or None")
        return float(value)
    if name == "ema_momentum":
        if isinstance(value, bool) or not _is_number(value) or not 0 <= float(value) <= 1:
            refuse("a number in [0, 1]")
        return float(value)
    if name in ("ema_overwrite_frequency", "gradient_accumulation_steps"):
        if value is None:
            return None
        if isinstance(value, bool) or not _is_number(value) or int(value) != value or value < 1:
            refuse("an int >= 1, or None")
        return int(value)
    if name == "jit_compile":
        if value is None:
            return "auto"
        if value not in (True, False, "auto"):
            refuse('True, False or "auto"')
        return value if value == "auto" else bool(value)
    if name == "sparse":
        if value not in ("exact", "lazy"):
            refuse('"exact" or "lazy"')
        return value
    if not isinstance(value, (bool, numbers.Integral)):
        refuse("True or False")
    return bool(value)


def _is_number(value):
    return isinstance(value, numbers.Real) or (hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0)
