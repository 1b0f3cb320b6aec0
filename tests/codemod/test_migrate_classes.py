"""Classes of every style become rules that compute what the old class computes, by an oracle of its own."""

import inspect
import pathlib
import re

import numpy as np
import oracles
import pytest

from compat_opt import run_reference
from compat_opt.codemod.migrate import migrate_class, optimizer_classes
from compat_opt.codemod.module import Module
from compat_opt.testing.compare import assert_close

HERE = pathlib.Path(__file__).parent
MODULES = {name: Module((HERE / name).read_text()) for name in ("sources_optimizer_v2.py", "sources_keras.py", "sources_get_updates.py")}
CLASSES = {name: file for file, module in MODULES.items() for name in optimizer_classes(module)}
REFUSED = Module((HERE / "sources_refused.py").read_text())

#: What the report says, where that is more than "converted".
NOTES = {
    "Warmup": ["warmup_steps steers Python code"],
    "FusedAdagrad": ["epsilon: 0 stays 0"],
    "Decayed": ["weight_decay is called decay_in_update"],
    "ClippedAdam": ["exclude is not used", "exclude_from_weight_decay(var_names=[...])"],
    "LazyMomentum": ['sparse="lazy"'],
    "AtItsDefaults": [
        "arguments rates, total, warm, start are not used",
        "self.warm is False here, as with the defaults of rates, total, warm", "self.rates is {} here",
        "the update also sets self.last_rate",
    ],
    "ThreeAdam": ["repeated rows of a sparse gradient one by one"],
    "ConditionalSlots": ["repeated rows of a sparse gradient one by one"],
    "HalfSparse": ["rows that the gradient does not have are updated in part"],
}

#: Why each is refused; the line is that of the words in the source.
REASONS = {
    "KeepsPythonState": ("self.calls is set nowhere", "self.calls + 1"),
    "CountsInPython": ("the Python attribute self.calls", "self.calls = self.calls + 1"),
    "AddsInPython": ("the Python attribute self.calls", "self.calls += 1"),
    "SettledAndRead": ("what the constructor makes of total for self.warm is not understood", "class SettledAndRead"),
    "MovesItsStart": ("changes the variable that start gives a first value", "assign_add"),
    "Wrapped": ("does not hand on", "class Wrapped"),
    "ChangesGradients": ("tf.sign()", "tf.sign(g)"),
    "CallsUnknown": ("magic comes from a module that is not known", "magic(grad)"),
    "UsesRandom": ("normal is not in the table", "tf.random.normal"),
    "ReadsAfterUpdate": ("the order in which they run is open", "0.1 * m"),
    "OtherShape": ("a shape of its own", "shape=[var.shape[0]]"),
    "LooksAtNames": ("membership", '"bias" in var.name'),
    "DoesNothing": ("never assigned", "class DoesNothing"),
    "Loops": ("For statement", "for _ in range(3)"),
    "Divides": ("a Group with rule= gives", "optimizer.apply_gradients(pairs)"),
    "CollectsNames": ("membership", "var.name in self.names"),
    "WithoutUpdate": ("no _resource_apply_dense", "class WithoutUpdate"),
    "Delegates": ("", "class Delegates"),
}


def rule_of(name):
    result = migrate_class(MODULES[CLASSES[name]], name)
    assert result.text is not None, result.reason
    names = {}
    exec("from compat_opt import Hyper, Shared, Slot, UpdateRule, checks\n" + result.text, names)
    return names[name], result


def oracle_of(name):
    return getattr(oracles, re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower())


def configurations(name):
    """The defaults, each flag turned over, and each zero set to a number, by the oracle's arguments."""
    parameters = list(inspect.signature(oracle_of(name)).parameters.values())[2:]
    defaults = {p.name: p.default for p in parameters}
    yield defaults
    for parameter, default in defaults.items():
        if isinstance(default, bool):
            yield dict(defaults, **{parameter: not default})
            yield dict(defaults, **dict({p: 0.3 for p, d in defaults.items() if d == 0 and type(d) is float}, **{parameter: True}))
        elif default == 0:
            yield dict(defaults, **{parameter: 3 if isinstance(default, int) else 0.3})
        elif default == "sign":
            yield dict(defaults, **{parameter: "tanh"})


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_the_rule_computes_what_the_class_computes(name):
    rule, _ = rule_of(name)
    rng = np.random.RandomState(3)
    for shape in ((3, 2), (4,)):
        var, grads = rng.normal(size=shape), rng.normal(size=(6,) + shape)
        for settings in configurations(name):
            expected = list(oracle_of(name)(var, list(grads), **settings))
            found = run_reference(rule, [var], [[g] for g in grads], **settings)
            assert_close([step[0] for step in found], expected, 1e-6 if rule.shared() else 1e-10, what="%s %r" % (name, settings))


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_what_is_reported(name):
    _, result = rule_of(name)
    expected = NOTES.get(name, [])
    assert result.outcome == ("notes" if expected else "converted"), result.reason
    assert len(result.notes) == len(expected), result.reason
    for words in expected:
        assert words in result.reason


def test_defaults_are_those_of_the_old_constructor():
    rule, _ = rule_of("AdamLike")
    assert {n: h.default for n, h in rule.hypers().items()} == {
        "learning_rate": 0.001, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-7, "amsgrad": False, "weight_decay": None,
    }  # fmt: skip
    assert rule.hypers()["amsgrad"].static and not rule.hypers()["beta_1"].static


def test_slots_exist_where_they_did():
    rule, _ = rule_of("AdamLike")
    assert list(rule().slots_for((2,))) == ["m", "v"]
    assert list(rule(amsgrad=True).slots_for((2,))) == ["m", "v", "vhat"]
    rule, _ = rule_of("Momentum")
    assert list(rule().slots_for((2,))) == [] and list(rule(momentum=0.5).slots_for((2,))) == ["velocity"]


def test_checks_of_the_constructor_are_kept():
    from compat_opt.errors import HyperError

    with pytest.raises(HyperError):
        rule_of("Momentum")[0](momentum=1.5)
    with pytest.raises(HyperError):
        rule_of("FusedAdagrad")[0](initial_accumulator_value=-1.0)


def test_comments_and_docstrings_survive():
    text = rule_of("AdamLike")[1].text
    assert '"""Moments, with coefficients of the step."""' in text
    assert "# the first moment" in text


def test_step_scalars_are_prepared_once():
    text = rule_of("AdamLike")[1].text
    prepare, update = text[text.index("def prepare") : text.index("def update")], text[text.index("def update") :]
    assert "ops.sqrt(1 - " in prepare and "hyper.step" not in update


@pytest.mark.parametrize("name", sorted(REASONS))
def test_refused_with_reason_and_line(name):
    result = migrate_class(REFUSED, name)
    reason, words = REASONS[name]
    assert result.outcome == "refused" and result.text is None
    assert reason in result.reason
    assert words in REFUSED.lines[result.line - 1], "line %d: %s" % (result.line, REFUSED.lines[result.line - 1])


def test_every_refused_source_is_tested():
    assert set(REASONS) == set(optimizer_classes(REFUSED))


def test_a_build_that_does_not_ask_whether_it_has_run():
    text = MODULES["sources_keras.py"].text.replace('if hasattr(self, "_built") and self._built:', "if False:").replace("_built", "_made")
    result = migrate_class(Module(text), "ListMomentum")
    assert result.outcome == "notes" and "lost its slots at each step" in result.reason


def test_a_method_defined_twice_counts_as_python_counts_it():
    text = '''
import tensorflow as tf
class Twice(tf.keras.optimizers.Optimizer):
    def _resource_apply_dense(self, grad, var):
        return var.assign_sub(grad)
    def _resource_apply_dense(self, grad, var):
        return var.assign_sub(3.0 * grad)
'''
    assert "3.0 * grad" in migrate_class(Module(text), "Twice").text


def test_a_value_that_a_slot_still_needs_is_not_overwritten():
    text = '''
import tensorflow as tf
class Corrected(tf.keras.optimizers.Optimizer):
    def __init__(self, correct=True, name="C", **kwargs):
        super().__init__(name, **kwargs)
        self.correct = correct
    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "m")
    def _resource_apply_dense(self, grad, var):
        m = self.get_slot(var, "m")
        m_t = m.assign(m + grad)
        if self.correct:
            m_t = m_t / 2.0
        return var.assign_sub(m_t)
'''
    names = {}
    exec("from compat_opt import Hyper, Slot, UpdateRule\n" + migrate_class(Module(text), "Corrected").text, names)
    grads = [[np.array([1.0])], [np.array([1.0])]]
    found = run_reference(names["Corrected"], [np.array([0.0])], grads)
    assert_close([step[0] for step in found], [[-0.5], [-1.5]], 1e-15, what="Corrected")


def test_no_declaration_gets_a_name_that_rules_and_compiled_optimizers_have():
    from compat_opt.codemod.model import rule_name
    from compat_opt.spec import UpdateRule
    from compat_opt.spec.rule import RESERVED

    methods = {name for name in dir(UpdateRule) if not name.startswith("_")}
    for name in RESERVED | methods:
        assert rule_name(name) not in RESERVED | methods, name
    assert rule_name("beta_1") == "beta_1"


def test_the_old_constructors_names_are_kept_for_the_comparison():
    names = {row["new"]: row["old"] for row in migrate_class(MODULES["sources_optimizer_v2.py"], "Decayed").hypers}
    assert names["decay_in_update"] == "weight_decay"
    names = {row["new"]: row["old"] for row in migrate_class(MODULES["sources_get_updates.py"], "OldAdam").hypers}
    assert names["learning_rate"] == "lr" and names["beta_1"] == "beta_1"
