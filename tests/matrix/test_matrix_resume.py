"""Nothing is lost and nothing runs twice: kept results, interrupts, crashes, missing environments."""

import pytest

from compat_opt.errors import CommandError
from compat_opt.testing.matrix import cache, run
from compat_opt.testing.matrix.subjects import Subject
from matrix_fakes import RULE_FILE, FakeMatrix, cell, passed

CELLS = [cell("2.9"), cell("2.10"), cell("2.11", "tf.keras:keras2")]


def statuses(matrix):
    return [row.status for row in matrix.rows]


def test_a_second_run_runs_nothing(monkeypatch, rule_subject):
    fake = FakeMatrix(monkeypatch)
    first = fake.matrix(rule_subject, CELLS, jobs=2)
    first.run()
    assert sorted(fake.ran) == sorted(c.label for c in CELLS)
    second = fake.matrix(rule_subject, CELLS)
    rows = second.run()
    assert len(fake.ran) == 3 and all(row.reused for row in rows)
    assert rows[0].traces["dense"]["var/kernel"].shape == (5, 3, 2)
    assert run.exit_code(second, second.analysis()) == run.SAME


def test_again_runs_everything(monkeypatch, rule_subject):
    fake = FakeMatrix(monkeypatch)
    fake.matrix(rule_subject, CELLS).run()
    fake.matrix(rule_subject, CELLS, again=True).run()
    assert len(fake.ran) == 6


def test_another_source_argument_step_or_seed_is_another_result(monkeypatch, tmp_path):
    fake = FakeMatrix(monkeypatch)
    path = tmp_path / "changing.py"
    path.write_text(RULE_FILE)
    fake.matrix(Subject(str(path)), CELLS[:1]).run()
    fake.matrix(Subject(str(path), "learning_rate=0.5"), CELLS[:1]).run()
    fake.matrix(Subject(str(path)), CELLS[:1], steps=3).run()
    fake.matrix(Subject(str(path)), CELLS[:1], seed=1).run()
    assert len(fake.ran) == 4
    path.write_text(RULE_FILE.replace("* grad", "* grad * 2"))
    fake.matrix(Subject(str(path)), CELLS[:1]).run()
    assert len(fake.ran) == 5
    path.write_text(RULE_FILE)
    fake.matrix(Subject(str(path)), CELLS[:1]).run()
    assert len(fake.ran) == 5


def test_a_change_in_a_file_that_the_rule_imports_counts(tmp_path):
    (tmp_path / "near_by.py").write_text("NUMBER = 1\n")
    path = tmp_path / "importing.py"
    path.write_text("import near_by\n" + RULE_FILE)
    before = Subject(str(path)).source
    (tmp_path / "near_by.py").write_text("NUMBER = 2\n")
    assert Subject(str(path)).source != before


def test_fewer_laws_are_found_in_a_result_with_all(monkeypatch, rule_subject):
    laws = {"dense": {"status": "broken", "detail": "step 1"}, "sparse": {"status": "kept", "detail": ""}}
    fake = FakeMatrix(monkeypatch, {CELLS[0].label: passed(status="failed", laws=laws)})
    fake.matrix(rule_subject, CELLS[:1]).run()
    (row,) = fake.matrix(rule_subject, CELLS[:1], laws=["sparse"], time=False).run()
    assert len(fake.ran) == 1 and row.reused and row.status == "passed" and list(row.result["laws"]) == ["sparse"]


@pytest.mark.parametrize("status, again", [("killed", True), ("timeout", True), ("out of memory", True), ("crashed", False), ("error", False)])
def test_what_ended_a_cell_is_its_result(monkeypatch, rule_subject, status, again):
    fake = FakeMatrix(monkeypatch, {CELLS[1].label: {"status": status, "message": "why"}})
    matrix = fake.matrix(rule_subject, CELLS)
    matrix.run()
    assert statuses(matrix) == ["passed", status, "passed"]
    assert run.exit_code(matrix, matrix.analysis()) == run.COULD_NOT_RUN
    fake.outcomes.clear()
    matrix = fake.matrix(rule_subject, CELLS)
    matrix.run()
    assert len(fake.ran) == 3 + again
    assert statuses(matrix) == ["passed", "passed" if again else status, "passed"]


def test_an_interrupt_leaves_a_part_that_the_next_run_completes(monkeypatch, rule_subject):
    stopped = {"status": "not run", "message": "the run was stopped"}

    def interrupted(processes):
        processes.stop_all()
        return stopped

    fake = FakeMatrix(monkeypatch, {CELLS[1].label: interrupted})
    matrix = fake.matrix(rule_subject, CELLS)
    ticks = []

    def tick(schedule):
        ticks.append(schedule)
        if CELLS[1].label in fake.ran:
            raise KeyboardInterrupt

    matrix.run(on_tick=tick)
    assert matrix.stopped and statuses(matrix)[:2] == ["passed", "not run"]
    assert run.exit_code(matrix, matrix.analysis()) == run.COULD_NOT_RUN
    finished = [row.label for row in matrix.rows if row.status == "passed"]
    fake.outcomes.clear()
    matrix = fake.matrix(rule_subject, CELLS)
    matrix.run()
    assert statuses(matrix) == ["passed"] * 3
    assert [fake.ran.count(label) for label in finished] == [1] * len(finished)


def test_what_cannot_be_had_is_missing_and_never_passed(monkeypatch, rule_subject):
    fake = FakeMatrix(monkeypatch, missing=["2.10"])
    matrix = fake.matrix(rule_subject, CELLS)
    matrix.run()
    assert statuses(matrix) == ["passed", "missing", "passed"]
    assert "no Python 3.9" in matrix.rows[1].result["message"]
    assert run.exit_code(matrix, matrix.analysis()) == run.COULD_NOT_RUN
    fake.missing.clear()
    matrix = fake.matrix(rule_subject, CELLS)
    matrix.run()
    assert statuses(matrix) == ["passed"] * 3 and len(fake.ran) == 3


def test_one_environment_serves_all_targets_of_a_release(monkeypatch, rule_subject):
    fake = FakeMatrix(monkeypatch)
    fake.matrix(rule_subject, [cell("2.16", t) for t in ("keras:keras3", "tf_keras:keras2")]).run()
    assert fake.made == ["2.16"]


def test_a_fault_of_the_matrix_itself_is_raised(monkeypatch, rule_subject):
    fake = FakeMatrix(monkeypatch, {CELLS[0].label: ZeroDivisionError("here")})
    with pytest.raises(ZeroDivisionError):
        fake.matrix(rule_subject, CELLS).run()


def test_exit_codes(monkeypatch, rule_subject):
    differing = FakeMatrix(monkeypatch, shifts={"2.11": 1.0}).matrix(rule_subject, CELLS)
    differing.run()
    assert run.exit_code(differing, differing.analysis()) == run.DIFFERS


def test_the_cache_can_be_put_elsewhere(cache_folder):
    assert cache.folder("results") == str(cache_folder / "results")


def test_a_copy_of_the_package_is_made_once():
    import os

    first = cache.package_copy()
    assert first == cache.package_copy()
    assert os.path.exists(os.path.join(first, "compat_opt", "testing", "matrix", "worker", "__main__.py"))


def test_where_the_sources_lie_has_no_part_in_a_result(monkeypatch, tmp_path):
    fake = FakeMatrix(monkeypatch)
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "moved.py").write_text(RULE_FILE)
        fake.matrix(Subject(str(tmp_path / folder / "moved.py")), CELLS[:1]).run()
    assert len(fake.ran) == 1


def test_a_workload_of_the_users_is_found_from_anywhere(monkeypatch, rule_subject, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "training.py").write_text("def train(optimizer):\n    return {}\n")
    matrix = FakeMatrix(monkeypatch).matrix(rule_subject, CELLS[:1], workload="training.py:train")
    assert matrix.job(CELLS[0])["workload"] == str(tmp_path / "training.py:train")
    matrix.run()
    with pytest.raises(CommandError, match="workload"):
        FakeMatrix(monkeypatch).matrix(rule_subject, CELLS, workload="training.py:train.x")
