"""Runs a script that was written for an older optimizer API with today's models.

In the script, `keras.optimizers` has the base classes of the API that it was written for. A call of
such a class, or of one that the script derives from it, gives an optimizer of the default target that
holds the legacy one; inside of legacy code it gives the legacy one itself.
"""

import abc
import os
import sys
import types

from compat_opt.bridge import written_for
from compat_opt.bridge.adapting import adapt
from compat_opt.bridge.frameworks import keras_of, target_with
from compat_opt.bridge.legacy_code import legacy_code
from compat_opt.bridge.loading import PrivateModules
from compat_opt.bridge.world import Facade, World
from compat_opt.env import default_target
from compat_opt.errors import ArgumentError

def run_script(path, arguments=(), target=None, private=()):
    """Run a script with the optimizer classes it was written for, held by those of the target.

    Modules beside the script see the same; all others see what they always see.

    Args:
        path: the script.
        arguments: what it finds in sys.argv[1:].
        target: a `Target`; default the default target.
        private: names of installed packages that see the same as the script.

    Raises:
        ArgumentError: there is no such file.
        TargetError, UnsupportedError: as `compat_opt.bridge.adapt`.
    """
    if not os.path.isfile(path):
        raise ArgumentError("There is no script to run.", "a Python file", "path=%r" % path)
    target = target or default_target()
    with open(path, encoding="utf-8") as file:
        generation = written_for.of_source(file.read(), "") or "optimizer_v2"
    folder = os.path.dirname(os.path.abspath(path))
    world = ScriptWorld(generation, target)
    modules = PrivateModules(world, _modules_in(folder).union(private), [folder] + sys.path)
    argv, first = sys.argv, sys.path[0]
    sys.argv, sys.path[0] = [path] + list(arguments), folder
    try:
        modules.execute("__main__", os.path.abspath(path))
    finally:
        sys.argv, sys.path[0] = argv, first


def _modules_in(folder):
    names = set()
    for entry in os.listdir(folder):
        if entry.endswith(".py"):
            names.add(entry[: -len(".py")])
        elif os.path.isfile(os.path.join(folder, entry, "__init__.py")):
            names.add(entry)
    return names


class ScriptWorld(World):
    """The answers for a script: models of the target's Keras, optimizer classes of the script's API."""

    def __init__(self, generation, target):
        super().__init__(generation, target_with(generation), keras_of(target.namespace))
        self._bridged, self._host_target = {}, target
        self._bridges = generation != target.generation
        if self._bridges:
            vars(self.optimizers)["base"] = self._base

    def _base(self, name):
        """What `keras.optimizers` of the script has by a name: classes whose calls give hosts."""
        own = getattr(self.optimizers._bases, name, None)
        return self._class(own) if isinstance(own, type) else None

    def _class(self, own):
        if not hasattr(own, "get_config"):
            return own
        if own not in self._bridged:
            self._bridged[own] = _calling_gives_hosts(own, self._host_target)
        return self._bridged[own]

    def below_keras(self, rest, root):
        """As of any world; optimizer classes in private modules are those of `keras.optimizers`."""
        found = super().below_keras(rest, root)
        if not self._bridges or "optimizer" not in rest or found is self.optimizers:
            return found
        if isinstance(found, types.ModuleType) and not isinstance(found, Facade):
            return Facade("%s.%s" % (root, rest), self, found)
        if isinstance(found, type) and found not in self._bridged.values() and self._is_base(found):
            return self._class(found)
        return found

    def _is_base(self, found):
        base = self.optimizers._bases.Optimizer
        return issubclass(found, base) or found in base.__mro__


def _calling_gives_hosts(base, target):
    """A subclass of a legacy base whose calls, and those of its subclasses, give hosts."""

    class Calls(type(base) if issubclass(type(base), abc.ABCMeta) else abc.ABCMeta):
        """The type of legacy classes in a script; packages have abstract ones among them."""

        def __call__(cls, *args, **kwargs):
            if legacy_code.is_running():
                return super().__call__(*args, **kwargs)
            return adapt(cls, target)(*args, **kwargs)

        def __instancecheck__(cls, instance):
            held = getattr(type(instance), "legacy_class", None)
            return issubclass(held, cls) if held is not None else super().__instancecheck__(instance)

    return Calls(base.__name__, (base,), {"__module__": base.__module__, "__doc__": base.__doc__})
