"""What a user can name."""

import pytest

from compat_opt.errors import CommandError
from compat_opt.testing.matrix import subjects
from compat_opt.testing.matrix.subjects import Subject
from matrix_fakes import RULE_FILE


def test_a_file_with_one_rule(rule_subject):
    assert (rule_subject.kind, rule_subject.name, rule_subject.is_rule) == ("file", "Plain", True)
    assert rule_subject.has_targets and rule_subject.source


def test_a_rule_by_name_and_a_shipped_one(tmp_path):
    path = tmp_path / "two.py"
    path.write_text(RULE_FILE + "\n\nclass Other(Plain):\n    pass\n")
    assert Subject(str(path) + ":Other").name == "Other"
    with pytest.raises(CommandError, match="several rules: Plain, Other"):
        Subject(str(path))
    assert Subject("compat_opt.rules:Lion").is_rule


def test_a_builtin_is_tried_on_every_target():
    subject = Subject("tf.keras.optimizers:Nadam", "learning_rate=0.1")
    assert (subject.kind, subject.is_rule, subject.has_targets) == ("builtin", False, True)
    assert subject.title == "Nadam(learning_rate=0.1)"


def test_a_class_that_needs_a_framework_that_is_not_here(tmp_path):
    (tmp_path / "own_package.py").write_text("import no_such_framework\n\n\nclass Own(no_such_framework.Base):\n    pass\n")
    subject = Subject("own_package:Own", paths=[str(tmp_path)])
    assert not subject.is_rule and not subject.has_targets and subject.source


@pytest.mark.parametrize("text", ["no_such_file.py", "justaword", "a.b:not-a-name", ""])
def test_what_is_nothing(text):
    with pytest.raises(CommandError):
        Subject(text)


@pytest.mark.parametrize("text", ["1", "x=open('f')", "**{}", "x=", "x=1; y"])
def test_arguments_are_names_and_plain_values(text):
    with pytest.raises(CommandError, match="arguments"):
        subjects.check_arguments(text)


def test_arguments():
    assert subjects.check_arguments("a=1e-3, b=True, c=None, d='x'") == {"a": 1e-3, "b": True, "c": None, "d": "x"}
