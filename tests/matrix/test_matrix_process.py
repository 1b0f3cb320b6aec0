"""Real processes, small ones: a crash, a kill and a time-out are results; everything can be stopped."""

import os
import signal
import sys
import threading
import time

import pytest

from compat_opt.testing.matrix import process
from compat_opt.testing.matrix.environments import Environment
from compat_opt.testing.matrix.processes import Processes
from matrix_fakes import cell

needs_signals = pytest.mark.skipif(os.name == "nt", reason="signals end processes on POSIX only")


def package_with_worker(folder, body):
    """A package whose worker does something else."""
    place = folder / "compat_opt" / "testing" / "matrix" / "worker"
    place.mkdir(parents=True)
    for path in (place, place.parent, place.parent.parent, place.parent.parent.parent):
        (path / "__init__.py").write_text("")
    (place / "__main__.py").write_text("import json, os, signal, sys, time\n" + body)
    return str(folder)


def run_worker(tmp_path, body, timeout=30, processes=None):
    package = package_with_worker(tmp_path / "package", body)
    environment = Environment(sys.executable, "key", [])
    result, work = process.run_cell(cell("2.10"), {"what": 1}, environment, package, processes or Processes(), timeout)
    process.remove(work)
    return result


WRITE = 'json.dump(%s, open(os.path.join(sys.argv[1], "result.json"), "w"))\n'


def test_a_result_is_read(tmp_path):
    assert run_worker(tmp_path, WRITE % '{"status": "passed"}')["status"] == "passed"


def test_a_cell_proves_which_tensorflow_ran(tmp_path):
    result = run_worker(tmp_path, WRITE % '{"status": "passed", "environment": {"tensorflow": "2.4.0"}}')
    assert result["status"] == "error" and "2.4.0 ran in place of 2.10.1" in result["message"]


def test_an_exit_without_result_is_a_crash(tmp_path):
    result = run_worker(tmp_path, 'print("last words"); sys.exit(3)')
    assert result["status"] == "crashed" and "exit code 3" in result["message"] and "last words" in result["log"]


@needs_signals
@pytest.mark.parametrize("name, status", [("SIGKILL", "killed"), ("SIGTERM", "killed"), ("SIGABRT", "crashed")])
def test_a_signal_is_named(tmp_path, name, status):
    result = run_worker(tmp_path, "os.kill(os.getpid(), signal.%s); time.sleep(20)" % name)
    assert result["status"] == status and name in result["message"]


def test_out_of_memory_is_told_from_a_crash():
    assert process.judge(-6, "terminate called after throwing 'std::bad_alloc'")["status"] == "out of memory"
    assert process.judge(-signal.SIGTERM, "")["status"] == "killed"


def test_a_timeout(tmp_path):
    result = run_worker(tmp_path, "time.sleep(60)", timeout=1)
    assert result["status"] == "timeout" and "1 s" in result["message"]


@needs_signals
def test_everything_can_be_stopped(tmp_path):
    processes = Processes()
    threading.Timer(1.0, processes.stop_all).start()
    started = time.time()
    result = run_worker(tmp_path, "time.sleep(60)", processes=processes)
    assert result["status"] == "not run" and time.time() - started < 30


def test_a_cell_sees_neither_the_callers_path_nor_its_switches(tmp_path, monkeypatch):
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "1")
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    monkeypatch.setenv("PYTHONSTARTUP", "x.py")
    body = 'names = ("TF_USE_LEGACY_KERAS", "KERAS_BACKEND", "PYTHONSTARTUP")\n'
    result = run_worker(tmp_path, body + WRITE % '{"status": "passed", "seen": [n for n in names if n in os.environ]}')
    assert result["seen"] == []
