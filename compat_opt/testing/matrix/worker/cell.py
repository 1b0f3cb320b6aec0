"""One cell from job to result."""

import os
import platform
import sys

import numpy as np

from compat_opt.env import find_target, read_environment
from compat_opt.testing.matrix.worker import checks, other_workloads, timing, trajectory
from compat_opt.testing.matrix.worker.loading import Absent, arguments, load, native
from compat_opt.testing.matrix.worker.stage import Stage

#: Seconds of a failed measurement do not fail a cell.
_OPTIONAL = "step time"


def run_cell(job, folder):
    """Run what the job says; writes traces.npz and returns the result."""
    subject, target = job["subject"], _target(job)
    training = job["workload"] != "trajectory"
    dtype = "float32" if training else job["dtype"]
    if dtype == "float64" and not subject["is_rule"]:
        _set_floatx(target, dtype)
    rule, make = load(subject, target)
    stage = Stage(target, rule, dtype)
    if rule is None and subject["kind"] != "builtin":
        make, target, stage = _own_target(make, target, dtype)
    result = {
        "target": target.key,
        "generation": target.generation,
        "dtype": stage.dtype,
        "environment": environment(target),
        "is_rule": rule is not None,
        "metrics": {},
    }
    traces, left_out = _workload(job, stage, make, result)
    result["left_out"] = left_out
    given = arguments(subject["args"])
    stored = dict(traces)
    if rule is not None and not training:
        for run, trace in trajectory.reference(rule, given, job["steps"], job["seed"]).items():
            stored["reference." + run] = trace
    _write(os.path.join(folder, "traces.npz"), stored)
    wanted = job["laws"]
    if rule is not None:
        result["laws"] = checks.run_laws(rule, target, given, wanted)
    else:
        result["laws"] = checks.run_checks(traces, left_out, job["tolerances"][stage.dtype], wanted)
    result["explanations"] = checks.explanations(rule is not None)
    result["times"] = _times(job, subject, target, rule, make) if job["time"] else {}
    broken = [name for name, law in result["laws"].items() if law["status"] == "broken"]
    result["status"] = "failed" if broken else "passed"
    result["message"] = "broken: %s" % ", ".join(broken) if broken else ""
    return result


def _target(job):
    return find_target(None if job["target"] == "own" else job["target"])


def _own_target(make, target, dtype):
    """The target whose base class the user's optimizer has."""
    from compat_opt.adapters import generation_of
    from compat_opt.env import targets

    optimizer = make()
    generation = generation_of(optimizer)
    if generation is None:
        raise TypeError("it is no Keras optimizer: %s" % type(optimizer).__name__)
    root = {"tf_keras": "tf_keras", "keras": "keras"}
    owners = [c.__module__.split(".")[0] for c in type(optimizer).__mro__]
    fitting = [t for t in targets() if t.generation == generation]
    nearest = [t for t in fitting if root.get(t.namespace.split(".")[0]) in owners]
    target = (nearest or fitting or [target])[0]
    return make, target, Stage(target, None, dtype)


def _set_floatx(target, dtype):
    from compat_opt.testing.digits import keras_of

    keras_of(target).backend.set_floatx(dtype)


def _workload(job, stage, make, result):
    if job["workload"] == "trajectory":
        return trajectory.run(stage, make, job["steps"], job["seed"])
    if job["workload"] == "digits":
        traces, result["metrics"] = other_workloads.digits(make, stage.target, job["steps"])
    else:
        traces, result["metrics"] = other_workloads.own(job["workload"], make, stage.target)
    return traces, {}


def _times(job, subject, target, rule, make):
    try:
        beside = None
        stage = Stage(target, rule, "float32")
        if rule is not None:
            try:
                cls = native(rule.__name__, target)
                beside = (Stage(target, None, "float32"), cls)
            except Absent:
                pass
        elif job["dtype"] == "float64":
            _set_floatx(target, "float32")
        return timing.measure(stage, make, beside)
    except Exception as error:  # a time is an extra; the numbers above are the result
        return {"problem": "%s: %s: %s" % (_OPTIONAL, type(error).__name__, str(error)[:200])}


def environment(target):
    """Versions of everything that has a say in the numbers."""
    record = read_environment().as_dict()
    found = {name: record[name] for name in ("python", "tensorflow", "keras", "tf_keras", "jax", "torch")}
    for name in ("tensorflow", "keras", "tf_keras"):
        # What was imported counts; tensorflow is not always imported under Keras 3 on another backend.
        found[name] = getattr(sys.modules.get(name), "__version__", found[name])
    found.update(numpy=np.__version__, backend=target.backend, platform=platform.platform(), machine=platform.machine())
    return found


def _write(path, traces):
    arrays = {"%s/%s" % (run, key): value for run, trace in traces.items() for key, value in trace.items()}
    with open(path + ".partial", "wb") as stream:
        np.savez_compressed(stream, **arrays)
    os.replace(path + ".partial", path)
