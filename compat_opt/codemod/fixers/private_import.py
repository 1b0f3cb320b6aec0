"""Import from TensorFlow's public modules what was imported from ``tensorflow.python.keras``.

Those modules are private: they were a second copy of Keras from 2.6 on and are partly gone since 2.16:
https://github.com/tensorflow/tensorflow/releases/tag/v2.6.0
"""

import ast

from compat_opt.codemod.fixers import Message

#: Private module, and the public one that has the same names.
PUBLIC = {
    "tensorflow.python.keras": "tensorflow.keras",
    "tensorflow.python.keras.backend": "tensorflow.keras.backend",
    "tensorflow.python.keras.optimizers": "tensorflow.keras.optimizers",
    "tensorflow.python.keras.callbacks": "tensorflow.keras.callbacks",
    "tensorflow.python.keras.layers": "tensorflow.keras.layers",
    "tensorflow.python.keras.models": "tensorflow.keras.models",
    "tensorflow.python.keras.optimizer_v2.learning_rate_schedule": "tensorflow.keras.optimizers.schedules",
}

#: Modules of one class each.
_SINGLE = {
    "tensorflow.python.keras.optimizer_v2." + name.lower(): (name, "tensorflow.keras.optimizers")
    for name in ("Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam")
}


def visit(node, context):
    """Edits of ``from tensorflow.python.keras... import ...``."""
    if isinstance(node, ast.Import):
        for name in [alias.name for alias in node.names if alias.name.startswith("tensorflow.python.keras")]:
            yield Message(node.lineno, "%s is private to TensorFlow: import what is used of it from tensorflow.keras" % name)
    if not isinstance(node, ast.ImportFrom) or node.level:
        return
    module = node.module or ""
    names = [alias.name for alias in node.names]
    public = PUBLIC.get(module)
    if module in _SINGLE and names == [_SINGLE[module][0]]:
        public = _SINGLE[module][1]
    if module == "tensorflow.python.keras" and not set(names) <= {"backend", "layers", "models", "optimizers", "callbacks"}:
        public = None
    if public is not None:
        source = context.source
        first = source.find(source.index(node), "tensorflow")
        yield source.replace(first, source.find(first, "import"), public)
    elif module.startswith("tensorflow.python.keras"):
        yield Message(node.lineno, "%s is private to TensorFlow and has no public equal" % module)
