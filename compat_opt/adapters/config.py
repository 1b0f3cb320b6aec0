"""Configs: exact JSON that every generation reads, and schedules inside them."""

import sys

import weakref

from compat_opt.adapters.schedules import config_of, find_class, parameter_from_config
from compat_opt.errors import HyperError

#: Classes of schedules that optimizers of this process were given, by (module, name): a config
#: finds a user's own class here without custom_objects, also one defined in a function.
_SEEN = weakref.WeakValueDictionary()


def jsonable(value):
    """`value` as plain JSON: NumPy numbers as numbers, tuples as lists."""
    if isinstance(value, dict):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "numpy"):
        value = value.numpy()
    if hasattr(value, "tolist"):
        return jsonable(value.tolist())
    return value


def remember_schedule(schedule):
    """Keep the class of a schedule, so that a config in this process finds it."""
    cls = type(schedule)
    if hasattr(schedule, "get_config"):
        _SEEN[(cls.__module__, cls.__name__)] = cls


def schedule_config(schedule, owner, name):
    """The config of a schedule: ``{"class_name", "module", "config"}``.

    Raises:
        HyperError: it has no get_config (a plain function can't be saved).
    """
    if not hasattr(schedule, "get_config"):
        raise HyperError(
            "%s.%s follows a function, which can't be written into a config." % (owner, name),
            "a schedule with get_config()",
            "%s=%r" % (name, schedule),
            "Make it a subclass of LearningRateSchedule.",
        )
    cls = type(schedule)
    if hasattr(cls, "schedule_class"):
        return config_of(schedule.schedule)
    return {
        "class_name": cls.__name__,
        "module": cls.__module__,
        "config": jsonable(schedule.get_config()),
    }


def schedule_from_config(config, namespaces, custom_objects=None):
    """The schedule that `config` describes, in any of the forms that Keras versions write.

    Args:
        config: a dict with "class_name" and "config".
        namespaces: modules whose attributes are schedule classes, the target's first.
        custom_objects: {name: class}, or None.

    Raises:
        HyperError: no such class is known in this process.
    """
    if find_class(config):
        return parameter_from_config(config)
    written = config["class_name"]
    name = written.split(">")[-1]
    cls = None
    for found in (custom_objects or {}, _registered(namespaces)):
        cls = cls or found.get(written) or found.get(name) or found.get(config.get("registered_name"))
    module = config.get("module")
    if cls is None and module and not module.startswith(("keras", "tf_keras", "tensorflow")):
        cls = _SEEN.get((module, name)) or getattr(sys.modules.get(module), name, None)
    for namespace in namespaces:
        cls = cls or getattr(namespace, name, None)
    if cls is None:
        seen = [c for (_, class_name), c in list(_SEEN.items()) if class_name == name]
        cls = seen[0] if len(seen) == 1 else None
    if cls is None:
        raise HyperError(
            "The config names a schedule that this process does not know.",
            "an imported class, a registered one, or custom_objects={%r: the class}" % name,
            "class_name=%r, module=%r" % (written, module),
            "Import the module that defines it first.",
        )
    arguments = dict(config["config"])
    if arguments.get("name", "") is None:  # Keras 2 writes it, Keras 3 refuses it
        del arguments["name"]
    return cls.from_config(arguments) if hasattr(cls, "from_config") else cls(**arguments)


def _registered(namespaces):
    """{registered name: class} of the target's Keras."""
    found = {}
    for namespace in namespaces:
        found.update(getattr(namespace, "get_custom_objects", dict)())
    return found
