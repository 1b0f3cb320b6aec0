"""What the imports of a legacy module are answered with: today's homes of what it asks for.

A `World` belongs to one API. It maps dotted paths to objects; nothing of it is seen by any other code.
"""

import importlib
import types

from compat_opt.bridge.frameworks import bases, keras_of, optimizers_of, private_root
from compat_opt.bridge.quirks import GONE, LOST_NAMES, MOVED
from compat_opt.errors import ArgumentError, UnsupportedError

#: Paths under which Keras was or is importable, the longest first.
KERAS_ROOTS = (
    "tensorflow.python.keras.api._v2.keras",
    "tensorflow_core.python.keras",
    "tensorflow.python.keras",
    "tensorflow.compat.v2.keras",
    "tensorflow.keras",
    "keras.api._v2.keras",
    "tf_keras.src",
    "tf_keras",
    "keras.src",
    "keras",
)

#: Second names of parts of tf.keras in the tensorflow module.
SECOND_NAMES = ("optimizers", "initializers", "losses", "metrics")


class Facade(types.ModuleType):
    """A module as legacy code sees it: answered names first, the real module's after them.

    Args:
        path: its dotted path.
        world: the `World` that answers names.
        real: the real module.
        more: paths of modules in which names are looked up that the real one has not.
    """

    def __init__(self, path, world, real, more=()):
        super().__init__(path)
        vars(self).update(_path=path, _world=world, _real=real, _more=more)
        for name in ("__version__", "__path__", "__file__"):
            if hasattr(real, name):
                vars(self)[name] = getattr(real, name)

    def __getattr__(self, name):
        answer = self._world.answer("%s.%s" % (self._path, name))
        if answer is not None:
            return answer
        if name.startswith("__"):
            raise AttributeError(name)
        for path in self._more:
            if not hasattr(self._real, name):
                other = _exists(path)
                if hasattr(other, name):
                    return getattr(other, name)
        return getattr(self._real, name)

    def __setattr__(self, name, value):
        self._world.check_replaced(self._path, name)
        super().__setattr__(name, value)

    def __dir__(self):
        return dir(self._real)


class World:
    """The answers for code that was written for one API.

    Args:
        generation: "optimizer_v2", "get_updates", "keras2" or "keras3".
        target: the Target that has the real base classes.
        models: the Keras module that answers layers, models and the like; default the target's own.
    """

    def __init__(self, generation, target, models=None):
        self.generation = generation
        self.target = target
        self.keras = keras_of(target.namespace)
        self.models = models or self.keras
        self.root = private_root(target)
        self.optimizers = Optimizers(self)
        self._answers = {}

    def answer(self, path):
        """The object for a dotted path, or None where the real import is right."""
        if path not in self._answers:
            self._answers[path] = self._find(path)
        return self._answers[path]

    def check_replaced(self, path, name):
        """Refuse a function of the backend that is replaced for a base class, which would go on calling its own."""
        if self.generation == "get_updates" and path.endswith(".backend") and name.startswith("update"):
            raise UnsupportedError(
                "This class replaces keras.backend.%s while its base class makes its updates, and that would not see it." % name,
                "a get_updates that changes the updates it gets from its base class",
                "keras.backend.%s = ..." % name,
                "Write the rule as compat_opt.UpdateRule, or use the package's class for tf.keras.",
            )

    def _find(self, path):
        if path in ("tensorflow", "tensorflow.compat.v2", "tensorflow.python", "tensorflow.compat"):
            return Facade(path, self, importlib.import_module(path))
        if self.generation == "keras3":
            return None if not path.startswith("tensorflow.") else self._below_tensorflow(path)
        for root in KERAS_ROOTS:
            if path == root or path.startswith(root + "."):
                return self.below_keras(path[len(root) + 1 :], root)
        return self._below_tensorflow(path)

    def _below_tensorflow(self, path):
        parts = path.replace("tensorflow.compat.v2.", "tensorflow.").split(".")
        if len(parts) == 2 and parts[0] == "tensorflow" and parts[1] in SECOND_NAMES:
            return self.below_keras(parts[1], "tensorflow.keras")
        moved = {record.old: record for record in MOVED}.get(path)
        if path in LOST_NAMES:
            return Facade(path, self, importlib.import_module(path), LOST_NAMES[path])
        if moved is None:
            known = [record.old for record in MOVED if record.old.startswith(path + ".")]
            return Facade(path, self, importlib.import_module(path)) if known and _exists(path) else None
        return _exists(path) or self._first(moved.new)

    def below_keras(self, rest, root):
        """The object at path `rest` below a root of Keras."""
        if rest == "":
            return Facade(root, self, self.models)
        if rest == "optimizers":
            return self.optimizers
        if rest.startswith("optimizers.") and self.optimizers.base(rest[len("optimizers.") :]) is not None:
            return self.optimizers.base(rest[len("optimizers.") :])
        if (rest + ".").startswith("optimizers.legacy.") and "src" not in root and "python" not in root:
            legacy = optimizers_of(self.target) if self.generation == "optimizer_v2" else None
            name = rest[len("optimizers.legacy.") :]
            if not name or hasattr(legacy, name):
                return getattr(legacy, name) if name else legacy
        for record in MOVED:
            old = record.old.replace("keras/", "").replace("/", ".")
            if rest == old or rest.startswith(old + "."):
                found = self._first(tuple(new + rest[len(old) :] for new in record.new))
                if found is not None:
                    return found
        if rest in {name.replace("/", ".") for name in GONE}:
            return stand_in(rest)
        if rest == "backend.update_add" and self.generation == "get_updates":
            return importlib.import_module("compat_opt.bridge.counters").update_add_of(self.keras.backend)
        if rest == "backend":
            return Facade(root + ".backend", self, self.keras.backend)
        found = self._public(rest)
        if isinstance(found, types.ModuleType):
            return Facade("%s.%s" % (root, rest), self, found)  # what legacy code writes there stays there
        return self._first(("@." + rest,)) if found is None else found

    def _public(self, rest):
        for keras in (self.models, self.keras):
            found = keras
            for part in rest.split("."):
                found = getattr(found, part, None)
            if found is not None:
                return found
        return None

    def _first(self, paths):
        for path in paths:
            path = path.replace("@", self.root)
            found = _exists(path)
            if found is None and "." in path:
                parent, name = path.rsplit(".", 1)
                found = getattr(_exists(parent), name, None)
            if found is not None:
                return found
        return None


def _exists(path):
    """The module at a path, or None; an import that fails for another reason raises."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if path == error.name or path.startswith("%s." % error.name):
            return None
        raise


class Optimizers(types.ModuleType):
    """``keras.optimizers`` of a world: its names are the base classes of the world's API."""

    def __init__(self, world):
        super().__init__("keras.optimizers")
        vars(self).update(_world=world, _bases=bases(world.generation, world.target), __path__=[])

    def base(self, name):
        """The class called `name` of the world's API, or None."""
        own = getattr(self._bases, name, None)
        return own if isinstance(own, type) else None

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        world = vars(self)["_world"]
        if self.base(name) is not None:
            return self.base(name)
        if world.generation == "optimizer_v2" and name in ("get", "deserialize"):
            return _legacy_first(getattr(world.keras.optimizers, name))
        if world.generation == "get_updates" and name in ("get", "deserialize"):
            return _by_name(self._bases)
        for module in (world.keras.optimizers, self._bases):
            if hasattr(module, name):
                return getattr(module, name)
        answer = world.answer("keras.optimizers.%s" % name)
        if answer is None:
            raise AttributeError("module 'keras.optimizers' has no attribute %r" % name)
        return answer

    def __dir__(self):
        return sorted(set(dir(self._bases)) | set(dir(self._world.keras.optimizers)))


def _legacy_first(function):
    """optimizers.get or deserialize; a name gives the OptimizerV2 class where the Keras has both."""

    def get(identifier, *args, **kwargs):
        code = getattr(function, "__wrapped__", function).__code__
        if "use_legacy_optimizer" in code.co_varnames or code.co_flags & 0x08:
            kwargs.setdefault("use_legacy_optimizer", True)
        if isinstance(identifier, str):
            identifier = {"class_name": identifier, "config": {}}
        return function(identifier, *args, **kwargs)

    return get


def _by_name(bases):
    """optimizers.get or deserialize of multi-backend Keras."""

    def get(identifier, custom_objects=None):
        if isinstance(identifier, str):
            identifier = {"class_name": identifier, "config": {}}
        if not isinstance(identifier, dict):
            return identifier
        wanted = identifier["class_name"]
        classes = {name.lower(): value for name, value in vars(bases).items() if isinstance(value, type)}
        classes.update({name.lower(): value for name, value in (custom_objects or {}).items()})
        if wanted.lower() not in classes:
            raise ArgumentError("Keras before tf.keras has no such optimizer.", received="%r" % wanted)
        return classes[wanted.lower()].from_config(identifier["config"])

    return get


def stand_in(name):
    """A module for one that no Keras of today has: its decorators leave what they decorate as it is."""
    if name == "backend.symbolic":
        return unchanged
    module = types.ModuleType("keras." + name)
    if name == "legacy":
        module.interfaces = stand_in("legacy.interfaces")
    elif name == "legacy.interfaces":
        module.legacy_get_updates_support = unchanged
    return module


def unchanged(function):
    """A decorator that leaves what it decorates as it is."""
    return function
