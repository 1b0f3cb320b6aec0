"""Cells side by side: how many at a time, in which order, and what the progress line says."""

import threading
import time

import pytest

from compat_opt.testing.matrix.report import text
from compat_opt.testing.matrix.schedule import Schedule
from matrix_fakes import cell

CELLS = [cell("2.9"), cell("2.9", "tf.keras.experimental:keras2"), cell("2.10"), cell("2.11", "tf.keras:keras2")]


def schedule(run, jobs=1, prepare=lambda release: release.name):
    return Schedule(CELLS, prepare, run, jobs, KeyError)


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_no_more_than_the_jobs_run_at_once(jobs):
    lock, now, most = threading.Lock(), [0], [0]

    def run(cell, environment):
        assert environment == cell.release.name
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.05)
        with lock:
            now[0] -= 1
        return {"status": "passed"}

    results = schedule(run, jobs).run(tick=0.01)
    assert set(results) == set(CELLS) and most[0] <= jobs
    assert jobs == 1 or most[0] > 1


def test_the_cells_of_an_environment_run_when_it_is_there():
    order = []
    schedule(
        lambda cell, environment: order.append(cell.label) or {"status": "passed"},
        prepare=lambda release: order.append(release.name) or release.name,
    ).run()
    assert order == ["2.9", CELLS[0].label, CELLS[1].label, "2.10", CELLS[2].label, "2.11", CELLS[3].label]


def test_the_progress_line_says_what_runs_and_how_long_it_may_take():
    lines = []

    def run(cell, environment):
        time.sleep(0.1)
        return {"status": "passed"}

    schedule(run).run(on_tick=lambda s: lines.append(text.progress(s)), tick=0.02)
    assert any(CELLS[1].label in line and "1 of 4 done" in line and "left" in line for line in lines), lines


def test_an_error_in_a_callback_stops_what_runs():
    stopped = []

    def fails(schedule):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        schedule(lambda c, e: time.sleep(0.2) or {"status": "passed"}).run(on_tick=fails, stop=lambda: stopped.append(1))
    assert stopped == [1]
