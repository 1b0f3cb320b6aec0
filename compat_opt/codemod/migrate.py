"""From the source of a file to the source with its optimizer classes as rules."""

import ast
import collections

from compat_opt.codemod import hooks
from compat_opt.codemod.bases import base_module
from compat_opt.codemod.model import ClassModel, Restart
from compat_opt.codemod.module import Module
from compat_opt.codemod.values import Refused
from compat_opt.codemod.writer import write_rule

CONVERTED, NOTES, REFUSED = "converted", "notes", "refused"

#: name, outcome, line: of the class, or of what was refused; reason: of a refusal, or the notes;
#: text: the rule's source or None; notes: [(line, text)]; model: the followed class, or None.
ClassResult = collections.namedtuple("ClassResult", "name outcome line reason text notes model")


def migrate_class(module, name):
    """Migrate one class of a `Module`; a `ClassResult`."""
    node = module.classes[name].node
    static, attempts = set(), 0
    while True:
        attempts += 1
        model = None
        try:
            model, executor = _follow(module, name, static)
            text = write_rule(model, executor)
            ast.parse(text)
            break
        except Restart as restart:
            if restart.names <= static or attempts > 20:
                return ClassResult(name, REFUSED, node.lineno, "its hyperparameters can't be told apart", None, [], None)
            static |= restart.names
        except Refused as refused:
            considered = getattr(refused, "considered", set()) - static
            if considered and attempts < 20:
                static |= considered
                continue
            return ClassResult(name, REFUSED, refused.line or node.lineno, refused.reason, None, [], None)
        except RecursionError:
            return ClassResult(name, REFUSED, node.lineno, "the code is nested too deeply", None, [], None)
    notes = sorted(model.notes)
    outcome = NOTES if notes else CONVERTED
    reason = "; ".join("line %d: %s" % note for note in notes)
    return ClassResult(name, outcome, node.lineno, reason, text, notes, model)


def _follow(module, name, static):
    model = ClassModel(module, name, base_module, static)
    style = module.style(name)
    _refuse_what_is_no_rule(model, style)
    if style == "none":
        style = "optimizer_v2"
    try:
        hooks.declare(model, style)
        executor = hooks.follow_dense(model, style)
    except Refused as refused:
        refused.considered = model.considered
        raise
    return model, executor


def _refuse_what_is_no_rule(model, style):
    enclosing = model.module.classes[model.name].enclosing
    if enclosing is not None:
        raise Refused(
            "it is made inside the function %s, over a base class that is an argument: a wrapper, no rule" % enclosing.name,
            model.node,
        )


def optimizer_classes(module):
    """Names of the optimizer classes of a module, in the order of the file."""
    return [name for name in module.classes if module.style(name) is not None]


def migrate_module(text, only=None):
    """``[ClassResult]`` of the optimizer classes in `text`."""
    module = Module(text)
    return [migrate_class(module, name) for name in optimizer_classes(module) if only in (None, name)]
