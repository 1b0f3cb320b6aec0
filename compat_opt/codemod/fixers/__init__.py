"""Rewrites of code around optimizers: one file a rewrite, found by walking this folder.

A fixer is a module whose docstring says what it does and why. It has ``visit(node, context)``, which looks at one
node of the syntax tree and yields edits; where a person has to decide, it yields a `Message` in their place. It
returns nothing for everything that it does not know for certain.
"""

import ast
import collections
import importlib
import pkgutil

from compat_opt.codemod.module import Module
from compat_opt.codemod.syntax import inside_f_strings
from compat_opt.codemod.tokens import Source, edited

#: What was changed, or (changed False) what a person has to look at: the fixer's name, the line, and the words.
Fix = collections.namedtuple("Fix", "fixer line text changed")

#: What a fixer yields for a person.
Message = collections.namedtuple("Message", "line text")

_OPTIMIZERS = "Adadelta Adafactor Adagrad Adam AdamW Adamax Ftrl Lamb Lion Nadam RMSprop SGD".split()


def fixers():
    """``{name: module}``: the file names of this folder, sorted."""
    return {info.name: importlib.import_module("%s.%s" % (__name__, info.name)) for info in sorted(pkgutil.iter_modules(__path__))}


class Context:
    """What a fixer may ask about the file."""

    def __init__(self, text):
        self.source = Source(text)
        self.module = Module(text)

    def is_optimizer_class(self, node):
        """Whether an expression names one of Keras' optimizer classes."""
        full = self.module.full_name(node) or ""
        parts = full.split(".")
        return self.module.is_framework(full) and parts[-1] in _OPTIMIZERS and bool({"optimizers", "optimizer_v2"} & set(parts))

    def is_optimizer(self, node):
        """Whether an expression is by its name an optimizer: ``optimizer``, ``opt``, ``model.optimizer``."""
        name = getattr(node, "attr", getattr(node, "id", None))
        return name in ("optimizer", "opt") and isinstance(node, (ast.Name, ast.Attribute))


def fix(text, skipped_classes=()):
    """The text after all fixers, and what they did.

    Args:
        text: source of a file.
        skipped_classes: names of classes whose code is left alone.

    Returns:
        (text, ``[Fix]``).
    """
    context = Context(text)
    edits, done = [], []
    hidden = inside_f_strings(context.module.tree)
    for node in _nodes(context.module.tree, skipped_classes):
        for name, module in fixers().items():
            for found in _in_f_string(module, node, context) if node in hidden else module.visit(node, context):
                if isinstance(found, Message):
                    done.append(Fix(name, found.line, found.text, False))
                else:
                    edits.append(found)
                    done.append(Fix(name, node.lineno, module.__doc__.split("\n")[0].rstrip("."), True))
    return edited(context.source, edits), sorted(set(done), key=lambda f: (f.line, f.fixer, f.changed))


def _in_f_string(module, node, context):
    """What a fixer would change inside of an f-string, as a message: edits go by tokens, and there are none."""
    try:
        found = list(module.visit(node, context))
    except (KeyError, IndexError, ValueError):
        found = [None]
    return [Message(node.lineno, "inside of an f-string: " + module.__doc__.split("\n")[0].rstrip("."))] if found else []


def _nodes(tree, skipped):
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.ClassDef) and child.name in skipped:
            continue
        if hasattr(child, "lineno"):
            yield child
        for inner in _nodes(child, skipped):
            yield inner
