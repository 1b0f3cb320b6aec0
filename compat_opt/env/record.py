"""The environment record: versions and switches, read without importing a framework."""

import json
import os
import re
import sys

#: Distributions that provide each package; the first one found counts.
_DISTRIBUTIONS = {
    "tensorflow": (
        "tensorflow",
        "tensorflow-cpu",
        "tensorflow-gpu",
        "tensorflow-intel",
        "tensorflow-macos",
        "tensorflow-rocm",
        "tensorflow-aarch64",
        "tensorflow-cpu-aws",
        "tf-nightly",
        "tf-nightly-cpu",
        "intel-tensorflow",
    ),
    "keras": ("keras", "keras-nightly"),
    "tf_keras": ("tf-keras", "tf-keras-nightly"),
    "jax": ("jax",),
    "torch": ("torch",),
}


class EnvironmentRecord:
    """What detection looks at; everything is a plain string or None.

    Attributes:
        python: version of the interpreter.
        tensorflow, keras, tf_keras, jax, torch: installed versions, or None.
        use_legacy_keras: value of TF_USE_LEGACY_KERAS, or None.
        keras_backend: "tensorflow", "jax", "torch" or another name: KERAS_BACKEND, else the
            backend in keras.json, else "tensorflow".
        in_use: package names among these that are imported already.
    """

    _fields = (
        "python tensorflow keras tf_keras jax torch use_legacy_keras keras_backend in_use"
    ).split()

    def __init__(self, **fields):
        for name in self._fields:
            setattr(self, name, fields.pop(name, None))
        self.keras_backend = self.keras_backend or "tensorflow"
        self.in_use = tuple(self.in_use or ())
        if fields:
            raise TypeError("unknown fields: %s" % ", ".join(fields))

    def as_dict(self):
        """The record as a JSON-able dict."""
        return {name: getattr(self, name) for name in self._fields}

    def __repr__(self):
        return "EnvironmentRecord(%s)" % ", ".join(
            "%s=%r" % item for item in self.as_dict().items() if item[1]
        )


def read_environment(environ=None, path=None):
    """The record of this process.

    Args:
        environ: the environment variables; default ``os.environ``.
        path: the folders to look for distributions in; default ``sys.path``.
    """
    environ = os.environ if environ is None else environ
    versions = _installed_versions(sys.path if path is None else path)
    found = {}
    for package, distributions in _DISTRIBUTIONS.items():
        present = [versions[d] for d in distributions if d in versions]
        found[package] = present[0] if present else None
    return EnvironmentRecord(
        python="%d.%d.%d" % sys.version_info[:3],
        use_legacy_keras=environ.get("TF_USE_LEGACY_KERAS"),
        keras_backend=_keras_backend(environ),
        in_use=[package for package in _DISTRIBUTIONS if package in sys.modules],
        **found
    )


def _installed_versions(path):
    """{distribution name: version} by the names of the dist-info folders.

    Read by hand: importlib.metadata came with Python 3.8, and opens every file.
    """
    wanted = {name for names in _DISTRIBUTIONS.values() for name in names}
    pattern = re.compile(r"^(.+?)-([^-]+?)(?:-py\d.*)?\.(?:dist|egg)-info$")
    versions = {}
    for folder in path:
        try:
            entries = os.listdir(folder or ".")
        except OSError:
            continue
        for entry in entries:
            match = pattern.match(entry)
            if match:
                name = re.sub(r"[-_.]+", "-", match.group(1)).lower()
                if name in wanted:
                    versions.setdefault(name, match.group(2))
    return versions


def _keras_backend(environ):
    """Keras 3's backend as its own start-up finds it."""
    if environ.get("KERAS_BACKEND"):
        return environ["KERAS_BACKEND"]
    home = environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    try:
        with open(os.path.join(home, "keras.json")) as config:
            return json.load(config).get("backend") or "tensorflow"
    except (OSError, ValueError):
        return "tensorflow"
