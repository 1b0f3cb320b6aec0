"""Drives the comparison of an old class with its rule: which configurations, in which environment."""

import json
import os
import struct
import subprocess
import tempfile

import compat_opt

#: Distances up to this, as a part of the way moved, agree.
TOLERANCE = 1e-5

#: Where classes of each style are tried, in this order, until one environment can run them.
RELEASES = {"optimizer_v2": ("2.10", "2.4", "2.15"), "keras": ("2.15", "latest"), "get_updates": ("2.0",)}


def cases(hypers):
    """Configurations to be tried: the defaults, each flag turned over, and each zero set to a number.

    Args:
        hypers: ``[{"old", "new", "default", "required"}]``, the constructor's arguments.

    Returns:
        ``[{"label", "old": keyword arguments of the class, "new": of the rule}]``.
    """
    base = {"label": "defaults", "old": {}, "new": {}}
    changes = []
    for hyper in hypers:
        value = hyper["default"]
        if hyper["required"] and not isinstance(value, (int, float)):
            value = 8 if "steps" in hyper["old"] else 0.0625
        if value is None or isinstance(value, (str, list, tuple)):
            continue
        if isinstance(value, bool):
            changes.append((hyper, not value))
            continue
        if hyper["new"] == "learning_rate":
            value = max(value, 0.0625)  # steps that stand out from float32's rounding of the variables
        if isinstance(value, float):
            value = single(value)
        if value == 0:
            changes.append((hyper, 4 if isinstance(value, int) and "steps" in hyper["old"] else 0.03125))
            continue
        _set(base, hyper, value)
    found = [base]
    for hyper, value in changes:
        case = {"label": "%s=%r" % (hyper["old"], value), "old": dict(base["old"]), "new": dict(base["new"])}
        _set(case, hyper, value)
        found.append(case)
    return found


def _set(case, hyper, value):
    case["old"][hyper["old"]] = value
    case["new"][hyper["new"]] = value


def single(value):
    """`value` as float32 holds it."""
    return struct.unpack("f", struct.pack("f", value))[0]


def verify(source, name, style, rule_text, hypers, interpreters, paths=(), beneath=None):
    """Compare in the first interpreter that can run the old class.

    Args:
        source: the old file.
        name: its class.
        style: "optimizer_v2", "keras" or "get_updates".
        rule_text: the rule's source.
        hypers: as for `cases`.
        interpreters: paths of Python interpreters.
        paths: further folders to import from.
        beneath: the `Beneath` of a rule over another.

    Returns:
        ``{"largest", "within", "cases", "sparse", "tensorflow"}``, or ``{"error"}`` of the last interpreter.
    """
    return verify_all([job_of(source, name, style, rule_text, hypers, beneath)], interpreters, paths)[0]


def job_of(source, name, style, rule_text, hypers, beneath=None):
    """What the worker is given for one class; the arguments are those of `verify`."""
    job = {"source": os.path.abspath(source), "class": name, "style": style, "rule": rule_text, "cases": cases(hypers)}
    if beneath is not None:
        job["beneath"] = {"kind": beneath.kind, "base": beneath.base, "function": beneath.function}
    return job


def verify_all(jobs, interpreters, paths=()):
    """As `verify`, for several classes of one package: each interpreter is started once, for those still to be compared.

    Classes with get_updates run in a graph, in a process of their own.
    """
    results, errors = [None] * len(jobs), [[] for _ in jobs]
    for interpreter in interpreters:
        for graph in (False, True):
            waiting = [i for i, job in enumerate(jobs) if results[i] is None and (job["style"] == "get_updates") is graph]
            found = run_worker(interpreter, [jobs[i] for i in waiting], paths) if waiting else []
            for i, result in zip(waiting, map(judged, found)):
                if "error" not in result:
                    results[i] = result
                elif result["error"] not in errors[i]:
                    errors[i].append(result["error"])
        if None not in results:
            break
    return [result or {"error": "; ".join(words) or "no environment"} for result, words in zip(results, errors)]


def run_worker(interpreter, jobs, paths):
    """What the worker writes of each job, in one interpreter."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(compat_opt.__file__)))
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, name) for name in ("jobs.json", "results.json")]
        with open(files[0], "w") as stream:
            json.dump(jobs, stream)
        environ = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "TF_USE_LEGACY", "KERAS_BACKEND"))}
        environ.update(
            PYTHONPATH=os.pathsep.join([package] + list(paths)),
            PYTHONDONTWRITEBYTECODE="1",
            TF_CPP_MIN_LOG_LEVEL="3",
            CUDA_VISIBLE_DEVICES="-1",
        )
        command = [interpreter, "-m", "compat_opt.testing.migration.worker"] + files
        done = subprocess.run(command, env=environ, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            with open(files[1]) as stream:
                results = json.load(stream)
        except (OSError, ValueError):
            results = []
        ended = {"error": "the process ended with exit code %d: %s" % (done.returncode, done.stdout.decode()[-300:])}
        return results + [ended] * (len(jobs) - len(results))


def judged(result):
    """The worker's result with `largest` and `within`; an error where no case could be compared."""
    if "error" in result:
        return result
    compared = [case for case in result["cases"] if "difference" in case]
    if not compared:
        return {"error": result["cases"][0]["error"]}
    result["largest"] = max(case["difference"] for case in compared)
    result["within"] = result["largest"] <= TOLERANCE
    sparse = result.get("sparse") or {}
    if "exact" in sparse:
        sparse["is"] = next((k for k in ("exact", "lazy") if sparse[k] <= TOLERANCE), "other")
    return result
