"""Write the optimizer's variables for ``optimizer.get_weights()``.

Keras 2.11 and later have no ``get_weights`` on optimizers. The order of the variables is another one too, so that
``set_weights`` is left to a person: https://github.com/keras-team/keras/releases/tag/v2.11.0
"""

import ast

from compat_opt.codemod.fixers import Message
from compat_opt.codemod.syntax import dotted


def visit(node, context):
    """Edits of ``optimizer.get_weights()``; messages for ``set_weights``, and where positions count."""
    if isinstance(node, ast.Subscript) and (dotted(getattr(node.value, "func", None)) or "").endswith(".get_weights"):
        if context.is_optimizer(node.value.func.value):
            yield Message(node.lineno, "get_weights()[...]: the order of the variables is another, and so are positions in it")
        return
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return
    if not context.is_optimizer(node.func.value) or node.keywords:
        return
    source = context.source
    if node.func.attr == "get_weights" and not node.args:
        first = source.index(node)
        name = source.find(first, "get_weights")
        receiver = source.string(first, name - 1)
        yield source.replace(first, name + 3, "[variable.numpy() for variable in %s.variables]" % receiver)
    elif node.func.attr == "set_weights":
        yield Message(node.lineno, "optimizer.set_weights is gone and the order is another: compat_opt.state carries state over")
