"""From a job's subject to something that makes optimizers."""

import ast
import importlib
import importlib.util
import os
import sys


class Absent(Exception):
    """What is tried does not exist in this environment."""

    status = "absent"


def arguments(text):
    """{keyword: value} of Python text such as ``"learning_rate=0.1, centered=True"``."""
    call = ast.parse("f(%s)" % (text or ""), mode="eval").body
    return {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}


def describe(subject):
    """{"name", "is_rule"} of a subject; {"problem"} where a file has no or several rules."""
    module = import_subject(subject)
    if subject["name"] is None:
        own = [n for n, v in vars(module).items() if is_rule(v) and v.__module__ == module.__name__]
        own = [name for name in own if not name.startswith("_")]
        if len(own) != 1:
            what = "defines no rule" if not own else "defines several rules: %s" % ", ".join(own)
            return {"problem": "%s %s; name one: FILE:NAME." % (os.path.basename(subject["path"]), what)}
        return {"name": own[0], "is_rule": True}
    if not hasattr(module, subject["name"]):
        return {"problem": "%s has no %s." % (module.__name__, subject["name"])}
    return {"name": subject["name"], "is_rule": is_rule(getattr(module, subject["name"]))}


def is_rule(value):
    """Whether `value` is a rule class with an update()."""
    from compat_opt.spec import UpdateRule

    return isinstance(value, type) and issubclass(value, UpdateRule) and value.update is not UpdateRule.update


def import_subject(subject):
    """The module that a subject is in."""
    if subject["kind"] == "file":
        return import_file(subject["path"])
    return _module(subject["module"])


def import_file(path):
    """A Python file as a module; registered, so that its classes pickle."""
    stem = os.path.splitext(os.path.basename(path))[0]
    name = "tried_" + "".join(c if c.isalnum() else "_" for c in stem)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _module(name):
    """A module by its dotted name; ``tf`` is TensorFlow, whose lazy parts are attributes."""
    first, _, rest = name.partition(".")
    if first not in ("tf", "tensorflow"):
        return importlib.import_module(name)
    import tensorflow

    found = tensorflow
    for part in rest.split(".") if rest else ():
        if not hasattr(found, part):
            raise Absent("%s is not in this TensorFlow: no %s" % (name, part))
        found = getattr(found, part)
    return found


def load(subject, target):
    """(rule or None, function of keywords that makes an optimizer) for a target.

    Args:
        subject: the job's subject.
        target: a `Target`, or None for a class with a base class of its own.

    Raises:
        Absent: this environment has no such optimizer.
    """
    given = arguments(subject["args"])
    if subject["kind"] == "builtin":
        cls = native(subject["name"], target)
        return None, lambda **more: cls(**dict(given, **more))
    found = getattr(import_subject(subject), subject["name"], None)
    if found is None:
        raise Absent("%s has no %s here" % (subject["module"] or subject["path"], subject["name"]))
    if is_rule(found):
        from compat_opt.adapters import compile_rule

        compiled = compile_rule(found, target)
        return found, lambda **more: compiled(**dict(given, **more))
    return None, lambda **more: found(**dict(given, **more))


def native(name, target):
    """The native optimizer class `name` of a target.

    Raises:
        Absent: it has none.
    """
    tried = []
    for module in _native_modules(target):
        tried.append(module.__name__)
        if hasattr(module, name):
            return getattr(module, name)
    raise Absent("%s has no %s" % (target.namespace, name))


def _native_modules(target):
    if target.namespace.startswith("tf_keras"):
        import tf_keras

        return [tf_keras.optimizers.legacy if target.namespace == "tf_keras.legacy" else tf_keras.optimizers]
    if target.namespace == "keras":
        import keras

        return [keras.optimizers]
    import tensorflow as tf

    optimizers = tf.keras.optimizers
    if target.namespace == "tf.keras":
        # 2.11 has its AdamW and Adafactor in optimizers.experimental only.
        experimental = getattr(optimizers, "experimental", None) if target.generation == "keras2" else None
        return [optimizers] + ([experimental] if experimental else [])
    return [getattr(optimizers, target.namespace.rpartition(".")[2])]
