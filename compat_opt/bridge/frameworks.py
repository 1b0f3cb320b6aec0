"""The modules of the frameworks that the bridge works with, found once, and which classes are theirs."""

import importlib

from compat_opt.env import targets
from compat_opt.errors import TargetError

#: The packages whose classes are bases, never legacy classes.
ROOTS = ("tensorflow", "tensorflow_core", "keras", "tf_keras")


def is_framework_class(cls):
    """Whether a class is a part of TensorFlow, Keras or tf-keras, or Python's own."""
    return cls.__module__.split(".")[0] in ROOTS + ("builtins", "abc", "typing")


def own_classes(cls):
    """The classes of an MRO that are no part of a framework, most derived first."""
    return [base for base in cls.__mro__ if not is_framework_class(base)]


def keras_of(namespace):
    """The Keras module of a target's namespace: tf.keras, tf_keras or keras."""
    package = namespace.split(".")[0]
    if package != "tf":
        return importlib.import_module(package)
    return importlib.import_module("tensorflow").keras


def target_with(generation):
    """The target of this environment that has the real base classes of an API.

    Raises:
        TargetError: there is none; the message names what to install.
    """
    wanted = "optimizer_v2" if generation == "get_updates" else generation
    offered = targets()
    for target in offered:
        if target.generation == wanted:
            return target
    needs = "keras>=3" if wanted == "keras3" else "tf-keras"
    raise TargetError(
        "The bridge runs a legacy class on its real base class, and this environment has no %s optimizers." % wanted,
        "a target of the generation %s" % wanted,
        "targets %s" % (", ".join(target.key for target in offered) or "none"),
        "pip install %s (in the version of the installed TensorFlow), or turn the class into a rule "
        "(compat_opt.UpdateRule)." % needs,
    )


def optimizers_of(target):
    """The module with the base classes of a target, e.g. tf_keras.optimizers.legacy."""
    optimizers = keras_of(target.namespace).optimizers
    inner = target.namespace.split(".")[-1]
    return getattr(optimizers, inner) if inner in ("legacy", "experimental") else optimizers


def private_root(target):
    """The dotted path under which a target's Keras keeps its private modules, e.g. tf_keras.src."""
    module = optimizers_of(target).Optimizer.__mro__[0].__module__
    return module.split(".optimizer")[0]


def bases(generation, target):
    """The module with the classes of an API, on a target that has them: `target_with(generation)`."""
    if generation == "get_updates":
        return importlib.import_module(private_root(target) + ".optimizers.optimizer_v1")
    return optimizers_of(target)
