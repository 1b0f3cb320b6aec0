"""Environments are made once by uv, from what lies on this machine; a fake uv stands in for it."""

import os
import stat
import sys

import pytest

from compat_opt.errors import CommandError
from compat_opt.testing.matrix import environments, releases
from compat_opt.testing.matrix.processes import Processes

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-in for uv is a shell script")

UV = """\
#!/bin/sh
echo "$@" >> {log}
case "$1 $2" in
  "venv --quiet")
    case "$4" in 3.8) echo "error: No interpreter found for Python 3.8" >&2; exit 2;; esac
    mkdir -p "$5/bin" && ln -s {python} "$5/bin/python";;
  "pip install")
    case "$*" in *tensorflow-cpu==2.12*) echo "error: no wheel for this platform" >&2; exit 1;; esac;;
  "pip freeze") echo numpy==1.26.4; echo tensorflow-cpu==2.10.1;;
esac
"""


@pytest.fixture
def fake_uv(tmp_path, monkeypatch):
    """A list of the lines that uv was called with."""
    log, script = tmp_path / "uv.log", tmp_path / "uv"
    log.write_text("")
    script.write_text(UV.format(log=log, python=sys.executable))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("UV", str(script))
    return lambda: log.read_text().splitlines()


def ensure(name, **more):
    return environments.Environments(Processes(), **more).ensure(releases.find(name))


def test_an_environment_is_made_once(fake_uv):
    first = ensure("2.10")
    calls = fake_uv()
    assert len(calls) == 3 and "tensorflow-cpu==2.10.1" in calls[1] and "numpy<2" in calls[1]
    assert os.path.exists(first.python) and "numpy==1.26.4" in first.installed
    assert ensure("2.10") == first and fake_uv() == calls


def test_further_requirements_make_another_environment(fake_uv):
    assert ensure("2.10").python != ensure("2.10", extra=["my-package"]).python
    assert "my-package" in fake_uv()[4]


def test_tools_of_a_workload_are_added_and_no_other_result(fake_uv):
    plain = ensure("2.10")
    assert ensure("2.10", tools=["scikit-learn"]) == plain
    assert fake_uv()[-1].endswith("scikit-learn") and len(fake_uv()) == 4
    ensure("2.10", tools=["scikit-learn"])
    assert len(fake_uv()) == 4


def test_a_rest_of_a_stopped_run_is_made_anew(fake_uv):
    place = os.path.dirname(os.path.dirname(ensure("2.10").python))
    os.unlink(os.path.join(place, "compat_opt.json"))
    ensure("2.10")
    assert len(fake_uv()) == 6


@pytest.mark.parametrize("name, why", [("2.4", "no Python 3.8 here.*No interpreter"), ("2.12", "packages of 2.12.*no wheel")])
def test_what_cannot_be_had_says_why(fake_uv, name, why):
    with pytest.raises(environments.Missing, match=why):
        ensure(name)


def test_without_uv_the_command_says_what_to_do(monkeypatch):
    monkeypatch.setattr(environments.shutil, "which", lambda name: None)
    monkeypatch.setattr(environments.os.path, "isfile", lambda path: False)
    monkeypatch.delenv("UV", raising=False)
    with pytest.raises(CommandError, match="pip install uv"):
        environments.find_uv()


def test_pips_settings_and_pyenvs_interpreters_reach_uv(tmp_path, monkeypatch):
    script = tmp_path / "pyenv"
    script.write_text("#!/bin/sh\nprintf '3.7.16\\n3.11.7\\nmy-environment\\n3.9.1\\n'\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path) + os.pathsep + os.environ["PATH"])
    monkeypatch.setenv("PIP_FIND_LINKS", "wheels")
    monkeypatch.delenv("UV_FIND_LINKS", raising=False)
    monkeypatch.delenv("PYENV_VERSION", raising=False)
    found = environments.uv_environ()
    assert found["UV_FIND_LINKS"] == "wheels"
    assert set(found["PYENV_VERSION"].split(":")) == {"3.7.16", "3.9.1", "3.11.7"}
    monkeypatch.setenv("PYENV_VERSION", "3.9.1")
    assert environments.uv_environ()["PYENV_VERSION"].split(":")[0] == "3.9.1"
    monkeypatch.setenv("UV_FIND_LINKS", "own")
    assert environments.uv_environ()["UV_FIND_LINKS"] == "own"
