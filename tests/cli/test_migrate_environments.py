"""`migrate --verify` makes its environments: which, when, and what happens where one can't be had. Nothing is made here."""

import json

import pytest

from compat_opt.cli import main
from compat_opt.testing.matrix import environments
from compat_opt.testing.migration import verify

SOURCE = """
import tensorflow as tf


class Plain(tf.keras.optimizers.Optimizer):
    def _resource_apply_dense(self, grad, var):
        return var.assign_sub(0.1 * grad)


class Halved(tf.keras.optimizers.Optimizer):
    def update_step(self, gradient, variable):
        variable.assign_sub(0.5 * gradient)
"""


class Made:
    """Stands in for the environments and the worker: what was asked for, in order."""

    def __init__(self):
        self.asked, self.run, self.extra, self.missing, self.broken, self.difference = [], [], None, (), (), 0.0

    def environments(self, processes, extra=(), tools=()):
        self.extra = list(extra)
        return self

    def ensure(self, release):
        self.asked.append(release.name)
        if release.minor in self.missing:
            raise environments.Missing("no Python %s here" % release.python)
        return environments.Environment("python of " + release.minor, "key", [])

    def worker(self, interpreter, jobs, paths):
        self.run += [(interpreter, job["class"], job["style"]) for job in jobs]
        if interpreter in self.broken:
            return [{"error": "ModuleNotFoundError: tensorflow_addons"} for _ in jobs]
        case = {"label": "defaults", "dtype": "float64", "difference": self.difference}
        return [{"tensorflow": interpreter[-4:], "cases": [case], "sparse": {"exact": 0.0, "lazy": 1.0}} for _ in jobs]


@pytest.fixture
def made(monkeypatch):
    made = Made()
    monkeypatch.setattr(environments, "Environments", made.environments)
    monkeypatch.setattr(verify, "run_worker", made.worker)
    return made


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "old.py"
    path.write_text(SOURCE)
    return str(path)


def run(capsys, *arguments):
    code = main(["migrate"] + list(arguments) + ["--verify", "--json"])
    captured = capsys.readouterr()
    return code, {row["name"]: row["verified"] for row in json.loads(captured.out)["classes"]}, captured.err


def test_the_release_that_is_asked_for(made, path, capsys):
    code, verified, _ = run(capsys, path, "--class", "Plain", "--tf", "2.10", "--with", "typeguard<3")
    assert code == 0 and verified["Plain"]["within"] is True
    assert [name.rsplit(".", 1)[0] if name.count(".") > 1 else name for name in made.asked] == ["2.10"]
    assert made.extra == ["typeguard<3"] and made.run == [("python of 2.10", "Plain", "optimizer_v2")]


def test_the_next_one_is_made_only_if_the_first_can_not_run_the_class(made, path, capsys):
    run(capsys, path, "--class", "Plain", "--tf", "2.10,2.4")
    assert len(made.asked) == 1
    made.broken, made.asked = ("python of 2.10",), []
    code, verified, _ = run(capsys, path, "--class", "Plain", "--tf", "2.10,2.4")
    assert code == 0 and len(made.asked) == 2 and verified["Plain"]["within"] is True


def test_without_a_release_the_style_decides(made, path, capsys):
    run(capsys, path)
    assert [style for _, _, style in made.run] == ["optimizer_v2", "keras"]
    assert [interpreter for interpreter, _, _ in made.run] == ["python of 2.10", "python of 2.15"]


def test_one_that_can_not_be_had_is_named_and_the_next_is_tried(made, path, capsys):
    made.missing = ("2.10",)
    code, verified, err = run(capsys, path, "--class", "Plain", "--tf", "2.10,2.4")
    assert code == 0 and "2.10: no Python" in err and verified["Plain"]["within"] is True
    made.missing = ("2.10", "2.4")
    code, verified, _ = run(capsys, path, "--class", "Plain", "--tf", "2.10,2.4")
    assert code == 0 and verified["Plain"] == {"error": "no environment"}


def test_a_difference_is_an_exit_code(made, path, capsys):
    made.difference = 1e-3
    code, verified, _ = run(capsys, path, "--class", "Plain", "--tf", "2.10")
    assert code == 1 and verified["Plain"]["within"] is False


def test_an_unknown_release(made, path, capsys):
    assert main(["migrate", path, "--verify", "--tf", "1.15"]) == 2
    assert not made.run and "1.15" in capsys.readouterr().err


def test_python_is_taken_instead(made, path, capsys):
    run(capsys, path, "--class", "Plain", "--python", "my python")
    assert made.run == [("my python", "Plain", "optimizer_v2")] and not made.asked


def test_several_classes_share_a_process_and_only_those_that_failed_are_tried_again(made, monkeypatch):
    def worker(interpreter, jobs, paths):
        found = made.worker(interpreter, jobs, paths)
        return [{"error": "no"} if interpreter == "one" and job["class"] == "B" else done for job, done in zip(jobs, found)]

    monkeypatch.setattr(verify, "run_worker", worker)
    styles = {"A": "optimizer_v2", "B": "keras", "G": "get_updates"}
    jobs = [verify.job_of("old.py", name, style, "", []) for name, style in styles.items()]
    found = verify.verify_all(jobs, ["one", "two", "three"])
    assert all(result["within"] for result in found)
    assert [(interpreter, name) for interpreter, name, _ in made.run] == [("one", "A"), ("one", "B"), ("one", "G"), ("two", "B")]
