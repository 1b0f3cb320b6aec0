"""Write ``optimizer.learning_rate`` for ``optimizer.lr``.

Keras 3's optimizers have no ``lr``: https://keras.io/api/optimizers/
"""

import ast


def visit(node, context):
    """Edits of ``optimizer.lr``, read or set."""
    if isinstance(node, ast.Attribute) and node.attr == "lr" and context.is_optimizer(node.value):
        source = context.source
        first = source.index(node)
        end = source.index(node.value)
        while not (source.tokens[end].string == "lr" and source.tokens[end - 1].string == "."):
            end += 1
        if end > first:
            yield source.replace(end, end + 1, "learning_rate")
