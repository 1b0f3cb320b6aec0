"""One cell: read the job, do it, write the result."""

import json
import os
import sys
import time
import traceback


def main(folder):
    """Do the job in `folder`; whatever happens, result.json says it."""
    with open(os.path.join(folder, "job.json")) as stream:
        job = json.load(stream)
    # Not the job's folder, but the user's own, is where imports are looked for.
    sys.path[:] = [path for path in sys.path if path not in ("", folder)]
    sys.path[:0] = [path for path in job["subject"].get("paths") or () if path not in sys.path]
    started = time.time()
    try:
        result = _do(job, folder)
    except MemoryError:
        result = {"status": "out of memory", "message": "the process ran out of memory"}
    except Exception as error:
        result = _problem(error)
    result["seconds"] = round(time.time() - started, 2)
    partial = os.path.join(folder, "result.json.partial")
    with open(partial, "w") as stream:
        json.dump(result, stream, indent=1)
    os.replace(partial, os.path.join(folder, "result.json"))


def _do(job, folder):
    if job["subject"].get("describe"):
        from compat_opt.testing.matrix.worker.loading import describe

        return describe(job["subject"])
    from compat_opt.testing.matrix.worker.cell import run_cell

    return run_cell(job, folder)


def _problem(error):
    status = getattr(error, "status", "error")
    name = type(error).__name__
    if name == "ResourceExhaustedError":
        status = "out of memory"
    message = str(error) if status == "absent" else "%s: %s" % (name, error)
    return {"status": status, "message": message[:2000], "traceback": traceback.format_exc()[-6000:]}


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
