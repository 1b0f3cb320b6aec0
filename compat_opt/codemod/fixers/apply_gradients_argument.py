"""Take ``experimental_aggregate_gradients`` out of ``apply_gradients``.

It became ``skip_gradients_aggregation`` with the opposite meaning in Keras 2.11; True was the default:
https://github.com/keras-team/keras/releases/tag/v2.11.0
"""

import ast

from compat_opt.codemod.syntax import NotLiteral, literal


def visit(node, context):
    """Edits of ``optimizer.apply_gradients(pairs, experimental_aggregate_gradients=...)``."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "apply_gradients"):
        return
    source, given = context.source, {k.arg: k.value for k in node.keywords}
    found = "super" not in ast.dump(node.func) and source.keyword(node, "experimental_aggregate_gradients")
    if not found:
        return
    try:
        aggregates = literal(given["experimental_aggregate_gradients"])
    except NotLiteral:
        return
    if aggregates:
        yield source.without_argument(node, "experimental_aggregate_gradients")
    else:
        yield source.replace(found[0], found[1], "skip_gradients_aggregation=True")
