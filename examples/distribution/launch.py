"""Start a cluster of processes on this machine, and end it: for trying things out, and for the tests.

    python launch.py multi_worker result.npz
    python launch.py multi_worker result.npz --kill       # a worker dies after step 3, all restart
    python launch.py parameter_server result.npz
    python launch.py parameter_server result.npz --kill   # both workers die after step 3 and come back
    python launch.py parameter_server result.npz --restart  # everything starts anew after step 3

Other arguments go to the script of that name.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 500  # seconds for a whole run


def free_ports(count):
    """Numbers of `count` ports that nobody uses now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


class Cluster:
    """Processes that know each other by TF_CONFIG.

    Args:
        jobs: {job name: number of processes}.
        folder: where their output goes.
    """

    def __init__(self, jobs, folder):
        ports = iter(free_ports(sum(jobs.values())))
        self.jobs = {job: ["127.0.0.1:%d" % next(ports) for _ in range(count)] for job, count in jobs.items()}
        self.folder = folder
        self.processes = []
        self.ends = time.time() + LIMIT

    def start(self, job, index, script, *arguments):
        """Start one process; its output is in a file of the folder."""
        config = {"cluster": self.jobs, "task": {"type": job, "index": index}}
        environment = dict(os.environ, TF_CONFIG=json.dumps(config), CUDA_VISIBLE_DEVICES="-1")
        log = os.path.join(self.folder, "%s_%d_%d.log" % (job, index, len(self.processes)))
        with open(log, "wb") as output:
            process = subprocess.Popen(
                [sys.executable, os.path.join(HERE, script)] + list(arguments),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
            )
        process.log = log
        self.processes.append(process)
        return process

    def wait_for(self, process, text):
        """Wait until the process has printed `text`."""
        while text not in output_of(process):
            self._check_time(process)
            if process.poll() is not None and text not in output_of(process):
                raise SystemExit("Process %d ended without %r:\n%s" % (process.pid, text, output_of(process)[-6000:]))
            time.sleep(0.05)

    def wait(self, process):
        """Wait until the process has ended well."""
        while process.poll() is None:
            self._check_time(process)
            time.sleep(0.05)
        if process.returncode:
            raise SystemExit("Process %d failed:\n%s" % (process.pid, output_of(process)[-6000:]))

    def _check_time(self, process):
        if time.time() > self.ends:
            raise SystemExit("Process %d took too long:\n%s" % (process.pid, output_of(process)[-6000:]))

    def end(self):
        """Kill those processes that still run, by their ids."""
        for process in self.processes:
            kill(process)


def output_of(process):
    with open(process.log, errors="replace") as file:
        return file.read()


def kill(process):
    """SIGKILL, which no process can catch."""
    if process.poll() is None:
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdin.close()


def multi_worker(folder, result, how, arguments):
    """Two workers; the first one's result counts."""
    arguments = ["--checkpoints", os.path.join(folder, "checkpoints")] + arguments
    results = [result, os.path.join(folder, "other.npz")]

    def start(*more):
        cluster = Cluster({"worker": 2}, folder)
        for index in (0, 1):
            cluster.start("worker", index, "multi_worker.py", results[index], *(arguments + list(more)))
        return cluster

    if how == "--kill":
        cluster = start("--hang-after", "3")
        try:
            for index, process in enumerate(cluster.processes):
                cluster.wait_for(process, "worker %d has made step 3" % index)
            kill(cluster.processes[1])
            print("worker 1 was killed after step 3")
        finally:
            cluster.end()
    cluster = start()
    try:
        for process in cluster.processes:
            cluster.wait(process)
        return output_of(cluster.processes[0])
    finally:
        cluster.end()


def parameter_server(folder, result, how, arguments):
    """Two servers, two workers, and a coordinator."""

    def start(*more):
        cluster = Cluster({"chief": 1, "ps": 2, "worker": 2}, folder)
        for job in ("ps", "worker"):
            for index in (0, 1):
                cluster.start(job, index, "server.py")
        for process in cluster.processes:
            cluster.wait_for(process, "is up")
        cluster.start("chief", 0, "parameter_server.py", result, *(arguments + list(more)))
        return cluster

    if how == "--restart":
        arguments = arguments + ["--checkpoints", os.path.join(folder, "checkpoints")]
        cluster = start("--steps", "3")
        try:
            cluster.wait(cluster.processes[-1])
        finally:
            cluster.end()
        print("all processes were ended after step 3")
    cluster = start(*(["--wait-after", "3"] if how == "--kill" else []))
    chief = cluster.processes[-1]
    try:
        if how == "--kill":
            cluster.wait_for(chief, "step 3 is made")
            for index in (0, 1):
                kill(cluster.processes[2 + index])
                cluster.wait_for(cluster.start("worker", index, "server.py"), "is up")
            print("both workers were killed after step 3, and started again")
            chief.stdin.write(b"\n")
            chief.stdin.flush()
        cluster.wait(chief)
        return output_of(chief)
    finally:
        cluster.end()


def main():
    kind, result = sys.argv[1:3]
    rest = sys.argv[3:]
    how = next((each for each in rest if each in ("--kill", "--restart")), None)
    arguments = [each for each in rest if each != how]
    folder = tempfile.mkdtemp()
    try:
        run = {"multi_worker": multi_worker, "parameter_server": parameter_server}[kind]
        said = run(folder, os.path.abspath(result), how, arguments)
        print("\n".join(line for line in said.splitlines() if "step" in line and line.split()[0] in ("worker", "the", "step")))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
