"""Rules of users: comments survive; what can't be exported is refused with the reason and the line."""

import importlib.util
import sys
import textwrap

import pytest

from compat_opt import rules, transforms
from compat_opt.cli import main
from compat_opt.errors import ExportError
from compat_opt.export import export_rule, generations

HEAD = """
import math
import os
from compat_opt import Hyper, Shared, Slot, UpdateRule

LIMIT = 10.0


def _bounded(x, ops):
    # Far steps help nobody.
    return ops.clip(x, -LIMIT, LIMIT)


"""
RULE = """
class Mine(UpdateRule):
    '''Mine: bounded steps.'''

    learning_rate = Hyper(0.5)
    beta = Hyper(0.9)
    flag = Hyper(False, static=True)
    mean = Slot()

    def update(self, grad, var, slots, hyper, ops):
        # The mean comes first.
        mean = hyper.beta * slots.mean + (1 - hyper.beta) * grad  # decays
        return var - hyper.learning_rate * _bounded(mean, ops), {"mean": mean}
"""


def load(tmp_path, text, name="Mine"):
    path = tmp_path / "mine.py"
    path.write_text(HEAD + textwrap.dedent(text))
    spec = importlib.util.spec_from_file_location("exported_rule_%s" % id(path), str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


@pytest.mark.parametrize("generation", ["keras2", "keras3", "optimizer_v2"])
def test_comments_functions_and_constants_survive(tmp_path, generation):
    source = export_rule(load(tmp_path, RULE), generation)
    assert "# The mean comes first." in source
    assert "# Far steps help nobody." in source
    assert "LIMIT = 10.0" in source
    assert "def _bounded(x):" in source
    if generation == "keras3":
        assert "        mean = self.beta * slots[\"mean\"] + (1 - self.beta) * grad  # decays" in source
        assert "return ops.clip(x, -LIMIT, LIMIT)" in source


def changed(old, new):
    text = textwrap.dedent(RULE).strip("\n")
    assert old in text
    return text.replace(old, new)


REFUSED = {
    "a module": (changed("_bounded(mean, ops)", "os.getpid() * mean"), "uses os, a module"),
    "a lambda": (changed("_bounded(mean, ops)", "(lambda x: x)(mean)"), "has a lambda"),
    "getattr": (changed("hyper.learning_rate", 'getattr(hyper, "learning_rate")'), "calls getattr"),
    "weight decay": (changed("hyper.learning_rate", "hyper.weight_decay"), "reads hyper.weight_decay"),
    "while": (changed("        return var", "        while self.flag:\n            mean = -mean\n        return var"), "While"),
    "a slot's dtype": (changed("mean = Slot()", 'mean = Slot(dtype="float64")'), "has the dtype float64"),
    "a slot's first value": (changed("mean = Slot()", "mean = Slot(init=lambda shape, dtype: 0)"), "what a function returns"),
    "a second return of prepare": (
        changed(
            "    def update",
            "    def prepare(self, shared, hyper, ops):\n        if self.flag:\n            return {}\n"
            '        return {"x": hyper.step}\n\n    def update',
        ),
        "does not end with one return",
    ),
    "a name of the hooks": (
        changed("        return var", "        dtype = 2.0\n        return dtype * var"),
        "a variable dtype, a name that the exported method needs",
    ),
    "a scalar named as a hyper": (
        changed(
            "    def update",
            '    def prepare(self, shared, hyper, ops):\n        return {"beta": hyper.step}\n\n    def update',
        ),
        "which is a hyperparameter, too",
    ),
}


@pytest.mark.parametrize("label", sorted(REFUSED))
def test_refused_with_the_reason(tmp_path, label):
    text, reason = REFUSED[label]
    rule = load(tmp_path, text)
    for generation in generations():
        with pytest.raises(ExportError, match=reason):
            export_rule(rule, generation)


def test_the_line_is_that_of_the_file(tmp_path):
    text, _ = REFUSED["a module"]
    rule = load(tmp_path, text)
    lines = (tmp_path / "mine.py").read_text().splitlines()
    number = [k for k, line in enumerate(lines, 1) if "os.getpid()" in line][0]
    with pytest.raises(ExportError, match="mine.py, line %d" % number):
        export_rule(rule, "keras3")


def test_operations_that_a_namespace_lacks_are_refused(tmp_path):
    rule = load(tmp_path, changed("_bounded(mean, ops)", "ops.tril(mean)"))
    assert "ops.tril(mean)" in export_rule(rule, "keras3")
    with pytest.raises(ExportError, match="ops.tril has no counterpart in TensorFlow"):
        export_rule(rule, "keras2")


def test_helpers_do_not_override_methods_of_the_base_class(tmp_path):
    text = changed("_bounded(mean, ops)", "self._clip_gradients(mean, ops)")
    text += "\n    def _clip_gradients(self, x, ops):\n        return ops.clip(x, -1.0, 1.0)\n"
    source = export_rule(load(tmp_path, text), "keras3")
    assert "_clip_gradients_of_rule(mean)" in source and "def _clip_gradients_of_rule(" in source
    assert "def _clip_gradients(" not in source


def test_transformed_rules_are_refused():
    with pytest.raises(ExportError, match="made at run time"):
        export_rule(transforms.lookahead(rules.SGD), "keras3")


def test_the_command_writes_a_file(tmp_path, capsys):
    output = tmp_path / "lion.py"
    assert main(["export", "Lion", "--target", "keras3", "-o", str(output)]) == 0
    assert output.read_text() == export_rule(rules.Lion, "keras3")
    assert main(["export", "Adam", "--target", "keras2", "--set", "amsgrad=true", "beta_1=0.5"]) == 0
    assert capsys.readouterr().out == export_rule(rules.Adam, "keras2", {"amsgrad": True, "beta_1": 0.5})


def test_the_command_takes_a_users_file(tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text(HEAD + textwrap.dedent(RULE))
    assert main(["export", str(path), "--target", "keras3"]) == 0
    assert "class Mine(keras.optimizers.Optimizer):" in capsys.readouterr().out
    path.write_text(HEAD + REFUSED["a module"][0])
    assert main(["export", "%s:Mine" % path, "--target", "keras3"]) == 1
    assert "mine.py, line" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["Lyon", "--target", "keras3"], "Did you mean 'Lion'"),
        (["Lion", "--target", "keras3", "--set", "beta_3=1"], "beta_"),
        (["Lion", "--target", "keras3", "--set", "beta_1=high"], "is a float"),
        (["no_such_file.py", "--target", "keras3"], "There is no file"),
        (["Lion", "--target", "keras3", "-o", "no_such_folder/lion.py"], "can't be written"),
    ],
)
def test_what_the_command_refuses(arguments, message, capsys):
    assert main(["export"] + arguments) == 2
    assert message in capsys.readouterr().err
