"""The legacy classes that were adapted in this process, which configs of wrappers around them name."""

from compat_opt.bridge.frameworks import is_framework_class, keras_of, target_with

_CLASSES = {}


def registered_name(cls):
    """The name under which a legacy class, or the host around it, is registered for serialization."""
    return "compat_opt.bridge>%s.%s" % (cls.__module__, cls.__qualname__)


def remember(cls):
    """Let configs name a legacy class."""
    _CLASSES[cls.__name__] = _CLASSES[registered_name(cls)] = cls


def name_in_configs(cls):
    """What a config calls the class of an optimizer inside of another."""
    return cls.__name__ if is_framework_class(cls) else registered_name(cls)


def scope(generation):
    """A context in which the Keras of an API finds these classes by name."""
    return keras_of(target_with(generation).namespace).utils.custom_object_scope(dict(_CLASSES))
