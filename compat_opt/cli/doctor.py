"""Show what is installed, which optimizer APIs (targets) that offers, which is the default and why,
and what is missing for the others. No framework is imported.

Exit codes: 0 there is a default target, 1 there is none.
"""

import json

from compat_opt._version import __version__
from compat_opt.cli._terminal import table
from compat_opt.env import detect, read_environment

SUMMARY = "what is installed, which targets that gives, and what is missing"

_LABELS = (
    ("tensorflow", "TensorFlow"),
    ("keras", "Keras"),
    ("tf_keras", "tf-keras"),
    ("jax", "JAX"),
    ("torch", "torch"),
)


def add_arguments(parser):
    """Declare the command's arguments."""
    parser.add_argument("--json", action="store_true", help="print the same as JSON")


def run(arguments):
    """Print the environment; the exit code says whether it has a default target."""
    record = read_environment()
    detection = detect(record)
    if arguments.json:
        print(json.dumps(as_dict(record, detection), indent=2))
    else:
        print("\n".join(_lines(record, detection)))
    return 0 if detection.default else 1


def as_dict(record, detection):
    """What the command finds, as plain JSON."""
    return {
        "compat_opt": __version__,
        "environment": dict(record.as_dict(), in_use=list(record.in_use)),
        "targets": [dict(target._asdict(), name=target.key) for target in detection.targets],
        "default": detection.default.key if detection.default else None,
        "reason": detection.reason,
        "missing": [dict(zip(("what", "why", "remedy"), item)) for item in detection.missing],
    }


def _lines(record, detection):
    lines = ["compat_opt %s, Python %s" % (__version__, record.python), "", "Installed"]
    for field, label in _LABELS:
        lines.append("  %-12s %s" % (label, getattr(record, field) or "-"))
    lines += ["", "Switches"]
    lines.append("  TF_USE_LEGACY_KERAS  %s" % (record.use_legacy_keras or "not set"))
    lines.append("  Keras 3 backend      %s (KERAS_BACKEND, else keras.json, else tensorflow)" % record.keras_backend)
    lines.append("")
    if detection.targets:
        rows = [("Target", "Backend", "TensorFlow", "Keras", "")]
        for target in detection.targets:
            mark = "default" if target == detection.default else ""
            rows.append((target.key, target.backend, target.tensorflow or "-", target.keras or "bundled", mark))
        lines.append(table(rows))
    else:
        lines.append("No target: no optimizer API can be used here.")
    lines += ["", "Default: %s (%s)" % (detection.default or "none", detection.reason)]
    if detection.missing:
        lines += ["", "Not here"]
        for what, why, remedy in detection.missing:
            lines += ["  %s" % what, "      why: %s" % why, "      to have it: %s" % remedy]
    return lines
