"""Rules out of a user's file: ``FILE.py`` or ``FILE.py:Rule``."""

import importlib.util
import os
import sys
import traceback

from compat_opt.errors import CommandError, closest
from compat_opt.spec import UpdateRule


def split(text):
    """``(path, name)`` of ``path[:name]``; the name is None where none is given."""
    path, colon, name = text.rpartition(":")
    if colon and name.isidentifier() and not os.path.exists(text):
        return path, name
    return text, None


def load_rules(text):
    """The rules that ``FILE[:RULE]`` names, in the order of the file.

    Args:
        text: the path of a Python file, with ``:Name`` for one rule of it; without, every rule class
            that the file itself defines, except those whose names start with an underscore.

    Raises:
        CommandError: no such file, it can't be imported, or it has no such rule.
    """
    path, name = split(text)
    module = _import(path)
    rules = {key: value for key, value in vars(module).items() if _is_rule(value)}
    if name is not None:
        if name not in rules:
            raise CommandError(
                "%s has no rule %r." % (path, name),
                "one of %s" % ", ".join(rules) if rules else "a subclass of compat_opt.UpdateRule",
                "%s:%s" % (path, name),
                closest(name, rules),
            )
        return [rules[name]]
    own = [v for key, v in rules.items() if v.__module__ == module.__name__ and not key.startswith("_")]
    if not own:
        raise CommandError(
            "%s defines no rule." % path,
            "a class Name(compat_opt.UpdateRule) with an update()",
            "the names %s" % (", ".join(k for k in vars(module) if not k.startswith("_")) or "(none)"),
            "A rule that it imports can be named: %s:Name." % path,
        )
    return list(dict.fromkeys(own))


def _is_rule(value):
    return isinstance(value, type) and issubclass(value, UpdateRule) and value.update is not UpdateRule.update


def _import(path):
    """The file as a module; its folder can be imported from, as when Python runs the file."""
    if not os.path.isfile(path):
        raise CommandError("There is no file %s." % path, "the path of a Python file", "FILE=%s" % path)
    folder, file_name = os.path.split(os.path.abspath(path))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    # A name of its own, so that a file called keras.py shadows nothing; registered, so that classes pickle.
    name = "checked_" + os.path.splitext(file_name)[0].replace(".", "_").replace("-", "_")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise CommandError("%s is no Python file." % path, "a file that ends with .py", "FILE=%s" % path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise CommandError(
            "%s can't be imported." % path,
            received="%s: %s%s" % (type(error).__name__, error, _line_in(path, error)),
            remedy="It has to run by itself: python %s." % path,
        ) from error
    return module


def _line_in(path, error):
    """`` (line N)``: the last line of the file itself that took part, where the error does not say."""
    if isinstance(error, SyntaxError):
        return ""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if _same(frame.filename, path)]
    return " (line %d)" % lines[-1] if lines else ""


def _same(first, second):
    return os.path.abspath(first) == os.path.abspath(second)
