"""Registers compiled classes with a Keras, so that load_model finds them by name."""


def register(keras, cls, name):
    """Register `cls` as `name` with `keras`, a module (tf.keras, tf_keras or keras).

    A second registration replaces the first, as when a notebook cell with a rule is run again;
    Keras up to 2.12 would raise. TensorFlow 2.0 and 2.1 write a class's own name into files: there
    the class is called by its registered name, as it is written by the later versions. A plain
    "Adam" would be read as TensorFlow's. TensorFlow 2.0 has no decorator, but the dict behind
    custom_object_scope.
    """
    custom_objects = keras.utils.get_custom_objects()
    custom_objects.pop(name, None)
    decorator = getattr(keras.utils, "register_keras_serializable", None)
    if decorator is None:
        decorator = getattr(getattr(keras, "saving", None), "register_keras_serializable", None)
    if not (hasattr(keras.utils, "get_registered_name") or hasattr(keras, "saving")):
        cls.__name__ = name
    if decorator is None:
        custom_objects[name] = cls
        return
    package, plain = name.split(">")
    decorator(package=package, name=plain)(cls)
