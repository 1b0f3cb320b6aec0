"""Several cells side by side: an environment first, then its cells."""

import collections
import threading
import time


class Schedule:
    """Runs cells, `jobs` at a time.

    Args:
        cells: a list of `Cell`.
        prepare: function of a release; returns its environment, raises what makes it missing.
        run: function of a cell and its environment; returns the cell's result.
        jobs: how many at a time.
        missing: the exception class of `prepare` that is a result, not a fault.
    """

    def __init__(self, cells, prepare, run, jobs=1, missing=()):
        self.cells, self.prepare, self.run_one, self.jobs = list(cells), prepare, run, jobs
        self.missing = missing
        self.results = {}
        self._changed = threading.Condition()
        self._tasks = collections.deque()
        self._waiting_cells = collections.OrderedDict()
        for cell in self.cells:
            if cell.release not in self._waiting_cells:
                self._waiting_cells[cell.release] = []
                self._tasks.append(("environment", cell.release))
            self._waiting_cells[cell.release].append(cell)
        self._running = {}
        self._spent = {"environment": [], "cell": []}
        self._fault = None
        self.stopping = False

    def run(self, on_finish=None, on_tick=None, stop=None, tick=0.5):
        """Run everything; an interrupt stops it, and so does an error in a callback.

        Args:
            on_finish: called with each cell and its result, in the order in which they finish.
            on_tick: called with this schedule about twice a second.
            stop: called once on an interrupt, to end what runs now.

        Returns:
            {cell: result}; without the cells that did not run.
        """
        threads = [threading.Thread(target=self._work, args=(on_finish,), daemon=True) for _ in range(self.jobs)]
        for thread in threads:
            thread.start()
        try:
            with self._changed:
                while self._unfinished() and not self._fault:
                    self._changed.wait(tick)
                    if on_tick:
                        on_tick(self)
        except KeyboardInterrupt:
            self.stopping = True
        finally:
            if self._unfinished() or self._fault:
                self.stopping = True
                if stop:
                    stop()
                for thread in threads:
                    thread.join(10)
        if self._fault:
            raise self._fault
        return self.results

    def _unfinished(self):
        return bool(self._tasks or self._running)

    def _work(self, on_finish):
        while True:
            with self._changed:
                while not self._tasks and self._running and not self.stopping:
                    self._changed.wait(0.5)
                if self.stopping or not self._tasks:
                    return
                kind, what = self._tasks.popleft()
                started = time.time()
                self._running[threading.get_ident()] = (kind, what, started)
            try:
                if kind == "environment":
                    self._environment(what, on_finish)
                else:
                    self._finish(what[0], self.run_one(*what), on_finish)
            except Exception as error:  # a fault of this program: shown, not swallowed by a thread
                self._fault = error
            with self._changed:
                self._spent[kind].append(time.time() - started)
                del self._running[threading.get_ident()]
                self._changed.notify_all()

    def _environment(self, release, on_finish):
        cells = self._waiting_cells[release]
        try:
            environment = self.prepare(release)
        except self.missing as error:
            if not self.stopping:
                for cell in cells:
                    self._finish(cell, {"status": "missing", "message": str(error)}, on_finish)
            return
        with self._changed:
            self._tasks.extendleft(("cell", (cell, environment)) for cell in reversed(cells))
            self._waiting_cells[release] = []
            self._changed.notify_all()

    def _finish(self, cell, result, on_finish):
        with self._changed:
            if result["status"] == "not run":
                return
            self.results[cell] = result
            if on_finish:
                on_finish(cell, result)
            self._changed.notify_all()

    # What a progress line says

    def running(self):
        """What runs now: [(text, seconds)]."""
        now = time.time()
        found = []
        for kind, what, started in list(self._running.values()):
            text = "making %s" % what.name if kind == "environment" else what[0].label
            found.append((text, now - started))
        return found

    def seconds_left(self):
        """An estimate, or None before anything has finished."""
        spent, left, now = self._spent, 0.0, time.time()
        cells = spent["cell"]
        mean_cell = sum(cells) / len(cells) if cells else None
        places = spent["environment"]
        mean_place = sum(places) / len(places) if places else 0.0
        if mean_cell is None:
            return None
        left += mean_cell * (len(self.cells) - len(self.results) - len(self._running))
        left += mean_place * sum(kind == "environment" for kind, _ in list(self._tasks))
        for kind, _, started in list(self._running.values()):
            left += max(0.0, (mean_cell if kind == "cell" else mean_place) - (now - started))
        return max(0.0, left) / self.jobs
