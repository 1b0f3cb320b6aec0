"""What transforms share: the decorator that checks, names and caches, and changes of the gradient."""

import functools
import inspect

from compat_opt.errors import RuleError
from compat_opt.spec import Hyper, Slot, UpdateRule


def transform(function):
    """Make ``function(rule, ...)``, which returns a subclass of the rule, a transform.

    The arguments after `rule` become the defaults of the new class's hyperparameters. The class is
    named after both; the same arguments give the same class; a rule that has one of the names
    already, from the same transform or from its own, is refused.
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
        bound = signature.bind(rule, *arguments, **keywords)
        bound.apply_defaults()
        return build(rule, tuple(bound.arguments.values())[1:])

    return apply


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
