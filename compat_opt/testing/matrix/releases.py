"""The releases that the matrix knows, and the selection ``2.0,2.4,2.10-2.15,latest``."""

import collections
import csv
import os
import platform
import sys

from compat_opt.env import EnvironmentRecord
from compat_opt.errors import CommandError, closest

#: Where `--tf` is not given: the first and the last release of each optimizer API, more or less.
DEFAULT_SELECTION = "2.0,2.4,2.9,2.11,2.15,latest"

HERE = "here"


class Release(collections.namedtuple("Release", "name minor tensorflow package python pins environ")):
    """One environment to be made.

    Attributes:
        name: as in a selection: "2.10" (its last patch release), "2.10.0", "keras3-jax".
        minor: the row of the table, e.g. "2.10".
        tensorflow: exact version, or None.
        package: the distribution that brings TensorFlow, or None.
        python: "3.9".
        pins: further requirements, a tuple of strings.
        environ: environment variables of the cell, a tuple of pairs.
    """

    __slots__ = ()

    def requirements(self):
        """Everything that is installed, as requirement strings."""
        first = ["%s==%s" % (self.package, self.tensorflow)] if self.tensorflow else []
        if self.package == "tensorflow-cpu" and any(pin.startswith("tf-keras") for pin in self.pins):
            # tf-keras asks for the distribution `tensorflow`, which lies over tensorflow-cpu's files.
            first.append("tensorflow==%s" % self.tensorflow)
        return first + list(self.pins) + ["packaging"]

    def record(self):
        """What the environment will hold, before it is made."""
        pinned = dict(pin.split("==") for pin in self.pins if "==" in pin)
        keras = pinned.get("keras")
        if keras is None and self.tensorflow:
            # tf.keras is the package keras of the same minor; where TensorFlow bundles it, nobody looks.
            keras = self.minor + ".0"
        environ = dict(self.environ)
        return EnvironmentRecord(
            python=self.python,
            tensorflow=self.tensorflow,
            keras=keras,
            tf_keras=pinned.get("tf-keras"),
            jax=pinned.get("jax"),
            torch=pinned.get("torch"),
            keras_backend=environ.get("KERAS_BACKEND"),
        )


def version_key(name):
    """Orders names: numbers by value, then the rest; "2.9" < "2.10" < "2.16-oldest-keras" < "keras3-jax"."""
    number, _, _ = name.partition("-")
    parts = number.split(".")
    if all(part.isdigit() for part in parts):
        return tuple(int(part) for part in parts)
    return (99,)


def sort_key(name):
    """`version_key` with the name itself as the last word."""
    return version_key(name) + (name,) if version_key(name) == (99,) else version_key(name) + (-1, name)


def _rows():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "releases.tsv")
    with open(path) as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


def _words(text):
    return () if text == "-" else tuple(text.split())


def table():
    """{row name: [its releases, oldest first]}; the last one is what the row's name stands for."""
    found = collections.OrderedDict()
    for row in _rows():
        versions = _words(row["releases"]) or (None,)
        found[row["name"]] = [_release(row, row["name"] if v == versions[-1] else v, v) for v in versions]
    return found


def _release(row, name, version):
    package = None if row["package"] == "-" else row["package"]
    if package == "tensorflow-cpu" and not (sys.platform.startswith("linux") and platform.machine() == "x86_64"):
        package = "tensorflow"  # tensorflow-cpu is not built for every platform in every release
    environ = tuple(tuple(item.split("=", 1)) for item in _words(row["environ"]))
    only = [item.split(":", 1) for item in _words(row["only"])]
    pins = _words(row["pins"]) + tuple(pin for patch, pin in only if patch == version)
    return Release(name, row["name"], version, package, row["python"], pins, environ)


def every():
    """The releases that ``--all`` stands for: one a row."""
    return [releases[-1] for releases in table().values()]


def numbered():
    """Every TensorFlow release including patch releases, in the order of their numbers."""
    found = {}
    for minor, releases in table().items():
        if "-" not in minor:
            found.update((release.tensorflow, release) for release in releases)
    return [found[version] for version in sorted(found, key=version_key)]


def find(name):
    """The release that a name stands for: a row, a patch release, or "latest".

    Raises:
        CommandError: the table has none of that name.
    """
    rows = table()
    if name == "latest":
        return [releases[-1] for minor, releases in rows.items() if version_key(minor) != (99,)][-1]
    if name in rows:
        return rows[name][-1]
    for releases in rows.values():
        for release in releases:
            if release.tensorflow == name and "-" not in release.minor:
                return release
    known = list(rows) + [r.tensorflow for r in numbered()]
    raise CommandError(
        "The matrix knows no release %r." % name,
        "one of %s, a patch release of these, latest or here" % ", ".join(rows),
        "--tf %s" % name,
        closest(name, known),
    )


def select(text):
    """The releases of a selection, in the order of their numbers, each once.

    Args:
        text: names separated by commas; ``2.10-2.15`` is every minor from one to the other, and
            every patch release where an end is one; ``latest``; ``here`` is the interpreter
            that runs this, with what is installed in it.
    """
    chosen = collections.OrderedDict()
    for part in (part.strip() for part in text.split(",")):
        if part == HERE:
            chosen[HERE] = here()
            continue
        for release in _range(part) or [find(part)]:
            chosen[release.name] = release
    return sorted(chosen.values(), key=lambda r: (version_key(r.tensorflow or r.name), r.name))


def _range(part):
    """The releases of ``A-B``, or None if `part` is no range."""
    first, dash, last = part.partition("-")
    if not dash or part in table() or not last or not (last[0].isdigit() or last == "latest"):
        return None
    ends = [find(first), find(last)]
    low, high = (version_key(end.tensorflow) for end in ends)
    patches = first.count(".") > 1 or last.count(".") > 1
    pool = numbered() if patches else [r for r in every() if "-" not in r.minor]
    found = [r for r in pool if low <= version_key(r.tensorflow) <= high]
    if not found:
        raise CommandError("The range %s is empty." % part, "the older release first", "--tf %s" % part)
    return found


def here():
    """The environment of this interpreter."""
    return Release(HERE, HERE, None, None, "%d.%d" % sys.version_info[:2], (), ())
