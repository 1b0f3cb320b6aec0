"""One environment a release, made by uv and kept between runs."""

import collections
import contextlib
import datetime
import glob
import json
import os
import shutil
import subprocess
import sys

from compat_opt.env import read_environment
from compat_opt.errors import CommandError
from compat_opt.testing.matrix import cache
from compat_opt.testing.matrix.processes import tail
from compat_opt.testing.matrix.releases import HERE

try:
    import fcntl
except ImportError:  # Windows: two runs at once may make an environment twice
    fcntl = None

#: uv does not read pip's settings. UV_FIND_LINKS is where a CPU build of torch may lie.
_PIP_TO_UV = {"PIP_FIND_LINKS": "UV_FIND_LINKS", "PIP_CERT": "SSL_CERT_FILE", "PIP_INDEX_URL": "UV_DEFAULT_INDEX"}

#: python: the interpreter; key: a hash of what is installed; installed: ``name==version`` each.
Environment = collections.namedtuple("Environment", "python key installed")


class Missing(Exception):
    """An environment can't be had here."""


def find_uv():
    """The command that runs uv.

    Raises:
        CommandError: uv is not installed.
    """
    beside = os.path.join(os.path.dirname(sys.executable), "uv.exe" if os.name == "nt" else "uv")
    for candidate in (os.environ.get("UV"), shutil.which("uv"), beside):
        if candidate and os.path.isfile(candidate):
            return candidate
    raise CommandError(
        "The matrix makes its environments with uv, which was not found.",
        remedy="pip install uv. `--tf here` needs none: it takes the interpreter that runs this.",
    )


def uv_environ():
    """This process's environment variables, so completed that uv finds what lies here already."""
    environ = dict(os.environ)
    for pip_name, uv_name in _PIP_TO_UV.items():
        if environ.get(pip_name):
            environ.setdefault(uv_name, environ[pip_name])
    environ.pop("PYTHONPATH", None)
    environ.pop("VIRTUAL_ENV", None)
    if shutil.which("pyenv"):
        # pyenv hides the interpreters that are not active, also from uv.
        done = subprocess.run(["pyenv", "versions", "--bare"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        listed = done.stdout.decode().split()
        active = [name for name in environ.get("PYENV_VERSION", "").split(":") if name]
        numbered = sorted(name for name in listed if name.replace(".", "").isdigit())
        names = active + [name for name in numbered if name not in active]
        if names:
            environ["PYENV_VERSION"] = ":".join(names)
    return environ


class Environments:
    """Makes environments, or finds those that were made before.

    Args:
        processes: the `Processes` to start uv in.
        extra: further requirements of the subject, part of what an environment is.
        tools: requirements of the workload (scikit-learn), added to an environment where missing.
    """

    def __init__(self, processes, extra=(), tools=()):
        self.processes, self.extra, self.tools = processes, list(extra), list(tools)
        self._uv = self._environ = None

    def start(self):
        """Find uv before anything else is done."""
        if self._uv is None:
            self._uv, self._environ = find_uv(), uv_environ()

    def ensure(self, release):
        """The `Environment` of a release.

        Raises:
            Missing: no interpreter, or the packages can't be had; the message says which and why.
        """
        if release.name == HERE:
            return _here()
        self.start()
        wanted = [release.python] + release.requirements() + self.extra
        place = os.path.join(cache.folder("environments"), "%s-%s" % (release.name, cache.digest(wanted)))
        with _locked(place + ".lock"):
            state = _read_state(place)
            if state is None:
                state = self._make(release, place)
            if not set(self.tools) <= set(state["tools"]):
                self._install(place, self.tools, release)
                state["tools"] = sorted(set(state["tools"]) | set(self.tools))
                cache.write_json(os.path.join(place, "compat_opt.json"), state)
        key = cache.digest(state["python"], state["installed"])
        return Environment(_python(place), key, state["installed"])

    def _make(self, release, place):
        shutil.rmtree(place, ignore_errors=True)  # a rest of a run that was stopped
        log = place + ".log"
        command = [self._uv, "venv", "--quiet", "--python", release.python, place]
        code, _ = self.processes.run(command, self._environ, cache.folder(), log)
        if code:
            raise Missing("no Python %s here, and uv could not bring it: %s" % (release.python, _reason(log)))
        self._install(place, release.requirements() + self.extra, release)
        python = _python(place)
        state = {
            "release": release.name,
            "python": _output([python, "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"]),
            "installed": self._freeze(python),
            "tools": [],
            "made": datetime.datetime.now().strftime("%Y-%m-%d %H:%M:%S"),
        }
        cache.write_json(os.path.join(place, "compat_opt.json"), state)
        return state

    def _install(self, place, requirements, release):
        log = place + ".log"
        command = [self._uv, "pip", "install", "--quiet", "--python", _python(place)] + list(requirements)
        code, _ = self.processes.run(command, self._environ, cache.folder(), log)
        if code:
            raise Missing("the packages of %s can't be had here: %s" % (release.name, _reason(log)))

    def _freeze(self, python):
        command = [self._uv, "pip", "freeze", "--quiet", "--python", python]
        return sorted(_output(command, self._environ).splitlines())


def _reason(log):
    lines = [line.strip() for line in tail(log).splitlines() if line.strip() and "warning:" not in line]
    return " ".join(lines)[:400] or "stopped"


def _output(command, environ=None):
    return subprocess.run(command, stdout=subprocess.PIPE, env=environ, check=True).stdout.decode().strip()


def _python(place):
    return (glob.glob(os.path.join(place, "bin", "python")) + [os.path.join(place, "Scripts", "python.exe")])[0]


def _read_state(place):
    try:
        with open(os.path.join(place, "compat_opt.json")) as stream:
            return json.load(stream)
    except (OSError, ValueError):
        return None


def _here():
    try:
        numpy = _output([sys.executable, "-c", "import numpy; print(numpy.__version__)"])
    except subprocess.CalledProcessError:
        raise Missing("NumPy is not installed for %s" % sys.executable)
    record = read_environment().as_dict()
    names = ("tensorflow", "keras", "tf_keras", "jax", "torch")
    installed = ["%s==%s" % (name, record[name]) for name in names if record[name]] + ["numpy==" + numpy]
    backend = [record["keras_backend"], record["use_legacy_keras"]]
    return Environment(sys.executable, cache.digest(record["python"], installed, backend), installed)


@contextlib.contextmanager
def _locked(path):
    """Hold a lock file; another run that makes the same environment waits."""
    with open(path, "a") as stream:
        if fcntl is not None:
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield
