"""What is tried: a rule out of a file, a built-in optimizer, or any class or factory.

========================================  ======================  ================================
text                                      kind                    cells
========================================  ======================  ================================
``my_rules.py``, ``my_rules.py:Lion``     file                    a rule: every target
``compat_opt.rules:Lion``                 module                  a rule: every target
``tf.keras.optimizers:Nadam``             builtin                 that name in every target
``my_package.optimizers:MyAdam``          module                  one a release: its own base class
========================================  ======================  ================================
"""

import ast
import json
import os
import subprocess
import sys
import tempfile

from compat_opt.errors import CommandError
from compat_opt.testing.matrix import cache

_BUILTIN_MODULES = ("tf.keras.optimizers", "tensorflow.keras.optimizers", "tf.optimizers")


class Subject:
    """What is tried.

    Attributes:
        text: as the user gave it.
        kind: "file", "module" or "builtin".
        path, module, name: the file; the module; the name in it (None: the only rule of the file).
        args: the constructor's arguments, Python text such as ``"learning_rate=0.1, centered=True"``.
        paths: folders to import from, absolute.
        is_rule: whether it is an `UpdateRule`.
        source: the hash of its own source files.
    """

    def __init__(self, text, args="", paths=()):
        self.text, self.args = text, args
        self.paths = [os.path.abspath(path) for path in (paths or [os.getcwd()])]
        self.path = self.module = None
        self.kind, place, self.name = split(text)
        if self.kind == "file":
            self.path = os.path.abspath(place)
            self.paths.insert(0, os.path.dirname(self.path))
        else:
            self.module = place
        check_arguments(args)
        self.is_rule, self.name = self._describe()
        self.source = "" if self.kind == "builtin" else cache.digest_files(self.files())

    @property
    def title(self):
        """A short name for headings."""
        return self.name + ("(%s)" % self.args if self.args else "")

    @property
    def has_targets(self):
        """Whether it is tried on each target; else it has a base class of its own."""
        return self.is_rule or self.kind == "builtin"

    def job(self):
        """What the worker needs to find it."""
        fields = ("kind", "path", "module", "name", "args", "paths", "is_rule")
        return {field: getattr(self, field, None) for field in fields}

    def files(self):
        """Its own source files: the file and what it imports out of the folders in `paths`."""
        first = self.path or _module_file(self.module, self.paths)
        return source_closure(first, self.paths) if first else []

    def _describe(self):
        """(is it a rule, its name): asked of Python itself, else read off the source."""
        if self.kind == "builtin":
            return False, self.name
        found = _ask_python(self)
        if "problem" in found:
            raise CommandError(found["problem"], received=self.text)
        if found.get("name"):
            return found["is_rule"], found["name"]
        source = ""
        for path in self.files():
            with open(path, encoding="utf-8") as stream:
                source += stream.read()
        if self.name is None:
            raise CommandError(
                "%s can't be imported here, so its rules are not known." % self.text,
                "FILE:NAME",
                self.text,
                found.get("error", ""),
            )
        return "UpdateRule" in source, self.name


def split(text):
    """``(kind, file or module, name or None)`` of what a user gave.

    Raises:
        CommandError: it is neither a file nor ``module:name``.
    """
    place, colon, name = text.rpartition(":")
    if os.path.isfile(text):
        return "file", text, None
    if colon and os.path.isfile(place) and name.isidentifier():
        return "file", place, name
    is_module = colon and all(part.isidentifier() for part in place.split(".")) and place
    if is_module and name.isidentifier():
        return ("builtin" if place in _BUILTIN_MODULES else "module"), place, name
    raise CommandError(
        "There is nothing to try under this name.",
        "FILE.py, FILE.py:Name, package.module:Name or tf.keras.optimizers:Name",
        text,
        "There is no file %s." % (place or text) if ".py" in text else "",
    )


def check_arguments(text):
    """The keywords in Python text such as ``"learning_rate=0.1, centered=True"``.

    Raises:
        CommandError: something else than ``name=literal``.
    """
    try:
        call = ast.parse("f(%s)" % text, mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(k.arg is None for k in call.keywords):
            raise ValueError(text)
        return {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError):
        raise CommandError(
            "These are no arguments.", "name=value, name=value with plain Python values", "--args %r" % text
        )


def _ask_python(subject):
    """What the subject is, found by importing it in a process of its own with this interpreter."""
    job = {"subject": dict(subject.job(), describe=True)}
    with tempfile.TemporaryDirectory() as folder:
        cache.write_json(os.path.join(folder, "job.json"), job)
        environ = dict(os.environ, PYTHONPATH=cache.package_copy(), TF_CPP_MIN_LOG_LEVEL="3")
        command = [sys.executable, "-m", "compat_opt.testing.matrix.worker", folder]
        ran = subprocess.run(
            command, env=environ, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
        )
        try:
            with open(os.path.join(folder, "result.json")) as stream:
                return json.load(stream)
        except (OSError, ValueError):
            return {"error": ran.stdout.decode(errors="replace").strip()[-400:]}


def _module_file(module, paths):
    """The file of a module in `paths`, or None if it is installed elsewhere."""
    inside = os.path.join(*module.split("."))
    for path in paths:
        for candidate in (inside + ".py", os.path.join(inside, "__init__.py")):
            if os.path.isfile(os.path.join(path, candidate)):
                return os.path.join(path, candidate)
    return None


def source_closure(first, paths):
    """The files that `first` imports, directly or not, out of the folders `paths`, and itself."""
    found, waiting = [], [first]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.append(path)
        with open(path, "rb") as stream:
            try:
                tree = ast.parse(stream.read(), path)
            except SyntaxError:
                continue
        for name in _imported(tree):
            near = [os.path.dirname(path)] + list(paths)
            waiting.extend(f for f in [_module_file(name, near)] if f)
    return found


def _imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if node.module:
                    yield "%s.%s" % (node.module, alias.name)
                else:
                    yield alias.name
            if node.module:
                yield node.module
