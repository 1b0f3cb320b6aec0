"""Mixins, wrappers and classes over a base that is an argument become rules that call the update beneath them."""

import pathlib

import numpy as np
import pytest

from compat_opt import rules, run_reference
from compat_opt.codemod.migrate import migrate_class, optimizer_classes
from compat_opt.codemod.module import Module
from compat_opt.codemod.rewrite import migrate_text
from compat_opt.testing.compare import assert_close

HERE = pathlib.Path(__file__).parent
TEXT = (HERE / "sources_over_another.py").read_text()
MODULE = Module(TEXT)
REFUSED = Module((HERE / "sources_not_over_another.py").read_text())
BASES = {"Doubled": "base", "Clipped": "base_class", "Signed": "base_class"}


def over(name, base):
    """The migrated class over a rule."""
    result = migrate_class(MODULE, name)
    assert result.text is not None, result.reason
    names = {BASES.get(name): base}
    exec("from compat_opt import Hyper, Slot, UpdateRule\n" + result.text, names)
    return names[name] if name in BASES else type(name, (names[name], base), {})


def momentum(var, grads, change=lambda g, v: (g, v), after=lambda t, v: v):
    """SGD with momentum, with something done to gradient and variable before, and to the variable after."""
    speed = np.zeros_like(var)
    for t, g in enumerate(grads, 1):
        g, var = change(g, var)
        speed = 0.5 * speed - 0.25 * g
        var = after(t, var + speed)
        yield var


def expected(name, var, grads):
    if name == "Shrinking":
        return momentum(var, grads, lambda g, v: (g, v - 0.125 * v))
    if name == "Clipped":
        return momentum(var, grads, lambda g, v: (np.clip(g, -0.5, 0.5), v - 0.125 * v))
    if name == "Doubled":
        return momentum(var, grads, lambda g, v: (2 * g, v), lambda t, v: v - 0.25 * 0.125 * v)
    if name == "Signed":
        return momentum(var, grads, lambda g, v: (np.sign(g), v))
    anchor = [var]

    def pulled(t, v):
        if t % 2 == 0:
            anchor[0] = v = anchor[0] + 0.5 * (v - anchor[0])
        return v

    return momentum(var, grads, after=pulled)


SETTINGS = {"Shrinking": {"part": 0.125}, "Clipped": {"part": 0.125}, "Doubled": {"rate": 0.125}, "Signed": {}, "Anchored": {}}


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_over_sgd_with_momentum(name):
    rule = over(name, rules.SGD)
    rng = np.random.RandomState(4)
    var, grads = rng.normal(size=(3, 2)), rng.normal(size=(5, 3, 2))
    found = run_reference(rule, [var], [[g] for g in grads], learning_rate=0.25, momentum=0.5, **SETTINGS[name])
    assert_close([step[0] for step in found], list(expected(name, var, list(grads))), 1e-12, what=name)


def test_what_is_beneath_keeps_its_own_hyperparameters_and_slots():
    rule = over("Anchored", rules.Adam)
    assert {"beta_1", "period", "pull", "learning_rate"} <= set(rule.hypers())
    assert rule.hypers()["learning_rate"].default == rules.Adam.hypers()["learning_rate"].default
    assert set(rule().slots_for((2,))) == set(rules.Adam().slots_for((2,))) | {"anchor"}


def test_one_over_the_other():
    both = over("Shrinking", over("Anchored", rules.SGD))
    names = list(run_reference(both, [np.ones(2)], [[np.ones(2)]] * 4, learning_rate=0.25, part=0.5)[-1])
    var, anchor = np.ones(2), np.ones(2)
    for t in range(1, 5):
        var = 0.5 * var - 0.25
        if t % 2 == 0:
            anchor = var = anchor + 0.5 * (var - anchor)
    assert_close(names, [var], 1e-12, what="both")


#: What the notes say of each, beside how it is put over a rule.
NOTES = {
    "Shrinking": [],
    "Clipped": ["rows that the gradient has are updated by another formula"],
    "Doubled": ["sparse gradients passed it by"],
    "Signed": [],
    "Anchored": [],
}


@pytest.mark.parametrize("name", sorted(NOTES))
def test_what_is_reported(name):
    result = migrate_class(MODULE, name)
    assert result.outcome == "notes" and len(result.notes) == 1 + len(NOTES[name]), result.reason
    for words in NOTES[name] + ["compile_rule" if name in BASES else "class %sAdam(%s, Adam)" % (name, name)]:
        assert words in result.reason


#: Why each is refused, and words of the line.
REASONS = {
    "OwnSteps": ("counts its own steps", "class OwnSteps"),
    "TwoInside": ("", "self.first._resource_apply_dense"),
    "Twice": ("called twice", "return super()"),
    "Sometimes": ("under a condition", "return super()"),
    "OtherRate": ("the coefficients of the update beneath", "class OtherRate"),
    "OtherMomentum": ("the coefficients of the update beneath", "class OtherMomentum"),
    "SetsBeneath": ("sets momentum of the one beneath", "momentum=0.5"),
    "OtherSlots": ("overrides get_slot", "def get_slot"),
    "Scaled": ("scale", "scale * grad"),
    "OtherOrder": ("does not hand on", "class OtherOrder"),
    "NotOver": ("does not hand on", "class NotOver"),
}


@pytest.mark.parametrize("name", sorted(REASONS))
def test_refused_with_reason_and_line(name):
    result = migrate_class(REFUSED, name)
    reason, words = REASONS[name]
    assert result.outcome == "refused" and reason in result.reason, result.reason
    assert words in REFUSED.lines[result.line - 1], "line %d: %s" % (result.line, REFUSED.lines[result.line - 1])


def test_every_source_is_tested():
    assert set(SETTINGS) == set(optimizer_classes(MODULE)) and set(REASONS) == set(optimizer_classes(REFUSED))


def test_classes_of_the_same_name_in_several_functions():
    one = "def a(base):\n    class New(base):\n        def _resource_apply_dense(self, grad, var):\n"
    one += "            return super()._resource_apply_dense(2.0 * grad, var)\n    return New\n"
    text = one + one.replace("def a", "def b").replace("2.0", "3.0")
    migration = migrate_text(text)
    assert [result.name for result in migration.classes] == ["New", "b.New"]
    assert migration.text.count("class New(base):") == 2
    assert "super().update(2.0 * grad, var" in migration.text and "super().update(3.0 * grad, var" in migration.text


def test_a_whole_file():
    migration = migrate_text(TEXT)
    assert "\n    class Doubled(base):\n" in migration.text and "\n    return Doubled\n" in migration.text
    note = "        # NOTE: Anchored is a rule over another now: this has to make its optimizer by compile_rule\n"
    assert note + "        return Anchored(inner, period=3)\n" in migration.text
    line = next(n for n, line in enumerate(MODULE.lines, 1) if "return Anchored(" in line)
    anchored = next(result for result in migration.classes if result.name == "Anchored")
    assert line in [number for number, _ in anchored.notes]
    again = migrate_text(migration.text)
    assert again.text == migration.text and not again.classes
