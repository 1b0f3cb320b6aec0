"""Child processes that can all be stopped at once."""

import os
import signal
import subprocess
import threading
import time


class Processes:
    """Children of a run, each in a process group of its own."""

    def __init__(self):
        self._lock = threading.Lock()
        self._running = set()
        self.stopping = False

    def run(self, command, environ, cwd, log, timeout=None):
        """Run a command with its output in the file `log`.

        Returns:
            (exit code: negative for a signal, whether it was stopped because of `timeout`).
        """
        with open(log, "wb") as stream:
            with self._lock:
                if self.stopping:
                    return None, False
                child = subprocess.Popen(
                    command,
                    env=environ,
                    cwd=cwd,
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                self._running.add(child)
            timed_out = False
            try:
                child.wait(timeout=timeout)
            except subprocess.TimeoutExpired:
                timed_out = True
                _stop(child)
            finally:
                with self._lock:
                    self._running.discard(child)
        return child.returncode, timed_out

    def stop_all(self):
        """Stop every child, and start no other."""
        with self._lock:
            self.stopping = True
            children = list(self._running)
        for child in children:
            _stop(child)


def _stop(child, patience=3.0):
    """End a child and what it started: politely first."""
    _signal(child, signal.SIGTERM)
    until = time.time() + patience
    while child.poll() is None and time.time() < until:
        time.sleep(0.05)
    if child.poll() is None:
        _signal(child, getattr(signal, "SIGKILL", signal.SIGTERM))
        child.wait()


def _signal(child, number):
    try:
        if hasattr(os, "killpg"):
            os.killpg(child.pid, number)
        else:
            child.terminate()
    except (ProcessLookupError, PermissionError):
        pass


def tail(path, size=3000):
    """The end of a log."""
    try:
        with open(path, "rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - size))
            return stream.read().decode(errors="replace").strip()
    except OSError:
        return ""
