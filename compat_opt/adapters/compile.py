"""compile_rule: from a rule to an optimizer class of a target."""

import importlib
import inspect
import pkgutil

from compat_opt.adapters import arguments
from compat_opt.adapters.members import hyper_property, option_property
from compat_opt.adapters.options import Options
from compat_opt.env import Target, default_target, find_target, targets
from compat_opt.errors import RuleError, TargetError
from compat_opt.spec import UpdateRule

_COMPILED = {}


def generations():
    """Names of the generations that have an adapter: the folders beside this file."""
    package = importlib.import_module("compat_opt.adapters")
    return sorted(info.name for info in pkgutil.iter_modules(package.__path__) if info.ispkg)


def compile_rule(rule, target=None):
    """The optimizer class of `rule` for a target; the same class each time.

    Args:
        rule: an `UpdateRule` class.
        target: None for the default target, a `Target`, or a name such as "keras3", "keras2",
            "optimizer_v2" or "tf_keras:keras2".

    Returns:
        A subclass of the target's native Optimizer, registered for serialization as
        ``compat_opt>Name``.

    Raises:
        RuleError: `rule` is no rule class.
        TargetError: the environment does not offer the target.
    """
    if not (isinstance(rule, type) and issubclass(rule, UpdateRule)) or rule is UpdateRule:
        raise RuleError(
            "compile_rule takes a rule class.",
            "a subclass of compat_opt.UpdateRule",
            "rule=%r" % (rule,),
            "Hyperparameters are arguments of the compiled class." if isinstance(rule, UpdateRule) else "",
        )
    if rule.update is UpdateRule.update:
        raise RuleError("%s has no update()." % rule.__name__, "def update(self, grad, var, slots, hyper, ops)")
    target = find_target(target)
    key = (rule, target)
    if key not in _COMPILED:
        _COMPILED[key] = _make_class(rule, target)
    return _COMPILED[key]


def _make_class(rule, target):
    if target.generation not in generations():
        raise TargetError(
            "There is no adapter for the generation %r." % target.generation,
            "one of %s" % ", ".join(generations()),
        )
    adapter = importlib.import_module("compat_opt.adapters.%s.adapter" % target.generation)
    base = adapter.native_base(target)
    if not adapter.is_generation(base):
        raise TargetError(
            "%s is not the optimizer API that was expected." % base,
            "the hooks of %s" % target.generation,
            "%s.%s" % (base.__module__, base.__name__),
            "Is another Keras imported under this name?",
            target.describe(),
        )
    members = {
        "__doc__": _docstring(rule, target),
        "__module__": rule.__module__,
        "__qualname__": rule.__qualname__,
        "rule_class": rule,
        "target": target,
    }
    for name in Options.names():
        members[name] = option_property(name)
    for name, hyper in rule.hypers().items():
        members[name] = hyper_property(name, hyper.static)
    cls = type(rule.__name__, (adapter.adapter_for(target), base), members)
    cls.__init__ = _constructor(cls, rule)
    adapter.register(cls, registered_name(rule, target))
    return cls


def _constructor(cls, rule):
    def __init__(self, *args, **kwargs):
        super(cls, self).__init__(*args, **kwargs)

    __init__.__signature__ = arguments.signature(rule)
    return __init__


def _docstring(rule, target):
    return "%s\n\n    Compiled from the rule %s.%s for %s.\n    " % (
        inspect.getdoc(rule) or rule.__name__,
        rule.__module__,
        rule.__qualname__,
        target.describe(),
    )


def registered_name(rule, target):
    """The name under which a compiled class is found in saved models.

    Classes of the default target have the plain name, so that a model saved on one TensorFlow
    loads on another; those of other targets in the same process say which they are.
    """
    suffix = "" if target == default_target() else "@" + target.key
    return "compat_opt>%s%s" % (rule.__name__, suffix)


def retarget(optimizer, target):
    """The same optimizer for another target: same rule, config and state.

    Args:
        optimizer: a compiled optimizer.
        target: as for `compile_rule`.

    Returns:
        A new optimizer; the slots wait for build() with the other model's variables.

    Raises:
        RuleError: `optimizer` was not compiled from a rule.
    """
    rule = getattr(type(optimizer), "rule_class", None)
    if rule is None:
        raise RuleError(
            "Only an optimizer that was compiled from a rule can change its target.",
            "an instance of compile_rule(...)",
            "a %s" % type(optimizer).__name__,
            "compat_opt.rules has the built-in algorithms as rules.",
        )
    other = compile_rule(rule, target).from_config(optimizer.get_config())
    other.set_weights(optimizer.get_weights())
    return other


def generation_of(optimizer):
    """"optimizer_v2", "keras2" or "keras3" for an optimizer or an optimizer class, else None."""
    cls = optimizer if isinstance(optimizer, type) else type(optimizer)
    if hasattr(cls, "_resource_apply_dense"):
        return "optimizer_v2"
    if hasattr(cls, "update_step") and hasattr(cls, "apply_gradients"):
        parameters = inspect.signature(cls.update_step).parameters
        # Keras 3 hands on the learning rate too, whatever a class calls it; `parameters` begin with self.
        return "keras3" if "learning_rate" in parameters or len(parameters) > 3 else "keras2"
    return None


def is_optimizer(value):
    """Whether `value` is a Keras optimizer of any generation, compiled or native."""
    return not isinstance(value, type) and generation_of(value) is not None


__all__ = ["Target", "compile_rule", "generation_of", "generations", "is_optimizer", "retarget", "targets"]
