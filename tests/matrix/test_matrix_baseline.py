"""Baselines: what is written, and what a later run says against it."""

import json

import pytest

from compat_opt.testing.matrix import baseline, run
from matrix_fakes import FakeMatrix, cell, row

CELLS = [cell("2.9"), cell("2.10")]


def recorded(monkeypatch, subject, folder, **more):
    fake = FakeMatrix(monkeypatch, **more)
    matrix = fake.matrix(subject, CELLS)
    matrix.run()
    return matrix, baseline.record(str(folder), matrix.rows, subject, "trajectory", 10, 0)


def verdicts(monkeypatch, subject, folder, **more):
    settings = {"seed": more.pop("seed", 0), "again": True}
    matrix = FakeMatrix(monkeypatch, **more).matrix(subject, CELLS, **settings)
    matrix.run()
    run.compare_with_baseline(matrix, str(folder))
    return matrix, [r.baseline for r in matrix.rows]


def test_a_baseline_knows_where_it_comes_from(monkeypatch, rule_subject, tmp_path):
    _, (path, _) = recorded(monkeypatch, rule_subject, tmp_path / "base")
    found = baseline.provenance(path)
    assert {"compat_opt", "date", "subject", "args", "tf", "target", "dtype", "seed", "environment"} <= set(found)
    assert found["tf"] == "2.9" and found["environment"]["numpy"]
    assert json.loads(json.dumps(found)) == found


def test_the_same_numbers(monkeypatch, rule_subject, tmp_path):
    recorded(monkeypatch, rule_subject, tmp_path / "base")
    matrix, found = verdicts(monkeypatch, rule_subject, tmp_path / "base")
    assert [v.status for v in found] == ["same", "same"]
    assert run.exit_code(matrix, matrix.analysis(), True) == run.SAME


def test_other_numbers_say_step_variable_slot_and_size(monkeypatch, rule_subject, tmp_path):
    recorded(monkeypatch, rule_subject, tmp_path / "base")
    matrix, found = verdicts(monkeypatch, rule_subject, tmp_path / "base", shifts={"2.10": 0.5})
    assert [v.status for v in found] == ["same", "differs"]
    assert "step 2" in found[1].text and "kernel[1, 0]" in found[1].text and "distance" in found[1].text
    assert run.exit_code(matrix, matrix.analysis(), True) == run.DIFFERS


def test_what_could_not_be_compared(monkeypatch, rule_subject, tmp_path):
    _, paths = recorded(monkeypatch, rule_subject, tmp_path / "base")
    (tmp_path / "base" / baseline.file_name(row("2.10"))).unlink()
    matrix, found = verdicts(monkeypatch, rule_subject, tmp_path / "base")
    assert [v.status for v in found] == ["same", "not compared"]
    assert run.exit_code(matrix, matrix.analysis(), True) == run.COULD_NOT_RUN


@pytest.mark.parametrize("what", ["seed"])
def test_another_problem_is_not_compared(monkeypatch, rule_subject, tmp_path, what):
    recorded(monkeypatch, rule_subject, tmp_path / "base")
    _, found = verdicts(monkeypatch, rule_subject, tmp_path / "base", **{what: 7})
    assert found[0].status == "not compared" and what in found[0].text


def test_a_cell_that_did_not_run_is_not_compared(monkeypatch, rule_subject, tmp_path):
    recorded(monkeypatch, rule_subject, tmp_path / "base")
    _, found = verdicts(monkeypatch, rule_subject, tmp_path / "base", missing=["2.9"])
    assert found[0].status == "not compared" and "no Python" in found[0].text
