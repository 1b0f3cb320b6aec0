"""Detection: a pure function from one environment record to the targets it offers."""

import collections

from packaging.version import Version

#: TF_USE_LEGACY_KERAS counts only when it is exactly one of these (tensorflow/__init__.py, 2.16).
_LEGACY_SWITCH = ("true", "True", "1")

#: What `detect` finds. `missing` is a list of (what, why, what to do).
Detection = collections.namedtuple("Detection", "targets default reason missing")


class Target(
    collections.namedtuple("Target", "generation namespace backend tensorflow keras")
):
    """An optimizer API in a namespace that can be imported here.

    Attributes:
        generation: "optimizer_v2", "keras2" or "keras3".
        namespace: "tf.keras", "tf.keras.legacy", "tf.keras.experimental", "tf_keras",
            "tf_keras.legacy" or "keras".
        backend: "tensorflow", "jax" or "torch".
        tensorflow: version of TensorFlow, or None.
        keras: version of the Keras that owns the class, or None where TensorFlow bundles it.
    """

    __slots__ = ()

    @property
    def key(self):
        """``namespace:generation``, e.g. ``tf_keras:keras2``."""
        return "%s:%s" % (self.namespace, self.generation)

    def describe(self):
        """One line for messages: target, TensorFlow, Keras, backend."""
        parts = [self.key]
        if self.tensorflow:
            parts.append("TensorFlow %s" % self.tensorflow)
        if self.keras:
            parts.append("Keras %s" % self.keras)
        if self.backend != "tensorflow":
            parts.append("backend %s" % self.backend)
        return ", ".join(parts)

    def __str__(self):
        return self.key


def detect(record):
    """The targets that the environment of `record` offers.

    Args:
        record: an `EnvironmentRecord`.

    Returns:
        A `Detection`: ``targets`` (default first), ``default`` (a Target, or None), ``reason``
        (why it is the default, or why there is none) and ``missing``.
    """
    tensorflow = Version(record.tensorflow) if record.tensorflow else None
    keras = Version(record.keras) if record.keras else None
    missing, found = [], {}

    def add(generation, namespace, backend="tensorflow", owner=None):
        found[namespace] = Target(generation, namespace, backend, record.tensorflow, owner)

    if keras is not None and keras.major >= 3:
        problem = _keras3_problem(record, tensorflow)
        if problem:
            missing.append(("keras:keras3",) + problem)
        else:
            add("keras3", "keras", record.keras_backend, record.keras)
    elif tensorflow is None or tensorflow.release >= (2, 16):
        missing.append(("keras:keras3", "Keras 3 is not installed", "pip install 'keras>=3'"))
    else:
        missing.append(_came_later("keras:keras3", "Keras 3 optimizers", tensorflow, (2, 16)))

    if tensorflow is None:
        missing.append(("tf.keras", "TensorFlow is not installed", "pip install tensorflow"))
    elif tensorflow.release < (2, 16):
        _bundled_targets(record, tensorflow, keras, add, missing)
    elif record.tf_keras:
        add("keras2", "tf_keras", owner=record.tf_keras)
        add("optimizer_v2", "tf_keras.legacy", owner=record.tf_keras)
    else:
        missing.append(
            (
                "tf_keras:keras2, tf_keras.legacy:optimizer_v2",
                "tf-keras is not installed",
                "pip install 'tf-keras~=%d.%d.0'" % tensorflow.release[:2],
            )
        )
    default, reason = _default(record, tensorflow, found)
    ordered = [target for target in found.values() if target is not default]
    return Detection(tuple(([default] if default else []) + ordered), default, reason, tuple(missing))


def _keras3_problem(record, tensorflow):
    """(why, what to do) if the installed Keras 3 can't be used, else None."""
    backend = record.keras_backend
    if backend not in ("tensorflow", "jax", "torch"):
        return (
            "Keras 3 runs on its %s backend, which compat_opt has no adapter for" % backend,
            "set KERAS_BACKEND to tensorflow, jax or torch",
        )
    if backend == "tensorflow" and tensorflow is None:
        return (
            "Keras 3 is set to its tensorflow backend, and TensorFlow is not installed",
            "set KERAS_BACKEND to jax or torch, or pip install tensorflow",
        )
    if backend == "tensorflow" and tensorflow.release < (2, 16):
        return (
            "Keras 3 needs TensorFlow 2.16 or later for its tensorflow backend",
            "set KERAS_BACKEND to jax or torch, or pip install 'tensorflow>=2.16'",
        )
    if backend != "tensorflow" and not getattr(record, backend):
        return (
            "Keras 3 is set to its %s backend, and %s is not installed" % (backend, backend),
            "pip install %s" % backend,
        )
    return None


def _came_later(what, named, tensorflow, first):
    """The entry of `missing` for an API that the installed TensorFlow is too old for."""
    return (
        what,
        "%s came with TensorFlow %d.%d, and %s is installed" % ((named,) + first + (tensorflow,)),
        "pip install 'tensorflow>=%d.%d'" % first,
    )


def _bundled_targets(record, tensorflow, keras, add, missing):
    """tf.keras of TensorFlow 2.0 to 2.15: bundled, or the keras package of the same version."""
    version = tensorflow.release[:2]
    owner = None
    if version >= (2, 6):
        if keras is None or keras.release[:2] != version:
            missing.append(
                (
                    "tf.keras",
                    "TensorFlow %d.%d takes tf.keras from keras %d.%d, and %s is installed"
                    % (version + version + ("keras " + record.keras if keras else "no keras",)),
                    "pip install 'keras==%d.%d.*'" % version,
                )
            )
            return
        owner = record.keras
    if version < (2, 9):
        add("optimizer_v2", "tf.keras", owner=owner)
        missing.append(_came_later("tf.keras.experimental:keras2", "Keras 2 optimizers", tensorflow, (2, 9)))
    elif version < (2, 11):
        add("optimizer_v2", "tf.keras", owner=owner)
        add("keras2", "tf.keras.experimental", owner=owner)
    else:
        add("keras2", "tf.keras", owner=owner)
        add("optimizer_v2", "tf.keras.legacy", owner=owner)


def _default(record, tensorflow, found):
    """The target whose optimizers ``tf.keras.Model.compile`` takes, and why."""
    if tensorflow is not None and tensorflow.release < (2, 16):
        if "tf.keras" in found:
            return found["tf.keras"], "tf.keras of TensorFlow %s" % record.tensorflow
        if "keras" in found:
            return found["keras"], "tf.keras can't be imported here; Keras 3 can"
        return None, "tf.keras can't be imported here"
    if tensorflow is not None and record.use_legacy_keras in _LEGACY_SWITCH:
        if "tf_keras" in found:
            return found["tf_keras"], "TF_USE_LEGACY_KERAS=%s" % record.use_legacy_keras
        return None, (
            "TF_USE_LEGACY_KERAS=%s asks for tf-keras, which is not installed"
            % record.use_legacy_keras
        )
    if "keras" in found:
        if tensorflow is None:
            return found["keras"], "Keras 3 on %s" % record.keras_backend
        return found["keras"], "tf.keras is Keras 3 since TensorFlow 2.16"
    if "tf_keras" in found:
        return found["tf_keras"], "tf-keras is the only usable Keras here"
    return None, "neither TensorFlow nor a usable Keras 3 is installed"
