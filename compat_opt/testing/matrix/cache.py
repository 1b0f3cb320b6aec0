"""Where the matrix keeps things between runs, and the keys under which results are found again.

``COMPAT_OPT_CACHE``, else ``compat_opt`` in the user's cache folder. In it: ``environments/``,
``packages/`` (copies of this package, so that editing it does not change a run that is under
way), ``results/`` (one folder a result: result.json, traces.npz, log.txt) and ``work/``.
"""

import hashlib
import json
import os
import shutil
import sys
import tempfile

import compat_opt

#: Statuses that say something about the subject, and are not tried again.
CONCLUSIVE = ("passed", "failed", "error", "absent", "crashed")

#: Folders of the package that have no part in what a cell computes.
_NOT_IN_CELLS = ("cli", os.path.join("testing", "matrix"))


def folder(*parts):
    """A folder below the cache, made if it is not there."""
    path = os.path.join(_root(), *parts)
    os.makedirs(path, exist_ok=True)
    return path


def _root():
    given = os.environ.get("COMPAT_OPT_CACHE")
    if given:
        return os.path.abspath(given)
    if sys.platform == "darwin":
        base = os.path.expanduser(os.path.join("~", "Library", "Caches"))
    elif os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser(os.path.join("~", ".cache"))
    return os.path.join(base, "compat_opt")


def digest(*values):
    """A short hash of JSON-able values."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]


def digest_files(paths):
    """A short hash of files' names (the last part) and contents."""
    found = hashlib.sha256()
    for path in sorted(paths):
        with open(path, "rb") as stream:
            found.update(os.path.basename(path).encode() + b"\0" + stream.read() + b"\0")
    return found.hexdigest()[:16]


def package_files():
    """The files of this package: {path inside it: path}."""
    root = os.path.dirname(os.path.abspath(compat_opt.__file__))
    found = {}
    for at, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in files:
            if not name.endswith((".pyc", ".pyo")):
                found[os.path.relpath(os.path.join(at, name), root)] = os.path.join(at, name)
    return found


def source_digests():
    """(hash of all that a rule's cell computes with, hash of what any cell computes with)."""
    files = package_files()
    worker = os.path.join("testing", "matrix", "worker")
    inside = {n: p for n, p in files.items() if n.startswith(worker) and n.endswith(".py")}
    rule = {n: p for n, p in files.items() if n.endswith(".py") and not n.startswith(_NOT_IN_CELLS)}
    shared = {n: p for n, p in files.items() if n.startswith(("env", os.path.join("testing", "harness")))}
    any_cell = digest_files(list(inside.values()) + [p for n, p in shared.items() if n.endswith(".py")])
    return digest(any_cell, digest_files(rule.values())), any_cell


def package_copy():
    """A folder to put on PYTHONPATH: a copy of this package as it is now, the same one while it is the same."""
    files = package_files()
    name = digest([(inside, digest_files([path])) for inside, path in sorted(files.items())])
    target = os.path.join(folder("packages"), name)
    if not os.path.isdir(target):
        building = tempfile.mkdtemp(dir=folder("packages"), prefix="building-")
        for inside, path in files.items():
            copy = os.path.join(building, "compat_opt", inside)
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copyfile(path, copy)
        try:
            os.rename(building, target)
        except OSError:  # another run was first
            shutil.rmtree(building, ignore_errors=True)
    return target


class Results:
    """Finished cells by key."""

    def __init__(self, again=False):
        self.again = again
        self.kept = set()

    def path(self, key, *parts):
        """A path in the folder of a result."""
        return os.path.join(_root(), "results", key, *parts)

    def find(self, key):
        """The result under a key, or None if there is none that counts."""
        if self.again and key not in self.kept:
            return None
        try:
            with open(self.path(key, "result.json")) as stream:
                result = json.load(stream)
        except (OSError, ValueError):
            return None
        return result if result.get("status") in CONCLUSIVE else None

    def keep(self, key, result, work):
        """Write a result down; its traces and log are taken out of the folder `work`."""
        target = folder("results", key)
        for name in ("traces.npz", "log.txt"):
            source, copy = os.path.join(work, name), os.path.join(target, name)
            if os.path.exists(source):
                os.replace(source, copy)
            elif os.path.exists(copy):
                os.unlink(copy)
        write_json(os.path.join(target, "result.json"), result)
        self.kept.add(key)


def write_json(path, value):
    """Write a JSON file, all of it or nothing."""
    partial = "%s.%d.partial" % (path, os.getpid())
    with open(partial, "w") as stream:
        json.dump(value, stream, indent=1)
        stream.write("\n")
    os.replace(partial, path)
