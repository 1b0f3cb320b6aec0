"""What transforms share: the decorator that checks, names and caches, and changes of the gradient."""

import functools
import inspect
import numbers

from compat_opt.errors import ArgumentError, HyperError, RuleError, closest
from compat_opt.spec import Hyper, Slot, UpdateRule


def transform(function):
    """Make ``function(rule, ...)``, which returns a subclass of the rule, a transform.

    The arguments after `rule` become the defaults of the new class's hyperparameters. The class is
    named after both; the same arguments give the same class; a rule that has one of the names
    already, from the same transform or from its own, is refused, and so are arguments that are no
    numbers or out of range.
    """
    signature = inspect.signature(function)

    @functools.lru_cache(maxsize=None)
    def build(rule, arguments):
        made = function(rule, *arguments)
        for name, value in vars(made).items():
            if isinstance(value, (Hyper, Slot)) and hasattr(rule, name):
                raise RuleError(
                    "%s already has %r, which %s would add." % (rule.__name__, name, function.__name__),
                    "a rule without it",
                    "rule=%s" % rule.__name__,
                    "Apply a transform once, and set its hyperparameters.",
                )
        for name in signature.parameters:
            if name in made.hypers():
                made.hypers()[name].validate(made.hypers()[name].default, function.__name__)
        title = "".join(part.capitalize() for part in function.__name__.split("_"))
        made.__name__ = made.__qualname__ = title + rule.__name__
        made.__doc__ = "%s, after %s.\n\n%s" % (
            rule.__doc__.split("\n")[0].rstrip(".") if rule.__doc__ else rule.__name__,
            function.__name__,
            inspect.getdoc(function),
        )
        made.transforms = getattr(rule, "transforms", ()) + (function.__name__,)
        return made

    @functools.wraps(function)
    def apply(rule, *arguments, **keywords):
        if not (isinstance(rule, type) and issubclass(rule, UpdateRule)):
            raise RuleError(
                "%s is applied to a rule class." % function.__name__,
                "an UpdateRule subclass, such as compat_opt.rules.Adam",
                "rule=%r" % (rule,),
                "Give hyperparameters to the class it returns: %s(Adam)(learning_rate=0.01)."
                % function.__name__,
            )
        bound = _bound(function.__name__, signature, (rule,) + arguments, keywords)
        return build(rule, tuple(bound.arguments.values())[1:])

    return apply


def _bound(name, signature, arguments, keywords):
    """The arguments of the transform `name` by parameter, defaults filled in; they are numbers or flags."""
    known = list(signature.parameters)[1:]
    try:
        bound = signature.bind(*arguments, **keywords)
    except TypeError as error:
        unknown = sorted(set(keywords) - set(known))
        raise ArgumentError(
            "%s can't be called like that: %s." % (name, error),
            "%s%s" % (name, signature),
            remedy=closest(unknown[0], known) if unknown else "",
        )
    bound.apply_defaults()
    for parameter in known:
        if not isinstance(bound.arguments[parameter], numbers.Real):
            raise HyperError(
                "%s of %s can't be a %s." % (parameter, name, type(bound.arguments[parameter]).__name__),
                "a number",
                "%s=%r" % (parameter, bound.arguments[parameter]),
                "It is a default. Give a schedule to the optimizer: compile_rule(%s(Rule))(%s=schedule)." % (name, parameter),
            )
    return bound


def on_gradient(rule, change, **declarations):
    """A subclass of `rule` that works on ``change(grad, var, hyper, ops)`` in place of grad."""

    def update(self, grad, var, slots, hyper, ops):
        return super(made, self).update(change(grad, var, hyper, ops), var, slots, hyper, ops)

    def measure(self, grad, var, slots, hyper, ops):
        return super(made, self).measure(change(grad, var, hyper, ops), var, slots, hyper, ops)

    members = dict(declarations, update=update, __module__=rule.__module__)
    if rule.overrides("measure"):
        members["measure"] = measure
    made = type("Changed" + rule.__name__, (rule,), members)
    return made
