"""Write ``tf.keras.optimizers.Adam`` for ``tf.keras.optimizers.legacy.Adam``.

From TensorFlow 2.16 on, with Keras 3, the legacy namespace is gone:
https://github.com/keras-team/keras/releases/tag/v3.0.0
"""

import ast

from compat_opt.codemod.fixers import Message
from compat_opt.codemod.syntax import dotted

#: Those whose numbers are the same in both.
SAME = "Adadelta Adagrad Adam Adamax Ftrl Nadam RMSprop SGD".split()


def visit(node, context):
    """Edits of ``....optimizers.legacy.Name`` and ``from ....optimizers.legacy import Name``."""
    source = context.source
    if isinstance(node, ast.Attribute) and (dotted(node) or "").split(".")[-3:-1] == ["optimizers", "legacy"]:
        if node.attr not in SAME:
            yield Message(node.lineno, "optimizers.legacy.%s has no equal outside the legacy namespace" % node.attr)
            return
        first = source.find(source.index(node), "legacy")
        yield source.replace(first - 1, first + 1, "")
    if isinstance(node, ast.ImportFrom) and (node.module or "").endswith("optimizers.legacy"):
        if all(alias.name in SAME for alias in node.names):
            first = source.find(source.index(node), "legacy")
            yield source.replace(first - 1, first + 1, "")
        else:
            yield Message(node.lineno, "not everything that is imported here exists outside the legacy namespace")
