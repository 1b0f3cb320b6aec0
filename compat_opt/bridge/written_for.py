"""Which optimizer API a class was written for, from its hooks: on a class, or on source that is not run."""

import ast

#: Hooks that only one API has. "get_updates" is the API of Keras before tf.keras: one method for all variables.
HOOKS = {
    "optimizer_v2": (
        "_resource_apply_dense",
        "_resource_apply_sparse",
        "_resource_apply_sparse_duplicate_indices",
        "_create_slots",
        "_prepare_local",
        "_decayed_lr",
        "_create_hypers",
        "_create_all_weights",
        "_distributed_apply",
        "_compute_gradients",
        "_transform_gradients",
        "_transform_unaggregated_gradients",
        "_aggregate_gradients",
    ),
    "get_updates": ("get_updates",),
    "keras2": ("update_step",),
    "keras3": ("update_step", "_backend_update_step"),
}


def of_methods(parameters):
    """The API whose hooks are among some methods, or None.

    Args:
        parameters: {method name: names of its parameters}.
    """
    if any(name in parameters for name in HOOKS["optimizer_v2"]):
        return "optimizer_v2"
    if "update_step" in parameters:
        return "keras3" if len(parameters["update_step"]) > 3 else "keras2"
    if "_backend_update_step" in parameters:
        return "keras3"
    if "get_updates" in parameters:
        return "get_updates"
    return None


def of_class(cls, own):
    """The API that a class was written for, or None.

    Args:
        cls: the class.
        own: the classes of its MRO that are no part of TensorFlow or Keras.
    """
    parameters = {}
    for base in own:
        for name, value in vars(base).items():
            code = getattr(value, "__code__", None)
            if code is not None:
                parameters.setdefault(name, code.co_varnames[: code.co_argcount])
    return of_methods(parameters)


def of_source(source, name):
    """The API that class `name` in Python source was written for, or None.

    Bases are followed as far as they are in the same source. Where the class is not there (a
    function makes it, or another file), every class of the source is looked at.
    """
    classes = {node.name: node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)}
    wanted = list(_with_bases(classes, name, set())) if name in classes else list(classes.values())
    parameters = {}
    for node in wanted:
        for item in node.body:
            if isinstance(item, ast.FunctionDef):
                parameters.setdefault(item.name, [argument.arg for argument in item.args.args])
    found = of_methods(parameters)
    if found is None and name in classes and len(wanted) < len(classes):
        return None
    return found


def _with_bases(classes, name, seen):
    if name in classes and name not in seen:
        seen.add(name)
        yield classes[name]
        for base in classes[name].bases:
            for node in _with_bases(classes, getattr(base, "id", getattr(base, "attr", "")), seen):
                yield node
