"""Whole files: what is left alone, what changes, and that a second run changes nothing."""

import ast
import json
import pathlib

import pytest

from compat_opt.cli import main
from compat_opt.codemod.rewrite import migrate_text

HERE = pathlib.Path(__file__).parent

NOTHING_TO_DO = {
    "empty": "",
    "no newline at the end": "x = 1",
    "only a comment": "# only a comment",
    "no optimizer": "class Layer:\n    def call(self, x):\n        return x  # kept\n",
    "a rule": "from compat_opt import Hyper, UpdateRule\n\n\nclass R(UpdateRule):\n    lr2 = Hyper(0.1)\n\n"
    "    def update(self, grad, var, slots, hyper, ops):\n        return var - hyper.lr2 * grad, {}\n",
    "windows lines": "import os\r\n\r\nprint(os.name)\r\n",
    "an optimizer that is called": "import tensorflow as tf\nopt = tf.keras.optimizers.Adam(learning_rate=0.1)\n",
    "a schedule": "import tensorflow as tf\n\n\nclass WarmUp(tf.keras.optimizers.schedules.LearningRateSchedule):\n"
    "    def __call__(self, step):\n        return 0.1 / (step + 1)\n",
    "lr of something else": "schedule = Schedule(lr=0.1)\nprint(trainer.lr)\n",
}


@pytest.mark.parametrize("text", list(NOTHING_TO_DO.values()), ids=list(NOTHING_TO_DO))
def test_left_alone(text):
    migration = migrate_text(text)
    assert migration.text == text and not migration.fixes and not migration.classes


@pytest.mark.parametrize("file", ["optimizer_v2", "keras", "get_updates", "refused"])
def test_a_second_run_changes_nothing(file):
    text = (HERE / ("sources_%s.py" % file)).read_text()
    once = migrate_text(text).text
    ast.parse(once)
    again = migrate_text(once)
    assert again.text == once
    assert [result.name for result in again.classes if result.outcome != "refused"] == []


def test_refused_classes_are_left_as_they_are():
    text = (HERE / "sources_refused.py").read_text()
    assert migrate_text(text).text == text


def test_imports_follow():
    once = migrate_text((HERE / "sources_get_updates.py").read_text()).text
    assert once == once.replace("from keras", "")
    assert "from compat_opt import Hyper, Shared, Slot, UpdateRule\n" in once


def test_code_between_classes_is_kept():
    text = (HERE / "sources_optimizer_v2.py").read_text()
    assert '    """How long the step may be."""\n    long = tf.norm(weights)\n' in migrate_text(text).text


def test_where_the_file_makes_an_optimizer_it_makes_the_compiled_one():
    text = (
        "from tensorflow import keras\n\n\nclass Plain(keras.optimizers.Optimizer):\n"
        "    def _resource_apply_dense(self, grad, var):\n        return var.assign_sub(0.1 * grad)\n\n\n"
        "def make():\n    return Plain(clipnorm=1.0)  # not Slot or Hyper\n"
    )
    once = migrate_text(text).text
    assert "from compat_opt import UpdateRule, compile_rule\n" in once
    assert "\n\n\nPlainOptimizer = compile_rule(Plain)\n" in once
    assert "    return PlainOptimizer(clipnorm=1.0)  # not Slot or Hyper\n" in once
    assert "keras" not in once and migrate_text(once).text == once


def test_a_base_of_a_class_that_stays_stays_too():
    text = (HERE / "sources_optimizer_v2.py").read_text()
    migration = migrate_text(text, "LazyMomentum")
    assert migration.text == text
    assert "derives from it, and is not migrated" in migration.classes[0].reason


def test_one_class_only():
    text = (HERE / "sources_keras.py").read_text()
    migration = migrate_text(text, "ThreeAdam")
    assert [result.name for result in migration.classes] == ["ThreeAdam"]
    assert "class ListMomentum(tf.keras.optimizers.Optimizer):" in migration.text


def run(capsys, *arguments):
    code = main(["migrate"] + [str(a) for a in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_check_and_write(tmp_path, capsys):
    path = tmp_path / "old.py"
    before = (HERE / "sources_keras.py").read_text()
    path.write_text(before)
    assert run(capsys, path, "--check")[0] == 1
    assert path.read_text() == before
    code, diff, _ = run(capsys, path, "--diff")
    assert code == 1 and "-class ThreeAdam(keras.optimizers.Optimizer):" in diff
    assert run(capsys, path, "--write")[0] == 0
    assert "class ThreeAdam(UpdateRule):" in path.read_text()
    code, _, err = run(capsys, path, "--check")
    assert code == 0 and "nothing to do" in err


def test_json(capsys):
    code, out, _ = run(capsys, HERE / "sources_refused.py", "--json")
    rows = json.loads(out)["classes"]
    assert code == 1 and {row["outcome"] for row in rows} == {"refused"}
    assert all(set(row) == {"name", "outcome", "line", "reason", "verified"} for row in rows)


def test_without_options_the_source_is_printed(tmp_path, capsys):
    code, out, _ = run(capsys, HERE / "sources_keras.py")
    ast.parse(out)
    assert code == 0 and "class ThreeAdam(UpdateRule):" in out


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["missing.py"], "can't be read"),
        ([str(HERE / "sources_keras.py"), "--class", "ThreeAdma"], "Did you mean 'ThreeAdam'?"),
        ([str(HERE / "sources_keras.py"), "--target", "keras3"], "compat-opt export"),
        (["-", "--write"], "can't be written"),
    ],
)
def test_could_not_run(capsys, arguments, words):
    code, _, err = run(capsys, *arguments)
    assert code == 2 and words in err


def test_no_python(tmp_path, capsys):
    path = tmp_path / "broken.py"
    path.write_text("class A(:\n")
    code, _, err = run(capsys, path)
    assert code == 2 and "is no Python" in err


USED = '''import functools
import tensorflow as tf


class Plain(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.1, unused=1, weight_decay=0.0, name="Plain", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self.weight_decay = weight_decay

    def _resource_apply_dense(self, grad, var):
        return var.assign_sub(self._get_hyper("learning_rate") * (grad + self.weight_decay * var))


KNOWN = {"Plain": Plain}
half = functools.partial(Plain, 0.5)


def make(which, *more):
    print(f"{Plain.__name__} {Plain(unused=3)}")
    if which:
        a = 1; return Plain(0.1, 1, 0.5)
    assert isinstance(which, Plain)
    return Plain(lr=0.1, weight_decay=1e-4) or Plain(unused=2) or Plain(*more)
'''


def test_where_the_file_speaks_of_the_class_it_means_the_compiled_one():
    once = migrate_text(USED).text
    assert 'KNOWN = {"Plain": PlainOptimizer}\nhalf = functools.partial(PlainOptimizer, 0.5)\n' in once
    assert "    assert isinstance(which, PlainOptimizer)\n" in once
    assert migrate_text(once).text == once


def test_arguments_of_calls_are_renamed_or_noted():
    migration = migrate_text(USED)
    assert "return PlainOptimizer(lr=0.1, decay_in_update=1e-4) or" in migration.text
    assert "        # NOTE: the rule's arguments have another order\n        a = 1; return PlainOptimizer(0.1, 1, 0.5)\n" in migration.text
    notes = dict((text, line) for line, text in migration.classes[0].notes)
    assert notes["the rule has no unused"] == notes["see whether the arguments are those of the rule"] == 24
    assert notes["the rule's arguments have another order"] == 22


@pytest.mark.parametrize(
    "written",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("    ", "\t"),
        lambda text: text.replace("class Plain", "\x0c\nclass Plain").replace("KNOWN", 'LINES = "a\u2028b"\x0c\nKNOWN'),
        lambda text: text.rstrip("\n"),
        lambda text: "# caf\u00e9: \u65e5\u672c\n" + text.replace("KNOWN = {", 'KNOWN = {"\u65e5\u672c": Plain, '),
    ],
    ids=["CRLF", "byte order mark", "tabs", "form feed", "no last newline", "not ASCII"],
)
def test_a_file_keeps_its_form(written):
    old = written(USED)
    new = migrate_text(old).text
    assert new.count("\r\n") == (new.count("\n") if "\r\n" in old else 0)
    assert new.startswith("\ufeff") == old.startswith("\ufeff") and new.endswith("\n") == old.endswith("\n")
    assert ("\t" if "\t" in old else "    ") + "return PlainOptimizer(lr=0.1, decay_in_update=1e-4) or" in new
    assert migrate_text(new).text == new


def test_an_import_that_only_the_argument_of_a_rule_is_called_like_goes():
    text = (
        "import keras\nfrom keras import ops\n\n\nclass Plain(keras.optimizers.Optimizer):\n"
        "    def update_step(self, gradient, variable, learning_rate):\n"
        "        self.assign_sub(variable, ops.multiply(learning_rate, gradient))\n"
    )
    assert migrate_text(text).text.startswith("from compat_opt import Hyper, UpdateRule\n")
