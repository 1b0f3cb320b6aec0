"""A source file: what its names stand for, its optimizer classes, and its comments."""

import ast
import collections
import functools
import io
import os
import tokenize

from compat_opt.codemod.syntax import dotted

FRAMEWORKS = ("tensorflow", "keras", "tf_keras", "keras_core", "numpy", "math", "tensorflow_addons")

#: What these names mean where the file imports them from a module of its own.
_CUSTOMARY = {
    "tf": "tensorflow",
    "K": "tensorflow.keras.backend",
    "keras": "tensorflow.keras",
    "optimizers": "tensorflow.keras.optimizers",
}

#: Optimizers of Keras whose own update the migrator knows (compat_opt/codemod/bases).
BUILT_IN = ("Adam", "SGD", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam", "Ftrl")

_HOOKS = {
    "_resource_apply_dense": "optimizer_v2",
    "_resource_apply_sparse": "optimizer_v2",
    "update_step": "keras",
    "get_updates": "get_updates",
}

#: Decorators that leave a function what it is.
_HARMLESS = ("property", "staticmethod", "classmethod")
_HARMLESS_MODULES = ("abc", "functools", "typing", "typing_extensions", "typeguard")

Class = collections.namedtuple("Class", "node bases enclosing")


class Module:
    """One parsed file.

    Args:
        text: its source.
        path: where it lies. What it imports from files of its own package is found from there.

    Raises:
        SyntaxError: it is no Python.
    """

    def __init__(self, text, path=None):
        self.text, self.path = text, path
        self.lines = text.split("\n")
        self.tree = ast.parse(text)
        self.imports, self.origins = {}, {}
        self.functions = {}
        self.assigned = {}
        self.classes = {}
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._import(node)
        self._defined = []
        self._top(self.tree.body, None)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Global):  # a function changes them: they have more than one value
                for name in node.names:
                    self.assigned.setdefault(name, []).append(node)
        self.comments = _comments(text)
        self.twice = {name for name in self._defined if self._defined.count(name) > 1}

    def _import(self, node):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                self.imports[alias.asname or top] = alias.name if alias.asname else top
            return
        for alias in node.names:
            name = alias.asname or alias.name
            module = node.module or ""
            self.origins[name] = (node.level, module, alias.name)
            if node.level or module.split(".")[0] not in FRAMEWORKS:
                self.imports[name] = _CUSTOMARY.get(name, "%s.%s" % (module or ".", alias.name))
            else:
                self.imports[name] = "%s.%s" % (module, alias.name)

    def _top(self, body, enclosing):
        for node in body:
            if enclosing is None and isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                self._defined.append(node.name)
            if isinstance(node, ast.FunctionDef):
                if enclosing is None:
                    self.functions[node.name] = node
                self._top(node.body, enclosing or node)
            elif isinstance(node, ast.ClassDef):
                name = node.name
                if name in self.classes and enclosing is not None:
                    name = "%s.%s" % (enclosing.name, name)
                self.classes.setdefault(name, Class(node, node.bases, enclosing))
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                if enclosing is None and node.value is not None:
                    for target in getattr(node, "targets", None) or [node.target]:
                        if isinstance(target, ast.Name):
                            self.assigned.setdefault(target.id, []).append(node.value)
            elif isinstance(node, (ast.If, ast.Try, ast.With)):
                parts = [node.body, getattr(node, "orelse", []), getattr(node, "finalbody", [])]
                parts += [handler.body for handler in getattr(node, "handlers", [])]
                for part in parts:
                    self._top(part, enclosing)

    def comments_above(self, line):
        """The comments on lines of their own right above a line."""
        found = []
        while self.comments.get(line - 1, ("", False))[1]:
            line -= 1
            found.insert(0, self.comments[line][0])
        return found

    def full_name(self, node, depth=0):
        """The dotted name of `node` with imports and module-level names followed; None if it has none."""
        while isinstance(node, ast.IfExp):
            node = node.body
        name = dotted(node)
        if name is None:
            return None
        first, _, rest = name.partition(".")
        if first in self.imports:
            first = self.imports[first]
        elif first in self.assigned and depth < 5:
            found = self.full_name(self.assigned[first][0], depth + 1)
            first = found or first
        return first + ("." + rest if rest else "")

    def elsewhere(self, name):
        """(function or value, `Module`) of a name that is imported from another file of the package, or None."""
        if self.path is None or name not in self.origins or name in _CUSTOMARY:
            return None
        level, module, own_name = self.origins[name]
        path = package_file(self.path, level, module)
        other = read_module(path) if path is not None else None
        if other is None:
            return None
        if own_name in other.functions:
            return other.functions[own_name], other
        if len(other.assigned.get(own_name, ())) == 1:
            return other.assigned[own_name][0], other
        return other.elsewhere(own_name) if path != self.path else None

    def is_framework(self, full_name):
        """Whether the name comes out of TensorFlow, Keras or NumPy."""
        return full_name.split(".")[0] in FRAMEWORKS + ("tf", "K", "np")

    def strange_decorators(self, node):
        """Decorators of a function or class that may make something else of it, as they are called."""
        found = []
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = self.full_name(called) or ""
            harmless = name in _HARMLESS or name.split(".")[0] in _HARMLESS_MODULES or name.endswith((".setter", ".deleter"))
            if name.split(".")[0] in self.functions or not harmless and not self.is_framework(name):
                found.append(dotted(called) or "a call")
        return found

    def method_table(self, name):
        """``{method: (function, class name)}`` of a class of this file, its bases in this file included."""
        found = {}
        for current in self.lineage(name)[0]:
            for node in self.classes[current].node.body:
                if isinstance(node, ast.FunctionDef):
                    found.setdefault(node.name, (node, current))
        return found

    def lineage(self, name):
        """The class, its bases in this file, and the built-in optimizer at the end (or None), nearest first."""
        chain, built_in = [], None
        for current in self._all_bases(name):
            if current in self.classes:
                chain.append(current)
            elif current:
                built_in = built_in or self._built_in(current)
        return chain, built_in

    def _all_bases(self, name, inside=()):
        """A class and its bases in the order in which Python looks methods up: each before its own bases."""
        if name not in self.classes or name in inside:
            return [name]
        bases = [dotted(base) or "" for base in self.classes[name].bases]
        rows = [self._all_bases(base, inside + (name,)) for base in bases] + [bases]
        order = [name]
        while any(rows):
            heads = [row[0] for row in rows if row]
            free = [head for head in heads if not any(head in row[1:] for row in rows)]
            taken = (free or heads)[0]
            order.append(taken)
            rows = [[base for base in row if base != taken] for row in rows]
        return order

    def _built_in(self, name):
        full = self.full_name(ast.parse(name, mode="eval").body) or name
        last = full.split(".")[-1]
        return last if last in BUILT_IN and (self.is_framework(full) or name in self.assigned) else None

    def style(self, name):
        """Which hooks a class has: "optimizer_v2", "keras", "get_updates", or None for no optimizer."""
        if not self.is_optimizer(name):
            return None
        methods = self.method_table(name)
        for hook, style in _HOOKS.items():
            if hook in methods:
                return style
        return "none"

    def _is_rule(self, name):
        """Whether a class of this file has a rule's update."""
        updates = [n for n in self.classes[name].node.body if isinstance(n, ast.FunctionDef) and n.name == "update"]
        return any([a.arg for a in n.args.args] == ["self", "grad", "var", "slots", "hyper", "ops"] for n in updates)

    def is_optimizer(self, name, seen=()):
        """Whether a class of this file derives from an optimizer."""
        if name in seen or self._is_rule(name):
            return False
        for base in self.classes[name].bases:
            text = dotted(base)
            if text is None:
                continue
            if text in self.classes:
                if self.is_optimizer(text, seen + (name,)):
                    return True
                continue
            last = (self.full_name(base) or text).split(".")[-1]
            if "Schedule" in last:
                continue  # tf.keras.optimizers.schedules has no optimizers
            if "Optimizer" in last or "optimizer" in text or last in BUILT_IN:
                return True
        hooks = {"_resource_apply_dense", "get_updates"} | ({"update_step"} if self.classes[name].enclosing else set())
        return bool(hooks & set(self.method_table(name)))


def package_file(path, level, module):
    """The file of `module` as the file `path` would import it, if it belongs to the same package; else None."""
    folder = os.path.dirname(os.path.abspath(path))
    parts = module.split(".") if module else []
    if level:
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
    else:
        top = folder
        while os.path.exists(os.path.join(top, "__init__.py")):
            top = os.path.dirname(top)
        if top != folder and os.path.relpath(folder, top).split(os.sep)[0] != parts[0]:
            return None
        folder = top
    for found in (os.path.join(folder, *parts) + ".py", os.path.join(folder, *(parts + ["__init__.py"]))):
        if parts and os.path.isfile(found) or found.endswith("__init__.py") and os.path.isfile(found):
            return found
    return None


@functools.lru_cache(maxsize=64)
def read_module(path):
    """The `Module` of a file that is only read, or None where it can't be."""
    try:
        with open(path, encoding="utf-8-sig") as stream:
            return Module(stream.read(), path)
    except (OSError, SyntaxError, UnicodeDecodeError):
        return None


def _comments(text):
    """``{line: (comment text, whether it stands alone)}``."""
    found = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                found[token.start[0]] = (token.string, not token.line[: token.start[1]].strip())
    except (tokenize.TokenError, IndentationError):  # ast has parsed it: only the end is in doubt
        pass
    return found
