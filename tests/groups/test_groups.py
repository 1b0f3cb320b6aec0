"""Groups against their meaning: each is an optimizer of its own, here a NumPy reference run of its own."""

import copy
import json

import numpy as np
import pytest

import compat_opt as co
from compat_opt import rules
from compat_opt.adapters.reference import run_reference
from compat_opt.errors import ArgumentError, HyperError, UnsupportedError
from compat_opt.testing.compare import assert_close
from on_target import regression

NAMES = ["kernel", "bias", "head", "other_bias", "embedding"]
SHAPES = [(4, 3), (3,), (3, 2), (2,), (5, 2)]


def problem(steps=4, seed=0):
    """(first values, gradients over steps)."""
    random = np.random.RandomState(seed)
    rows = [[random.normal(size=shape) for shape in SHAPES] for _ in range(steps)]
    return [random.normal(size=shape) for shape in SHAPES], rows


def make_variables(on, values):
    return [on.variable(value, name=name) for value, name in zip(values, NAMES)]


def run(on, optimizer, variables, rows, compiled=False):
    step = on.harness.step(optimizer, variables, compiled)
    for row in rows:
        step([on.gradient(gradient) for gradient in row])


def assert_separate(on, variables, values, rows, runs, tolerance=2e-5):
    """`runs`: (rule, names, hypers) for each reference run."""
    seen = []
    for rule, names, hypers in runs:
        places = [NAMES.index(name) for name in names]
        picked = [[row[place] for place in places] for row in rows]
        expected = run_reference(rule, [values[place] for place in places], picked, **hypers)[-1]
        for place, wanted in zip(places, expected):
            assert_close(on.value(variables[place]), wanted, tolerance, NAMES[place])
        seen += names
    assert sorted(seen) == sorted(NAMES)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_each_group_is_as_an_optimizer_of_its_own(on, compiled):
    """Own hypers, another rule, kept scalars (Nadam's product) and sums (D-Adaptation's) of the group's own."""
    values, rows = problem()
    variables = make_variables(on, values)
    optimizer = on.optimizer(
        rules.Nadam,
        0.01,
        weight_decay=0.1,
        groups=[
            co.Group("bias$", weight_decay=0.0, beta_1=0.8, learning_rate_multiplier=2.0),
            co.Group("^head", name="head", rule=rules.DAdaptAdam),
        ],
    )
    run(on, optimizer, variables, rows, compiled and "graph" in on.harness.offers)
    common = {"learning_rate": 0.01, "weight_decay": 0.1}
    runs = [
        (rules.Nadam, ["kernel", "embedding"], common),
        (rules.Nadam, ["bias", "other_bias"], {"learning_rate": 0.02, "weight_decay": 0.0, "beta_1": 0.8}),
        (rules.DAdaptAdam, ["head"], {}),
    ]
    assert_separate(on, variables, values, rows, runs)


def test_clipping_and_accumulation_stay_common(on):
    values, rows = problem(steps=4)
    variables = make_variables(on, values)
    optimizer = on.optimizer(
        rules.SGD, 0.1, momentum=0.9, global_clipnorm=0.5, gradient_accumulation_steps=2,
        groups=[co.Group("bias", learning_rate=0.3)],
    )  # fmt: skip
    run(on, optimizer, variables, rows)
    means = [[(a + b) / 2 for a, b in zip(*rows[start : start + 2])] for start in (0, 2)]
    clipped = []
    for row in means:
        norm = np.sqrt(sum(np.sum(gradient**2) for gradient in row))
        clipped.append([gradient * 0.5 / max(norm, 0.5) for gradient in row])
    runs = [
        (rules.SGD, ["kernel", "head", "embedding"], {"learning_rate": 0.1, "momentum": 0.9}),
        (rules.SGD, ["bias", "other_bias"], {"learning_rate": 0.3, "momentum": 0.9}),
    ]
    assert_separate(on, variables, values, clipped, runs)


def test_schedules_and_exclusions_per_group(on):
    values, rows = problem(steps=3)
    variables = make_variables(on, values)
    optimizer = on.optimizer(
        rules.SGD,
        0.1,
        weight_decay=on.harness.schedule([0.5, 0.25, 0.125]),
        groups=[
            co.Group("bias", learning_rate=on.harness.schedule([0.4, 0.2, 0.1])),
            co.Group("embedding", learning_rate_multiplier=on.harness.schedule([1.0, 0.5, 0.25])),
        ],
    )
    optimizer.exclude_from_weight_decay(var_names=["other"])
    run(on, optimizer, variables, rows)
    decays = lambda step: [0.5, 0.25, 0.125][step]  # noqa: E731
    rates = lambda step: [0.4, 0.2, 0.1][step]  # noqa: E731
    falling = lambda step: [0.1, 0.05, 0.025][step]  # noqa: E731
    runs = [
        (rules.SGD, ["kernel", "head"], {"learning_rate": 0.1, "weight_decay": decays}),
        (rules.SGD, ["bias"], {"learning_rate": rates, "weight_decay": decays}),
        (rules.SGD, ["other_bias"], {"learning_rate": rates}),
        (rules.SGD, ["embedding"], {"learning_rate": falling, "weight_decay": decays}),
    ]
    assert_separate(on, variables, values, rows, runs)


def test_a_group_is_set_live_and_follows_what_it_does_not_set(on):
    bias, kernel = on.variable([0.0], name="bias"), on.variable([0.0], name="kernel")
    optimizer = on.optimizer(rules.SGD, 1.0, groups=[co.Group("bias", weight_decay=0.0, learning_rate_multiplier=0.5)])
    step = on.harness.step(optimizer, [bias, kernel], "graph" in on.harness.offers)
    step([on.gradient([1.0]), on.gradient([1.0])])
    optimizer.learning_rate = 4.0
    optimizer.groups["bias"].learning_rate_multiplier = 0.25
    step([on.gradient([1.0]), on.gradient([1.0])])
    on.assert_value(bias, [-0.5 - 1.0])
    on.assert_value(kernel, [-1.0 - 4.0])
    optimizer.groups["bias"].weight_decay = 0.5
    step([on.gradient([0.0]), on.gradient([0.0])])
    on.assert_value(bias, [-1.5 + 1.5 * 0.5 * 1.0])
    on.assert_value(kernel, [-5.0])
    assert [on.value(v).tolist() for v in optimizer.groups["bias"].variables] == [on.value(bias).tolist()]
    assert "(group 'bias')" in optimizer.explain() and optimizer.explain().count("group") == 1
    with pytest.raises(KeyError, match="No group 'bais'.*Did you mean 'bias'"):
        optimizer.groups["bais"]
    with pytest.raises(UnsupportedError, match="without a momentum of its own"):
        optimizer.groups["bias"].momentum = 0.5


def test_large_variables_are_lowered_with_their_own_settings(on):
    """Above the limit of joining: fused kernels and XLA."""
    random = np.random.RandomState(0)
    values = [random.normal(size=(300, 300)) for _ in range(2)]
    rows = [[random.normal(size=(300, 300)) for _ in range(2)] for _ in range(2)]
    for rule in (rules.Adam, rules.AdaBelief):
        variables = [on.variable(v, name=n) for v, n in zip(values, ("kernel", "head"))]
        groups = [co.Group("head", weight_decay=0.0, beta_1=0.5)]
        optimizer = on.optimizer(rule, 0.01, weight_decay=None, groups=groups)
        run(on, optimizer, variables, rows)
        for place, hypers in enumerate([{}, {"beta_1": 0.5}]):
            picked = [[row[place]] for row in rows]
            expected = run_reference(rule, [values[place]], picked, learning_rate=0.01, **hypers)[-1][0]
            assert_close(on.value(variables[place]), expected, 1e-4, "%s %d" % (rule.__name__, place), smallest=0.01)


# What is refused, before anything changed


def test_no_match_and_two_claims_are_refused_before_anything_changed(on):
    bias, kernel = on.variable([1.0], name="bias"), on.variable([2.0], name="kernel")
    pairs = [(on.gradient([1.0]), bias), (on.gradient([1.0]), kernel)]
    nothing = on.optimizer(rules.SGD, groups=[co.Group(["bias", "gama"], learning_rate=0.5)])
    with pytest.raises(ArgumentError, match="chooses no variable by 'gama'.*Expected: one of bias, kernel"):
        nothing.apply_gradients(pairs)
    both = on.optimizer(rules.SGD, groups=[co.Group("b.*s"), co.Group(lambda v: tuple(v.shape) == (1,), name="ones")])
    with pytest.raises(ArgumentError, match="Two groups claim variable bias.*'b.\\*s' and 'ones'"):
        both.apply_gradients(pairs)
    for optimizer in (nothing, both):
        assert optimizer.get_slot_names() == [] and float(on.value(optimizer.iterations)) == 0
    on.assert_value(bias, [1.0])


def test_wrong_groups_are_refused(on):
    with pytest.raises(ArgumentError, match="Did you mean 'momentum'"):
        on.optimizer(rules.SGD, groups=[co.Group("bias", momentun=0.5)])
    with pytest.raises(ArgumentError, match="same name"):
        on.optimizer(rules.SGD, groups=[co.Group("bias"), co.Group("bias")])
    with pytest.raises(ArgumentError, match="list of groups"):
        on.optimizer(rules.SGD, groups=co.Group("bias"))
    with pytest.raises(ArgumentError, match="list of groups"):
        on.optimizer(rules.SGD, groups=["bias"])
    with pytest.raises(HyperError, match="group 'bias'.learning_rate_multiplier is out of range"):
        on.optimizer(rules.SGD, groups=[co.Group("bias", learning_rate_multiplier=-1.0)])
    with pytest.raises(ArgumentError, match="no regular expression"):
        co.Group("(")
    with pytest.raises(ArgumentError, match="list of groups.*among them"):
        on.optimizer(rules.SGD, groups=[{"select": "bias"}])
    for nothing in (3, None, [], ""):
        with pytest.raises(ArgumentError, match="can't select"):
            co.Group(nothing)
    with pytest.raises(ArgumentError, match="rule class"):
        co.Group("bias", rule=rules.SGD())


def test_a_group_of_late_variables_has_its_own_first_distance(on):
    """DoG's first distance is set at the group's first gradient, not only at the optimizer's first step."""
    optimizer = on.optimizer(rules.DoG, groups=[co.Group("late", initial_distance=0.5, optional=True)])
    early, late = on.variable([1.0], name="early"), on.variable([3.0], name="late")
    on.step(optimizer, ([1.0], early))
    on.step(optimizer, ([1.0], early), ([2.0], late))
    on.assert_value(late, [3.0 - 0.5 * (1 + 3.0) / 2.0 * 2.0])


def test_a_late_variable_finds_its_group(on):
    groups = [co.Group("head", learning_rate=0.5, optional=True)]
    optimizer, kernel = on.optimizer(rules.SGD, 0.1, groups=groups), on.variable([0.0], name="kernel")
    on.step(optimizer, ([1.0], kernel))
    head = on.variable([0.0], name="head")
    on.step(optimizer, ([1.0], kernel), ([1.0], head))
    on.assert_value(kernel, [-0.2])
    on.assert_value(head, [-0.5])


# Configs, copies, models


def grouped(on):
    groups = [
        co.Group("bias", weight_decay=0.0, nesterov=True),
        co.Group(lambda v: len(v.shape) == 2, name="matrices", rule=rules.Adam, beta_1=0.8),
    ]
    return on.optimizer(rules.SGD, 0.1, momentum=0.9, weight_decay=0.01, groups=groups)


def test_config_copies_and_weights(on):
    values, rows = problem(steps=4)
    optimizer, variables = grouped(on), make_variables(on, values)
    with pytest.raises(HyperError, match="selects by an object"):
        optimizer.get_config()
    run(on, optimizer, variables, rows[:2])
    optimizer.groups["matrices"].beta_2 = 0.99
    config = json.loads(json.dumps(optimizer.get_config()))
    assert config["groups"][0] == {
        "select": ["bias"], "name": "bias", "rule": None, "optional": False, "hypers": {"weight_decay": 0.0, "nesterov": True},
    }  # fmt: skip
    assert config["groups"][1]["select"] == [{"positions": [0, 2, 4]}]
    assert config["groups"][1]["hypers"]["beta_2"] == 0.99
    others = [copy.deepcopy(optimizer), type(optimizer).from_config(config)]
    others[1].set_weights(optimizer.get_weights())
    assert others[1].get_config() == config
    copies = [make_variables(on, [on.value(v) for v in variables]) for _ in others]
    run(on, optimizer, variables, rows[2:])
    for other, own in zip(others, copies):
        run(on, other, own, rows[2:])
        for number, (found, expected) in enumerate(zip(own, variables)):
            assert_close(on.value(found), on.value(expected), 1e-6, "variable %d" % number)


def test_no_trace_of_groups_without_them(on):
    optimizer = on.optimizer(rules.SGD, 0.1)
    assert "groups" not in optimizer.get_config() and optimizer.groups == {}
    assert len(optimizer.variables) == 1 + len([h for h in rules.SGD.hypers().values() if not h.static])


def test_fit_with_a_group_for_a_layer(on):
    """A frozen first layer by a multiplier of 0, and a head with its own rate."""
    layers, (x, y) = on.keras.layers, regression()
    given = on.keras.Input((2,))
    hidden, head = layers.Dense(3, name="hidden"), layers.Dense(1, name="head")
    model = on.keras.Model(given, head(hidden(given)))
    groups = [co.Group(hidden, learning_rate_multiplier=0.0), co.Group(head, learning_rate=0.1)]
    before = [np.array(w) for w in hidden.get_weights() + head.get_weights()]
    on.fit(on.compile(model, on.optimizer(rules.SGD, 0.01, groups=groups)), x, y)
    after = hidden.get_weights() + head.get_weights()
    for number in range(2):
        assert_close(after[number], before[number], 0.0, "hidden weight %d" % number)
    inner = x.astype("float64") @ before[0] + before[1]
    error = inner @ before[2] + before[3] - y
    assert_close(after[2], before[2] - 0.1 * 2 * inner.T @ error / len(x), 2e-5, "head", smallest=0.1)
    assert_close(after[3], before[3] - 0.1 * 2 * error.mean(axis=0), 2e-5, "head's bias", smallest=0.1)
