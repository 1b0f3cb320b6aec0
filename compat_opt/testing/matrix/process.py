"""One cell in a process of its own; whatever ends that process is the cell's result."""

import json
import os
import shutil
import signal
import tempfile

from compat_opt.testing.matrix import cache
from compat_opt.testing.matrix.processes import tail
from compat_opt.testing.matrix.releases import HERE

#: Signals that come from outside, SIGKILL also from the kernel when memory runs out.
_FROM_OUTSIDE = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")


def run_cell(cell, job, environment, package, processes, timeout=None):
    """Run the worker for one cell.

    Args:
        cell: the `Cell`.
        job: what the worker is to do, JSON-able.
        environment: the `Environment`.
        package: the folder on PYTHONPATH that this package lies in.
        processes: the `Processes`.
        timeout: seconds, or None.

    Returns:
        (result, the folder with traces.npz and log.txt, which the caller removes).
    """
    work = tempfile.mkdtemp(dir=cache.folder("work"))
    cache.write_json(os.path.join(work, "job.json"), job)
    log = os.path.join(work, "log.txt")
    command = [environment.python, "-m", "compat_opt.testing.matrix.worker", work]
    code, timed_out = processes.run(command, _environ(cell, package, work), work, log, timeout)
    result = _read(os.path.join(work, "result.json"))
    if processes.stopping and result is None:
        result = {"status": "not run", "message": "the run was stopped"}
    elif timed_out:
        result = {"status": "timeout", "message": "stopped after %g s" % timeout, "log": tail(log)}
    elif result is None:
        result = dict(judge(code, tail(log)), log=tail(log))
    else:
        _prove(cell, result)
    return result, work


def judge(code, log):
    """Status and message of a worker that wrote no result."""
    if "bad_alloc" in log or "MemoryError" in log:
        return {"status": "out of memory", "message": "the process ran out of memory (exit code %s)" % code}
    if code is not None and code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = "signal %d" % -code
        if name in _FROM_OUTSIDE:
            hint = "; the kernel does so when memory runs out" if name == "SIGKILL" else ""
            return {"status": "killed", "message": "the process was ended by %s%s" % (name, hint)}
        return {"status": "crashed", "message": "the process crashed: %s" % name}
    return {"status": "crashed", "message": "the process ended with exit code %s and without a result" % code}


def _prove(cell, result):
    """A cell proves what it is: the TensorFlow that ran is the one that was to run."""
    ran = (result.get("environment") or {}).get("tensorflow")
    if ran and cell.release.tensorflow and ran != cell.release.tensorflow:
        result["status"] = "error"
        result["message"] = "TensorFlow %s ran in place of %s" % (ran, cell.release.tensorflow)


def _environ(cell, package, work):
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    if cell.release.name != HERE:
        environ.pop("TF_USE_LEGACY_KERAS", None)
        environ.pop("KERAS_BACKEND", None)
        environ["KERAS_HOME"] = os.path.join(work, "keras")
    environ.update(
        PYTHONPATH=package,
        PYTHONHASHSEED="0",
        PYTHONDONTWRITEBYTECODE="1",
        CUDA_VISIBLE_DEVICES="-1",
        JAX_PLATFORMS="cpu",
        TF_CPP_MIN_LOG_LEVEL="2",
        TF_ENABLE_ONEDNN_OPTS="0",
    )
    for name in ("OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"):
        environ.setdefault(name, "1")  # the same order of summation everywhere, and cells side by side
    environ.update(cell.release.environ)
    return environ


def _read(path):
    try:
        with open(path) as stream:
            return json.load(stream)
    except (OSError, ValueError):
        return None


def remove(work):
    """Remove a cell's working folder."""
    shutil.rmtree(work, ignore_errors=True)
