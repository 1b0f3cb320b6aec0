"""The constructor's arguments: hypers, options, and the legacy `lr` and `decay`."""

import inspect
import warnings

from compat_opt.adapters.options import Options
from compat_opt.errors import ArgumentError, HyperError, closest

#: Keys of other generations' configs that say nothing a compiled optimizer would act on.
_FOREIGN_KEYS = ("is_legacy_optimizer", "gradient_aggregator", "gradient_transformers")


def signature(rule_class):
    """The constructor's signature, for help() and inspection."""
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for name, hyper in rule_class.hypers().items():
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=hyper.default)
        )
    parameters.append(inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default=None))
    parameters.append(inspect.Parameter("groups", inspect.Parameter.KEYWORD_ONLY, default=None))
    for name, value in Options().as_dict().items():
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value))
    return inspect.Signature(parameters)


def split_arguments(rule_class, args, kwargs):
    """Sort a constructor call into its parts.

    Returns:
        ``(name, hypers, options, decay, groups)``: {hyper: value} of those given, an `Options`, the
        legacy decay (0.0 where not given), and the groups as they were given (a list).

    Raises:
        ArgumentError: too many positional arguments, a keyword given twice or unknown.
        HyperError: a value that is out of range.
    """
    owner = rule_class.__name__
    declared = rule_class.hypers()
    kwargs = dict(kwargs)
    if len(args) > len(declared):
        raise ArgumentError(
            "%s takes at most %d positional arguments." % (owner, len(declared)),
            ", ".join(declared),
            "%d arguments" % len(args),
        )
    hypers = dict(zip(declared, args))
    if "lr" in kwargs and "lr" not in declared:
        _take_lr(owner, declared, hypers, kwargs)
    decay = _legacy_decay(owner, declared, kwargs)
    name, groups = kwargs.pop("name", None), kwargs.pop("groups", None)
    options = {key: kwargs.pop(key) for key in Options.names() if key in kwargs}
    for key in list(kwargs):
        if key in declared:
            if key in hypers:
                raise ArgumentError("%s got %s twice." % (owner, key), "one value", "%s=%r" % (key, kwargs[key]))
            hypers[key] = kwargs.pop(key)
    if kwargs:
        known = list(declared) + ["name", "groups"] + list(Options.names())
        unknown = sorted(kwargs)[0]
        raise ArgumentError(
            "%s has no argument %r." % (owner, unknown),
            "some of %s" % ", ".join(known),
            "%s=%r" % (unknown, kwargs[unknown]),
            closest(unknown, known),
        )
    if name is not None and not (isinstance(name, str) and name):
        raise ArgumentError("The name of an optimizer is a string.", "a non-empty str", "name=%r" % (name,))
    if not isinstance(groups, (list, tuple, type(None))):
        raise ArgumentError("groups is a list of groups.", "[compat_opt.Group(...), ...]", "groups=%r" % (groups,))
    return name, hypers, Options(**options), decay, list(groups or ())


def _take_lr(owner, declared, hypers, kwargs):
    value = kwargs.pop("lr")
    if "learning_rate" not in declared:
        raise ArgumentError("%s has no learning rate." % owner, received="lr=%r" % (value,))
    if "learning_rate" in hypers or "learning_rate" in kwargs:
        raise ArgumentError("%s got lr and learning_rate." % owner, "one of the two", "lr=%r" % (value,))
    warnings.warn("%s(lr=...) is the old name of learning_rate=...; it is honoured." % owner)
    hypers["learning_rate"] = value


def _legacy_decay(owner, declared, kwargs):
    if "decay" not in kwargs or "decay" in declared:
        return 0.0
    decay = kwargs.pop("decay")
    try:
        number = float(decay or 0.0)
    except (TypeError, ValueError):
        number = -1.0
    if number < 0:
        raise HyperError("%s.decay is out of range." % owner, "a number >= 0", "decay=%r" % (decay,))
    if number and "learning_rate" not in declared:
        raise ArgumentError("%s has no learning rate to decay." % owner, received="decay=%r" % decay)
    if number:
        warnings.warn(
            "%s(decay=...) is the old spelling of the schedule learning_rate / (1 + decay * "
            "iterations); it is honoured." % owner
        )
    return number


def strip_foreign_keys(config):
    """A config written by a native optimizer of some generation, without keys that say nothing.

    A key that says something is left in, and refused by the constructor if it is unknown.
    """
    config = dict(config)
    for key in _FOREIGN_KEYS:
        config.pop(key, None)
    return config
