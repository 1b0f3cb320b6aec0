"""Write the schedule that ``decay=`` stood for.

``decay=d`` divided the learning rate by ``1 + d * step``, which is InverseTimeDecay with decay_steps=1. Keras 2.11
and later refuse the argument, Keras 3 accepts it and ignores it:
https://www.tensorflow.org/api_docs/python/tf/keras/optimizers/schedules/InverseTimeDecay
"""

import ast

from compat_opt.codemod.fixers import Message
from compat_opt.codemod.syntax import NotLiteral, dotted, literal

_CALLBACKS = ("LearningRateScheduler", "ReduceLROnPlateau")


def visit(node, context):
    """Edits of ``Adam(learning_rate=x, decay=d)``."""
    if not (isinstance(node, ast.Call) and context.is_optimizer_class(node.func)):
        return
    source = context.source
    found = source.keyword(node, "decay")
    if not found:
        return
    try:
        off = not literal(next(k.value for k in node.keywords if k.arg == "decay"))
    except NotLiteral:
        off = False
    if off:
        yield source.without_argument(node, "decay")
        return
    rate = source.keyword(node, "learning_rate") or source.keyword(node, "lr")
    name = dotted(node.func) or ""
    if rate is None and not node.args or not name.count(".optimizers."):
        yield Message(node.lineno, "decay= is gone: give the learning rate as schedules.InverseTimeDecay(rate, 1, decay)")
        return
    first, end = (rate[0] + 2, rate[1]) if rate else source.arguments(node)[0]
    schedules = name.rpartition(".optimizers.")[0] + ".optimizers.schedules.InverseTimeDecay"
    decay = source.string(found[0] + 2, found[1])
    yield source.replace(first, end, "%s(%s, decay_steps=1, decay_rate=%s)" % (schedules, source.string(first, end), decay))
    yield source.without_argument(node, "decay")
    for setting in _rate_settings(context):
        yield Message(setting.lineno, "the learning rate is a schedule now, and Keras refuses to set it: change the schedule, or leave it out")


def _rate_settings(context):
    """Nodes that set an optimizer's learning rate, or name a callback that does."""
    for node in ast.walk(context.module.tree):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        elif isinstance(node, ast.Call) and (dotted(node.func) or "").rpartition(".")[2] == "set_value":
            targets = node.args[:1]
        elif isinstance(node, ast.Call) and (dotted(node.func) or "").rpartition(".")[2] in _CALLBACKS:
            yield node
            continue
        else:
            continue
        for target in targets:
            if isinstance(target, ast.Attribute) and target.attr in ("lr", "learning_rate") and context.is_optimizer(target.value):
                yield node
