"""Run the test matrix: build the wheel once, test it in every cell of ci/cells.tsv, print what each cell found.

    python3 ci/run_matrix.py                           every cell, two at a time
    python3 ci/run_matrix.py --cells tf2.0,tf2.21      only these
    python3 ci/run_matrix.py --suite core              without the long tests, in the cells that have them too
    python3 ci/run_matrix.py --json results.json       the results also for a program, such as ci/support_table.py

Needs Linux, Python 3.8 or newer, and pip; uv brings the interpreters and packages of the cells. All it makes is in
.venv-ci (tox and uv), .tox (the cells' environments) and .matrix (wheel, logs, results). Exits 1 if a promised cell
failed, had no interpreter, took too long or did not run.
"""

import argparse
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from matrix_report import print_report, progress_line

CHECKOUT = Path(__file__).resolve().parent.parent
TOOLS = CHECKOUT / ".venv-ci"
SCRIPTS = TOOLS / "bin"
OUTPUT = CHECKOUT / ".matrix"
# uv does not read pip's settings. UV_FIND_LINKS is where a CPU build of torch may lie.
PIP_TO_UV = {"PIP_FIND_LINKS": "UV_FIND_LINKS", "PIP_CERT": "SSL_CERT_FILE", "PIP_INDEX_URL": "UV_DEFAULT_INDEX"}
NO_REASON = ("", "Skipped", "unconditional skip")  # what pytest gives as the reason of a skip without one


def main(arguments=None):
    options = parse_options(arguments)
    started = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    rows = choose_rows(options)
    environment = tool_environment()
    install_tools(environment)
    require_the_same_cells_in_tox(environment)
    wheel = build_wheel(environment)
    print(f"{len(rows)} cells, {options.jobs} at a time, wheel {wheel.name}, logs in {OUTPUT / 'logs'}", flush=True)
    results = run_cells(rows, wheel, environment, options)
    summary = {"wheel": wheel.name, "seconds": round(time.monotonic() - started), "cells": results}
    OUTPUT.joinpath("results.json").write_text(json.dumps(summary, indent=1) + "\n")
    if options.json:
        options.json.write_text(json.dumps(summary, indent=1) + "\n")
    print_report(summary)
    return 0 if all(result["status"] == "passed" for result in results) else 1


def parse_options(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", help="comma-separated names out of ci/cells.tsv; default: all")
    parser.add_argument("--suite", choices=("core", "long", "exhaustive"), help="for every cell; default: the cell's own")
    parser.add_argument("--jobs", type=int, default=2, help="cells at a time (default 2)")
    parser.add_argument("--time-limit", type=float, default=20, metavar="MINUTES", help="per cell (default 20)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results here")
    return parser.parse_args(arguments)


def choose_rows(options):
    """The rows of the chosen cells, in the order of the file, each with the suite it is to run."""
    rows = read_cells()
    if options.cells:
        names = options.cells.split(",")
        unknown = sorted(set(names) - {row["cell"] for row in rows})
        if unknown:
            known = ", ".join(row["cell"] for row in rows)
            sys.exit(f"No such cell. Expected: {known}. Received: {', '.join(unknown)}")
        rows = [row for row in rows if row["cell"] in names]
    return [dict(row, suite=options.suite or row["suite"]) for row in rows]


def read_cells():
    with open(CHECKOUT / "ci" / "cells.tsv", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def tool_environment():
    """This process's environment, so completed that uv finds what lies on this machine already."""
    environment = dict(os.environ)
    for pip_name, uv_name in PIP_TO_UV.items():
        if pip_name in environment:
            environment.setdefault(uv_name, environment[pip_name])
    if shutil.which("pyenv"):
        # pyenv hides the interpreters that are not active, also from uv. Those in PYENV_VERSION stay first: a user has
        # put them there, or the shim that started this process.
        listing = subprocess.run(["pyenv", "versions", "--bare"], stdout=subprocess.PIPE, text=True, check=True)
        active = environment.get("PYENV_VERSION", "").split(":")
        installed = [name for name in listing.stdout.split() if name.replace(".", "").isdigit()]
        names = active + sorted(set(installed) - set(active))
        environment["PYENV_VERSION"] = ":".join(name for name in names if name)
    if "UV_CACHE_DIR" not in environment and Path.home().stat().st_dev != CHECKOUT.stat().st_dev:
        # Hard links from the cache save about 1 GB a cell; they need cache and environments on one disk.
        environment["UV_CACHE_DIR"] = str(OUTPUT / "uv-cache")
    return environment


def install_tools(environment):
    if not (SCRIPTS / "tox").exists():
        subprocess.run([sys.executable, "-m", "venv", str(TOOLS)], check=True)
        pip = [str(SCRIPTS / "python"), "-m", "pip", "install", "-qq", "tox>=4.20", "tox-uv>=1.20"]
        subprocess.run(pip, check=True, env=environment)


def require_the_same_cells_in_tox(environment):
    command = [str(SCRIPTS / "tox"), "list", "--no-desc", "-q"]
    listing = subprocess.run(command, cwd=CHECKOUT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    different = set(listing.stdout.split()) ^ {row["cell"] for row in read_cells()}
    if different:
        sys.exit(f"tox.ini and ci/cells.tsv name different cells: {', '.join(sorted(different))}")


def build_wheel(environment):
    """By way of an sdist, because setuptools takes files that are gone from a `build` folder that was left behind."""
    folder = OUTPUT / "dist"
    shutil.rmtree(folder, ignore_errors=True)
    command = [str(SCRIPTS / "uv"), "build", "--quiet", "--python", sys.executable, "--out-dir", str(folder)]
    subprocess.run(command, cwd=CHECKOUT, env=environment, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def run_cells(rows, wheel, environment, options):
    """Run the cells, long ones first; an interrupt stops them and leaves the others as `not run`."""
    waiting = sorted(rows, key=lambda row: row["suite"] != "long")
    running, results = [], {}
    try:
        while waiting or running:
            while waiting and len(running) < options.jobs:
                running.append(Cell(waiting.pop(0), wheel, environment))
            time.sleep(0.2)
            for cell in [cell for cell in running if cell.has_ended(60 * options.time_limit)]:
                running.remove(cell)
                results[cell.name] = cell.result()
                left = [dict(cell.row, ran=cell.seconds()) for cell in running] + waiting
                print(progress_line(results[cell.name], results, left, options.jobs), flush=True)
    except (KeyboardInterrupt, SystemExit):
        print("stopping", flush=True)
    finally:
        for cell in running:
            cell.stop()
    return [results.get(row["cell"], not_run(row)) for row in rows]


def not_run(row):
    return {"cell": row["cell"], "suite": row["suite"], "status": "not run", "why": "the matrix was stopped"}


class Cell:
    """One cell while it runs: a tox process in a process group of its own."""

    def __init__(self, row, wheel, environment):
        self.row, self.name = row, row["cell"]
        self.log = OUTPUT / "logs" / f"{self.name}.log"
        self.result_file = OUTPUT / "results" / f"{self.name}.json"
        for file in (self.log, self.result_file):
            file.parent.mkdir(parents=True, exist_ok=True)
            if file.exists():
                file.unlink()
        command = [str(SCRIPTS / "tox"), "run", "-e", self.name, "--installpkg", str(wheel)]
        environment = dict(environment, NO_COLOR="1")
        environment.update(COMPAT_OPT_SUITE=row["suite"], COMPAT_OPT_CELL_RESULT=str(self.result_file))
        self.started = time.monotonic()
        self.ended = None
        self.timed_out = False
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                command,
                cwd=CHECKOUT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def seconds(self):
        return round((self.ended or time.monotonic()) - self.started)

    def has_ended(self, time_limit):
        if self.process.poll() is None and self.seconds() > time_limit:
            self.timed_out = True
            self.stop()
        if self.process.poll() is not None:
            self.ended = time.monotonic()
        return self.ended is not None

    def stop(self):
        for signal_number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, signal_number)
            except ProcessLookupError:
                return
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                pass

    def result(self):
        """The row, what the cell's pytest wrote, and a status."""
        result = {"cell": self.name, "suite": self.row["suite"], "seconds": self.seconds(), "log": str(self.log)}
        if self.result_file.exists():
            result.update(json.loads(self.result_file.read_text()))
        result["status"], result["why"] = self.judge(result)
        return result

    def judge(self, result):
        if self.timed_out:
            return "timeout", f"stopped after {self.seconds()} s"
        if "exit_status" not in result:
            if not any((CHECKOUT / ".tox" / self.name).glob("*/python*")):
                return "missing", f"no Python {self.row['python']} on this machine, and uv could not bring it"
            return "failed", f"no result; tox ended with {self.process.returncode}"
        if self.process.returncode or result["failed"] or not result["passed"]:
            counts = f"{result['failed']} failed, {result['passed']} passed"
            return "failed", f"{counts}, tox ended with {self.process.returncode}"
        if any(skip["reason"].strip() in NO_REASON for skip in result["skips"]):
            return "failed", "a test was skipped without a reason"
        return "passed", ""


if __name__ == "__main__":
    sys.exit(main())
