"""The targets of this process, and the way from a target's name to the target."""

from compat_opt.env.detect import Target, detect
from compat_opt.env.record import read_environment
from compat_opt.errors import TargetError, closest

_GENERATIONS = ("optimizer_v2", "keras2", "keras3")


def targets():
    """The targets that this environment offers, the default first, as a tuple of `Target`."""
    return detect(read_environment()).targets


def default_target():
    """The target whose optimizers ``tf.keras.Model.compile`` takes in this process.

    TF_USE_LEGACY_KERAS counts, and without TensorFlow it is Keras 3 on its backend.

    Raises:
        TargetError: no target is usable here; the message says what is missing.
    """
    detection = detect(read_environment())
    if detection.default is None:
        raise TargetError(
            "There is no default optimizer API in this environment: %s." % detection.reason,
            remedy=" ".join("%s: %s; %s." % item for item in detection.missing)
            + " `compat-opt doctor` shows the whole picture.",
        )
    return detection.default


def find_target(wanted=None):
    """The Target for None (the default), a Target, or a name.

    Args:
        wanted: a generation ("keras2": the default target if it has that generation, else the
            first that has), or "namespace:generation", or a namespace.

    Raises:
        TargetError: the environment does not offer it.
    """
    if wanted is None:
        return default_target()
    if isinstance(wanted, Target):
        return wanted
    offered = targets()
    for target in offered:
        if wanted in (target.key, target.namespace, target.generation):
            return target
    for target in offered:
        # tf.keras is a second name of what it loads from TensorFlow 2.16 on.
        if wanted in ("tf.keras", "tf.keras:%s" % target.generation) and target == offered[0]:
            return target
        if wanted == "tf.keras.legacy:optimizer_v2" and target.namespace == "tf_keras.legacy":
            return target
    names = [target.key for target in offered]
    reasons = ["%s: %s; %s." % item for item in detect(read_environment()).missing]
    hint = "" if wanted in _GENERATIONS else closest(str(wanted), names + list(_GENERATIONS))
    raise TargetError(
        "This environment has no target %r." % (wanted,),
        "one of %s" % ", ".join(names) if names else "an environment with TensorFlow or Keras 3",
        "target=%r" % (wanted,),
        " ".join([hint] + reasons).strip(),
    )


def describe_environment():
    """One line with the versions of this environment, for error messages and reports."""
    record = read_environment()
    shown = ["Python %s" % record.python]
    for label, version in (
        ("TensorFlow", record.tensorflow),
        ("Keras", record.keras),
        ("tf-keras", record.tf_keras),
        ("JAX", record.jax),
        ("torch", record.torch),
    ):
        if version:
            shown.append("%s %s" % (label, version))
    return ", ".join(shown)
