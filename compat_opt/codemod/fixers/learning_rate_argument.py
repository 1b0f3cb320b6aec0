"""Write ``learning_rate=`` for the argument ``lr=`` of an optimizer.

Keras 2.11 and later have no ``lr``: https://github.com/keras-team/keras/releases/tag/v2.11.0
"""

import ast


def visit(node, context):
    """Edits of ``Adam(lr=...)``."""
    if isinstance(node, ast.Call) and context.is_optimizer_class(node.func):
        found = context.source.keyword(node, "lr")
        if found and context.source.keyword(node, "learning_rate") is None:
            yield context.source.replace(found[0], found[0] + 1, "learning_rate")
