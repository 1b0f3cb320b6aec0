"""What the analysis says of rules: elementwise or not, neutral to a zero gradient or not."""

import numpy as np
import pytest

from compat_opt import Hyper, Slot, UpdateRule, rules
from compat_opt.adapters.analysis import trace_update, zero_gradient_is_neutral
from compat_opt.adapters.update import Lowering, Setting, update_all
from compat_opt.adapters.options import Options
from compat_opt.adapters.step import Item
from compat_opt.ops import Ops
from compat_opt.ops.numpy_executor import NumpyExecutor


def traced(rule, shape=(4, 3)):
    return trace_update(rule, {name: "float32" for name in rule.slots_for(shape)}, "float32")


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Nadam", "Lion"])
def test_textbook_rules_are_elementwise(name):
    program = traced(getattr(rules, name)())
    assert program.elementwise and program.why == ""


@pytest.mark.parametrize("name, word", [("LAMB", "reduce"), ("Muon", "shape")])
def test_rules_that_look_at_the_whole_variable_are_not(name, word):
    program = traced(getattr(rules, name)())
    assert not program.elementwise
    assert word in program.why


def test_a_rule_that_asks_for_the_shape_is_not_elementwise():
    class BySize(UpdateRule):
        learning_rate = Hyper(0.1)

        def update(self, grad, var, slots, hyper, ops):
            return var - hyper.learning_rate * grad / var.size, {}

    assert not traced(BySize()).elementwise


ELEMENTWISE = [n for n in rules.names() if traced(getattr(rules, n)(), (6,)).elementwise]


def test_most_rules_are_elementwise():
    assert len(ELEMENTWISE) > len(rules.names()) / 2


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_rules_act_on_each_element_by_itself(name):
    """The finding is checked against what it means: permuting the elements permutes the result."""
    rule = getattr(rules, name)()
    slot_names = list(rule.slots_for((6,)))
    random = np.random.RandomState(0)
    order = random.permutation(6)
    value, gradient = random.normal(size=6), random.normal(size=6)
    slots = {n: random.uniform(0.5, 1.0, size=6) for n in slot_names}
    scalars = {n: getattr(rule, n) for n, h in rule.hypers().items() if not h.static}
    shared = {n: s.init for n, s in rule.shared().items()}

    def run(pick):
        item = Item("v", 0, value[pick], gradient[pick], {n: s[pick] for n, s in slots.items()})
        given = {n: (np.float64(v) if v is not None else None) for n, v in scalars.items()}
        outcome = update_all(
            [Setting(rule, given, shared)], Options(), Ops(NumpyExecutor(), "float64"), [item], 3, Lowering()
        )
        return outcome.variables[0], outcome.slots[0]

    whole, whole_slots = run(np.arange(6))
    permuted, permuted_slots = run(order)
    if rule.overrides("measure"):
        np.testing.assert_allclose(permuted, whole[order], rtol=1e-12)
        return
    np.testing.assert_array_equal(permuted, whole[order])
    for slot, array in whole_slots.items():
        np.testing.assert_array_equal(permuted_slots[slot], array[order])


@pytest.mark.parametrize(
    "name, hypers, neutral",
    [
        ("SGD", {}, True),
        ("SGD", {"momentum": 0.9}, False),
        ("Adagrad", {}, True),
        ("Adam", {}, False),
        ("RMSprop", {}, False),
        ("Lion", {}, False),
    ],
)
def test_zero_gradients(name, hypers, neutral):
    rule = getattr(rules, name)(**hypers)
    assert zero_gradient_is_neutral(rule, tuple(rule.slots_for((4, 3)))) is neutral


def test_a_rule_that_drifts_by_a_hyperparameter_is_not_neutral():
    """Also when its default is 0: it may be set while training."""

    class Drift(UpdateRule):
        learning_rate = Hyper(0.1)
        drift = Hyper(0.0)
        total = Slot()

        def update(self, grad, var, slots, hyper, ops):
            return var - hyper.learning_rate * grad - hyper.drift, {"total": slots.total + grad}

    assert not zero_gradient_is_neutral(Drift(), ("total",))
