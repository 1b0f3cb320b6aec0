"""compat-opt check: tables, exit codes and errors, on a target of this environment."""

import json
import os
import subprocess
import sys

import pytest

import compat_opt
from compat_opt import cli

GOOD = """
import compat_opt as co


class Good(co.UpdateRule):
    learning_rate = co.Hyper(0.1)

    def update(self, grad, var, slots, hyper, ops):
        return var - hyper.learning_rate * grad, {}


class _Base(co.UpdateRule):
    pass
"""

IMPURE = """
import compat_opt as co

CALLS = []


class Impure(co.UpdateRule):
    learning_rate = co.Hyper(0.1)

    def update(self, grad, var, slots, hyper, ops):
        CALLS.append(1)
        return var - hyper.learning_rate * len(CALLS) * grad, {}
"""

HALF_STATE = """
import compat_opt as co


class HalfState(co.UpdateRule):
    learning_rate = co.Hyper(0.1)
    mean = co.Slot(dtype="float16")

    def update(self, grad, var, slots, hyper, ops):
        mean = 0.9 * slots.mean + 0.1 * grad
        return var - hyper.learning_rate * mean, {"mean": mean}
"""

needs_target = pytest.mark.skipif(
    not compat_opt.targets(), reason="no framework is installed here, so there is no target to check on"
)


@pytest.fixture
def write(tmp_path):
    def write(text, name="rules.py"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture(autouse=True)
def as_before():
    """The command turns warnings off in its process, and adds the file's folder to the path."""
    path, environ = list(sys.path), dict(os.environ)
    yield
    sys.path[:] = path
    os.environ.clear()
    os.environ.update(environ)


def first_target():
    return compat_opt.targets()[0].key


@needs_target
def test_a_good_rule(write, tmp_path, capsys):
    out = str(tmp_path / "out.json")
    arguments = ["check", write(GOOD), "--target", first_target(), "--law", "dense", "--law", "complex_variables"]
    assert cli.main(arguments + ["--json", out]) == 0
    text = capsys.readouterr().out
    table = [line.split() for line in text.splitlines()]
    assert ["dense", "ok"] in table
    assert 'Good does not declare capabilities = ("complex",)' in text or "has no complex variables" in text
    with open(out) as stream:
        document = json.load(stream)
    assert document["exit_code"] == 0
    assert [result["rule"] for result in document["results"]] == ["Good"]
    column = document["results"][0]["targets"][0]
    assert column["target"] == first_target()
    assert [cell["status"] for cell in column["laws"]] == ["ok", "not applicable"]
    pytest.importorskip("sklearn", reason="scikit-learn is not installed: no digits to train on")
    assert column["digits"]["accuracy"] > 0.8
    assert column["digits"]["loss"] < column["digits"]["loss_before"]


@needs_target
def test_digits_without_scikit_learn(write, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert cli.main(["check", write(GOOD), "--target", first_target(), "--law", "pure"]) == 0
    assert "scikit-learn is not installed: pip install scikit-learn" in capsys.readouterr().out


@needs_target
def test_a_broken_law_is_named(write, capsys):
    arguments = ["--target", first_target(), "--law", "pure", "--no-digits"]
    assert cli.main(["check", write(IMPURE)] + arguments) == 1
    text = capsys.readouterr().out
    assert "BROKEN: law pure, rule Impure, target %s" % first_target() in text
    assert "largest error:" in text and "the law:" in text and "detail:" in text
    assert "laws: 0 ok, 1 broken, 0 not applicable" in text


@needs_target
@pytest.mark.long
def test_state_in_half_precision_breaks_a_law(write, capsys):
    arguments = ["--target", first_target(), "--law", "dense", "--no-digits"]
    assert cli.main(["check", write(HALF_STATE)] + arguments) == 1
    text = capsys.readouterr().out
    assert "step: " in text and "distance moved by variable" in text


@needs_target
@pytest.mark.long
def test_one_rule_of_a_file(write, capsys):
    path = write(GOOD + IMPURE)
    assert cli.main(["check", path + ":Good", "--target", first_target(), "--law", "pure", "--no-digits"]) == 0
    assert "Impure" not in capsys.readouterr().out


@needs_target
@pytest.mark.long
def test_as_a_command(write):
    path = write(GOOD)
    done = subprocess.run(
        [sys.executable, "-m", "compat_opt", "check", path, "--target", first_target(), "--law", "dense", "--no-digits"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert "1 ok, 0 broken" in done.stdout.decode()
    assert done.stderr.decode() == ""


@pytest.mark.parametrize(
    "text, message",
    [
        ("class Broken(:\n", "can't be imported. Received: SyntaxError: "),
        ("import no_such_module_anywhere\n", "No module named 'no_such_module_anywhere' (line 1)"),
        ("import compat_opt as co\nx = 1\n", "defines no rule. Expected: a class Name(compat_opt.UpdateRule)"),
        ("import compat_opt as co\nclass A(co.UpdateRule):\n    pass\n", "A has no update()."),
    ],
)
def test_a_file_that_has_no_rule_to_give(write, capsys, text, message):
    assert cli.main(["check", write(text)]) == 2
    assert message in capsys.readouterr().err


def test_a_missing_file(capsys):
    assert cli.main(["check", "no_such_file.py"]) == 2
    assert "There is no file no_such_file.py. Expected: the path of a Python file." in capsys.readouterr().err


def test_a_missing_rule(write, capsys):
    assert cli.main(["check", write(GOOD) + ":God"]) == 2
    assert "has no rule 'God'. Expected: one of " in capsys.readouterr().err


def test_unknown_names_and_no_target(write, capsys):
    assert cli.main(["check", write(GOOD), "--target", "keras9"]) == 2
    assert "This environment has no target 'keras9'." in capsys.readouterr().err
    code = cli.main(["check", write(GOOD), "--law", "dens"])
    error = capsys.readouterr().err
    assert code == 2
    if compat_opt.targets():
        assert "There is no law 'dens'." in error and "Did you mean 'dense'?" in error
    else:
        assert "There is no default optimizer API in this environment" in error


def test_help_documents_the_exit_codes(capsys):
    for command in cli.commands():
        with pytest.raises(SystemExit) as stop:
            cli.main([command, "--help"])
        assert stop.value.code == 0
        assert "Exit codes: " in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    text = capsys.readouterr().out
    assert all(command in text for command in cli.commands())
