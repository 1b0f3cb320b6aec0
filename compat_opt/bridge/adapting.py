"""adapt and load: from a class of one optimizer API to a class of a target."""

import importlib
import os
import sys

from compat_opt.bridge import hooks, known, written_for
from compat_opt.adapters import registration
from compat_opt.bridge.frameworks import keras_of, optimizers_of, own_classes, target_with
from compat_opt.bridge.loading import PrivateModules, RunFirst, source_of
from compat_opt.bridge.world import World
from compat_opt.env import find_target
from compat_opt.errors import ArgumentError, UnsupportedError

_ADAPTED = {}


def adapt(legacy_class, target=None, uncalled=()):
    """A class of the target's optimizer API that runs `legacy_class` unchanged.

    Args:
        legacy_class: a class written for OptimizerV2, Keras 2 or Keras 3. Where its base class is not
            that of the API it was written for (`tf.keras.optimizers.Optimizer` has changed twice), its
            module is loaded again, privately, on the right one.
        target: None for the default target, a `Target`, or a name such as "keras3".
        uncalled: names of hooks that the class overrides and that may stay uncalled.

    Returns:
        A subclass of the target's native Optimizer, registered for serialization; its constructor
        takes the arguments of `legacy_class`. `legacy_class` itself where the target has that API.

    Raises:
        ArgumentError: `legacy_class` is no optimizer class.
        TargetError: the environment lacks the target, or the real base class (tf-keras).
        UnsupportedError: a hook that the class overrides would not be called, or the target's backend
            is not TensorFlow.
    """
    own = own_classes(legacy_class) if isinstance(legacy_class, type) else []
    if not isinstance(legacy_class, type) or _runs_as(legacy_class) is None and not written_for.of_class(None, own):
        raise ArgumentError(
            "adapt takes an optimizer class.",
            "a subclass of tf.keras.optimizers.Optimizer, of any TensorFlow 2",
            "legacy_class=%r" % (legacy_class,),
        )
    target = find_target(target)
    runs_as = _runs_as(legacy_class)
    generation = written_for.of_class(legacy_class, own) or runs_as
    if runs_as != generation:
        _check_can_load_again(legacy_class, generation)
        location = "%s:%s" % (legacy_class.__module__, legacy_class.__qualname__)
        return load(location, target, written_for=generation, uncalled=uncalled)
    if generation == target.generation:
        if issubclass(legacy_class, optimizers_of(target).Optimizer):
            return legacy_class
    key = (legacy_class, target, tuple(uncalled))
    if key not in _ADAPTED:
        _ADAPTED[key] = _make(legacy_class, own, generation, target, uncalled)
    return _ADAPTED[key]


def load(location, target=None, written_for=None, uncalled=(), private=()):
    """Load a legacy class whose imports fail or give it the wrong base, and adapt it.

    The module's imports are answered with today's homes of what it asks for; no other code sees that.

    Args:
        location: "package.module:Class" or "path/to/file.py:Class". A call of a function that makes a class may
            stand in the class's place: "bert4keras.optimizers:extend_with_weight_decay(Adam)".
        target: None for the default target, a `Target`, or a name such as "keras3".
        written_for: "optimizer_v2", "keras2", "keras3" or "get_updates"; default: from the hooks in
            the source, "optimizer_v2" where these do not say.
        uncalled: as for `adapt`.
        private: names of packages that the module imports and that need the same answers.

    Returns:
        As `adapt`.

    Raises:
        ArgumentError: there is no such module or class.
        TargetError, UnsupportedError: as `adapt`.
    """
    target = find_target(target)
    cls = load_class(location, written_for, target, private)
    if _runs_as(cls) is None:
        raise ArgumentError(
            "%s is no optimizer class." % location, "a class with the hooks of a Keras optimizer", "class %r" % cls
        )
    adapted = adapt(cls, target, uncalled)
    if adapted is cls and target.generation != "optimizer_v2":
        register(cls, cls, target)
    return adapted


def register(cls, legacy_class, target):
    """Register a class with the target's Keras, so that load_model finds it without custom_objects."""
    known.remember(legacy_class)
    registration.register(keras_of(target.namespace), cls, known.registered_name(legacy_class))


def load_class(location, generation=None, target=None, private=()):
    """The legacy class itself, on its real base; arguments and errors as `load`."""
    module_name, separator, class_name = _split(location)
    name, file, package = source_of(module_name) if separator else (location, None, None)
    if not separator or file is None or not os.path.isfile(file):
        raise ArgumentError(
            "There is no module to load.", "'package.module:Class' or 'path/to/file.py:Class'", "location=%r" % location
        )
    if generation is None:
        with open(file, encoding="utf-8") as source:
            generation = written_for.of_source(source.read(), class_name.split(".")[0]) or "optimizer_v2"
    if target is not None and target.generation != generation:
        _check_backend(class_name, target)
    module = _load_module(World(generation, target_with(generation)), name, file, package, private)
    found = _class_in(module, class_name)
    if not isinstance(found, type):
        classes = [n for n, value in vars(module).items() if isinstance(value, type)]
        raise ArgumentError(
            "%s has no class %s." % (file, class_name), "one of %s" % ", ".join(classes), "location=%r" % location
        )
    return found


def _split(location):
    """(module, ":", class): at the last colon, or the last one before a call's arguments."""
    head, parenthesis, arguments = location.partition("(")
    if ":" not in head:
        return location.rpartition(":")
    module, colon, name = head.rpartition(":")
    return module, colon, name + parenthesis + arguments


def _class_in(module, name):
    """What a dotted name, or a call, gives in a module; None where there is no such name."""
    if "(" in name:
        found = eval(name, vars(module))
        if isinstance(found, type):
            found.__qualname__ = name  # by which it is registered: one function makes many classes of one name
        return found
    found = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _load_module(world, name, file, package, private=(), run_first=()):
    if package is None and os.path.basename(file) == name + ".py":
        return PrivateModules(world, [name, *private]).execute(name, file)
    if package is None:
        return PrivateModules(world, [name.split(".")[0], *private]).load(name)
    names, folder = package
    modules = PrivateModules(world, [names[0], *private], [folder] + sys.path)
    try:
        for count in range(1, len(names) + 1):
            parent = ".".join(names[:count])
            if parent in run_first:
                modules.load(parent)
            else:
                modules.bare_package(parent, os.path.join(folder, *names[:count]))
        return modules.load(".".join(names + [name]))
    except RunFirst as needed:
        return _load_module(world, name, file, package, private, tuple(run_first) + (needed.package,))


def _runs_as(cls):
    """The API of the base class that a class really has, or None."""
    for base in cls.__mro__:
        if base in own_classes(cls):
            continue
        if hasattr(base, "_resource_apply_dense"):
            return "optimizer_v2"
        if "get_updates" in vars(base):
            return "get_updates"
        if hasattr(base, "update_step"):
            return "keras3" if "learning_rate" in base.update_step.__code__.co_varnames[:4] else "keras2"
    return None


def _check_can_load_again(cls, generation):
    module = importlib.import_module(cls.__module__)
    if cls.__module__ == "__main__" or not getattr(module, "__file__", None) or "<locals>" in cls.__qualname__:
        raise UnsupportedError(
            "%s has the hooks of %s, but its base class is %s of this environment, which calls none of them."
            % (cls.__name__, generation, "%s.%s" % (cls.__bases__[0].__module__, cls.__bases__[0].__name__)),
            "a class at the top level of an importable module, which can be loaded on its real base",
            "%s.%s" % (cls.__module__, cls.__qualname__),
            "Move the class into a file of its own and use compat_opt.bridge.load('file.py:%s'), "
            "or run the script by `compat-opt bridge run`." % cls.__name__,
        )


def _check_backend(name, target):
    if target.backend != "tensorflow":
        raise UnsupportedError(
            "%s is TensorFlow code, and Keras runs on its %s backend here." % (name, target.backend),
            "the tensorflow backend",
            "backend %s" % target.backend,
            "Set KERAS_BACKEND=tensorflow before keras is imported, or turn the class into a rule "
            "(compat_opt.UpdateRule), which runs on every backend.",
            target.describe(),
        )


def _make(legacy_class, own, generation, target, uncalled):
    _check_backend(legacy_class.__name__, target)
    base = next(b for b in legacy_class.__mro__ if b not in own)
    hooks.check(legacy_class, own, generation, base, target, uncalled)
    held = importlib.import_module("compat_opt.bridge.held.%s" % generation)
    host = importlib.import_module("compat_opt.bridge.hosts.%s" % target.generation)
    cls = host.make(legacy_class, held.Held, target)
    register(cls, legacy_class, target)
    return cls
