"""Loads modules privately: their imports are answered by a `World`, and sys.modules never sees them.

The loaded code has builtins of its own, whose ``__import__`` asks the world. That holds for imports
inside its functions too, whenever they run, and for no other code, in no other thread.
"""

import builtins
import importlib.machinery
import importlib.util
import os
import sys
import threading
import types

from compat_opt.bridge.world import Facade, Optimizers


class RunFirst(BaseException):
    """A bare package whose __init__ has to run before its modules. Not an Exception: legacy code may catch these."""

    def __init__(self, package):
        super().__init__(package)
        self.package = package


class SysModules(dict):
    """sys.modules as legacy code sees it: what it writes there stays there.

    Args:
        private: the modules that were loaded privately.
    """

    def __init__(self, private):
        super().__init__()
        self._private = private

    def __missing__(self, name):
        return self._private[name] if name in self._private else sys.modules[name]

    def __contains__(self, name):
        return dict.__contains__(self, name) or name in self._private or name in sys.modules

    def get(self, name, default=None):
        """The module called `name`, written here or the process's."""
        return self[name] if name in self else default


class PrivateModules:
    """Modules that were loaded in one world.

    Args:
        world: answers imports.
        packages: names of top-level packages and modules that are loaded privately too.
        path: folders to look for them in; default sys.path.
    """

    def __init__(self, world, packages=(), path=None):
        self.world = world
        self.packages = set(packages)
        self.path = path
        self.modules = {}
        self._bare = {}
        self._lock = threading.RLock()
        self.sys = Facade("sys", world, sys)
        self.sys.modules = SysModules(self.modules)
        self.builtins = dict(vars(builtins), __import__=self._import)

    def load(self, name):
        """The private module called `name`.

        Raises:
            ModuleNotFoundError: there is none.
        """
        with self._lock:
            if name in self.modules:
                return self.modules[name]
            parent, _, last = name.rpartition(".")
            path = self.path
            if parent:
                path = getattr(self.load(parent), "__path__", None)
                if name in self.modules:  # the parent loads it
                    return self.modules[name]
            spec = importlib.machinery.PathFinder.find_spec(name, path) if path or not parent else None
            if spec is None:
                raise ModuleNotFoundError("No module named %r" % name, name=name)
            module = self.execute(name, spec.origin, spec.submodule_search_locations)
            if dict.__contains__(self.sys.modules, name):  # it put something else in its place
                module = self.modules[name] = dict.__getitem__(self.sys.modules, name)
            if parent:
                setattr(self.modules[parent], last, module)
            return module

    def execute(self, name, file, locations=None):
        """Run a file as the module `name`; a file that raises leaves no module behind."""
        module = self._new(name, file, locations)
        if file is None or not file.endswith(".py"):  # a namespace package, or compiled code
            return module if file is None else importlib.import_module(name)
        with self._lock:
            self.modules[name] = module
            try:
                self._run(module, file)
            except BaseException:
                self.modules.pop(name, None)
                raise
        return module

    def bare_package(self, name, folder):
        """A package whose __init__ is not run: the parent of a file that is loaded alone.

        Its modules are there as attributes, as if the __init__ had imported them. Where the code imports a name of
        it that only the __init__ makes, `RunFirst` is raised.
        """
        module = self._new(name, None, [folder])
        module.__getattr__ = lambda attribute: self._module_in(name, attribute)
        self._bare[name] = os.path.getsize(os.path.join(folder, "__init__.py")) > 0
        self.modules[name] = module
        self.packages.add(name.split(".")[0])
        return module

    def _module_in(self, package, name):
        try:
            return self.load("%s.%s" % (package, name))
        except ModuleNotFoundError as error:
            if error.name != "%s.%s" % (package, name):
                raise
            raise AttributeError("module %r has no attribute %r" % (package, name))

    def _run(self, module, file):
        with open(file, "rb") as source:
            code = compile(source.read(), file, "exec", dont_inherit=True)
        exec(code, vars(module))

    def _new(self, name, file, locations):
        module = types.ModuleType(name)
        module.__builtins__ = self.builtins
        module.__package__ = name if locations is not None else name.rpartition(".")[0]
        if locations is not None:
            module.__path__ = list(locations)
        if file is not None:
            module.__file__ = file
        if file is None and locations is not None:
            self.modules[name] = module
        return module

    def _is_private(self, name):
        return name.split(".")[0] in self.packages

    def _find(self, name):
        """The module or object at a path that is private or answered, else None."""
        if dict.__contains__(self.sys.modules, name):
            return dict.__getitem__(self.sys.modules, name)
        if name == "sys":
            return self.sys
        if name in self.modules:
            return self.modules[name]
        if self._is_private(name):
            return self.load(name)
        return self.world.answer(name)

    def _import(self, name, globals=None, locals=None, fromlist=(), level=0):
        if level:
            package = (globals or {}).get("__package__") or ""
            parts = package.split(".")[: len(package.split(".")) - level + 1]
            name = ".".join(parts + ([name] if name else []))
        found = self._find(name)
        if found is None:
            try:
                real = builtins.__import__(name, globals, locals, fromlist, 0)
            except (ImportError, AttributeError) as error:
                _hint(error, name.partition(".")[0])
                raise
            return self._with_answers(name, real, fromlist or ())
        if not fromlist:
            return self._find(name.partition(".")[0]) or builtins.__import__(name.partition(".")[0])
        return self._with_answers(name, found, fromlist)

    def _with_answers(self, name, module, fromlist):
        """The module that a from-import takes its names from."""
        if self._is_private(name):
            for item in fromlist:
                if item != "*" and not hasattr(module, item):
                    try:
                        self.load("%s.%s" % (name, item))
                    except ModuleNotFoundError as error:
                        if error.name != "%s.%s" % (name, item):
                            raise
                        if self._bare.get(name):
                            raise RunFirst(name)
            return module
        if isinstance(module, types.ModuleType) and not isinstance(module, (Facade, Optimizers)):
            if any(item != "*" and self.world.answer("%s.%s" % (name, item)) is not None for item in fromlist):
                return Facade(name, self.world, module)
        return module


def _hint(error, package):
    """Add to an error of another package's own imports that these could be answered, too."""
    if (getattr(error, "name", None) or package).partition(".")[0] == package:
        return  # it is not there at all
    error.msg = "%s. If %s was written for an older Keras, load it privately, too: private=(%r,), or --private %s" % (
        error, package, package, package,
    )  # fmt: skip
    error.args = (error.msg,)


def source_of(location, path=None):
    """(module name, file, package folder or None) for "package.module" or a file's path."""
    if location.endswith(".py") or os.sep in location:
        file = os.path.abspath(location)
        return os.path.splitext(os.path.basename(file))[0], file, _package_of(file)
    spec = _spec(location, path)
    return location, spec.origin if spec else None, None


def _spec(name, path):
    """The spec of a module, found without importing its parents."""
    found, where = None, path if path is not None else sys.path
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        found = importlib.machinery.PathFinder.find_spec(".".join(parts[:count]), where)
        if found is None:
            return None
        where = found.submodule_search_locations
    return found


def _package_of(file):
    """The dotted name of the package that a file lies in, with its folder: (name, folder), or None."""
    folder = os.path.dirname(file)
    names = []
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        names.insert(0, os.path.basename(folder))
        folder = os.path.dirname(folder)
    return (names, folder) if names else None
