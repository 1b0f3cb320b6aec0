"""Going on after a move is never having stopped: between every two optimizers of one algorithm here."""

import numpy as np
import pytest
from actors import FIRST, actors, gradients

import compat_opt as co
from compat_opt import state
from compat_opt.testing.compare import assert_close

#: Algorithms that some generation ships, each with what makes all of its slots exist.
CASES = [
    ("Adam", dict(learning_rate=0.01)),
    ("Adam", dict(learning_rate=0.01, amsgrad=True)),
    ("SGD", dict(learning_rate=0.05)),
    ("SGD", dict(learning_rate=0.05, momentum=0.9, nesterov=True)),
    ("RMSprop", dict(learning_rate=0.01)),
    ("RMSprop", dict(learning_rate=0.01, momentum=0.8)),
    ("RMSprop", dict(learning_rate=0.01, momentum=0.8, centered=True)),
    ("Adagrad", dict(learning_rate=0.05, initial_accumulator_value=0.3)),
    ("Adadelta", dict(learning_rate=0.5)),
    ("Adamax", dict(learning_rate=0.01)),
    ("Nadam", dict(learning_rate=0.01)),
    ("Ftrl", dict(learning_rate=0.05, l1_regularization_strength=0.01)),
    ("AdamW", dict(learning_rate=0.01, weight_decay=0.1)),
    ("Adafactor", dict(learning_rate=0.05)),
    ("Lion", dict(learning_rate=0.01)),
    ("LAMB", dict(learning_rate=0.01)),
    ("Muon", dict(learning_rate=0.01)),
]
CORE = [CASES[0], CASES[6], CASES[10]]
ROWS = gradients()


def ident(case):
    return case[0] + "".join("-%s" % name for name in case[1] if name not in ("learning_rate",))


def is_broken(actor, hypers):
    """The centered RMSprop of TF 2.9 and 2.10 gives NaN, and the AdamW of 2.9 destroys the weights."""
    experimental = actor.native and actor.target.namespace == "tf.keras.experimental"
    return experimental and (hypers.get("centered") or actor.name == "AdamW")


def hypers_for(actor, name, hypers):
    """What both kinds of constructors take."""
    if name == "Muon" and actor.native:
        return dict(hypers, adam_weight_decay=0.004)
    return hypers


def check(name, hypers, goals_of):
    here = [actor for actor in actors(name) if not is_broken(actor, hypers)]
    assert here
    for number, source in enumerate(here):
        optimizer = source.make(**hypers_for(source, name, hypers))
        variables = source.variables()
        middle = source.run(optimizer, variables, ROWS[:5])
        record = state.read(optimizer)
        assert record.iterations == 5
        assert [v.shape for v in record.variables] in ([a.shape for a in FIRST.values()], [])
        expected = source.run(optimizer, variables, ROWS[5:])
        for goal in goals_of(here, number):
            other = goal.make(**fitting(goal, name, hypers, record))
            moved = goal.variables(middle)
            report = state.write(other, record, moved)
            assert not report.of_kind("dropped") and not report.of_kind("defaulted"), "%s to %s\n%s" % (source, goal, report)
            assert state.read(other, moved).iterations == 5
            if report.of_kind("differs"):
                continue  # the two classes have different formulas, and the report says so
            actual = goal.run(other, moved, ROWS[5:])
            for path, one, two in zip(FIRST, actual, expected):
                assert_close(one, two, 1e-6, "%s to %s, %s" % (source, goal, path), smallest=1.0)


def fitting(goal, name, hypers, record):
    """Constructor arguments; a compiled optimizer also gets what the source's formula stands for."""
    given = hypers_for(goal, name, hypers)
    if goal.native:
        return given
    static = getattr(co.rules, name).hypers()
    return dict(given, **{n: v for n, v in record.hypers.items() if n in static and static[n].static})


def others_in_turn(case):
    """For each optimizer one other; which one differs from case to case, so that the cases cover the pairs."""
    return lambda here, number: [here[(number + 1 + CASES.index(case) % max(1, len(here) - 1)) % len(here)]]


@pytest.mark.parametrize("case", CORE, ids=ident)
def test_going_on_after_a_move(case):
    check(*case, goals_of=others_in_turn(case))


@pytest.mark.long
@pytest.mark.parametrize("case", [c for c in CASES if c not in CORE], ids=ident)
def test_going_on_after_a_move_of_the_others(case):
    check(*case, goals_of=others_in_turn(case))


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CASES, ids=ident)
def test_going_on_after_every_move(case):
    check(*case, goals_of=lambda here, number: here)


@pytest.mark.parametrize("native", [False, True])
def test_the_record_is_what_the_recurrence_gives(native):
    """Adam's moments by hand."""
    for actor in actors("Adam"):
        if actor.native != native:
            continue
        optimizer, variables = actor.make(learning_rate=0.01), actor.variables()
        actor.run(optimizer, variables, ROWS[:4])
        record = state.read(optimizer, variables)
        for position, path in enumerate(record.slots):
            momentum, velocity = 0.0, 0.0
            for row in ROWS[:4]:
                momentum = 0.9 * momentum + 0.1 * row[position].astype("float64")
                velocity = 0.999 * velocity + 0.001 * row[position].astype("float64") ** 2
            assert_close(record.slots[path]["momentum"], momentum, 1e-5, path)
            assert_close(record.slots[path]["velocity"], velocity, 1e-4, path)
        assert np.allclose(record.hypers["learning_rate"], 0.01)


def test_the_record_and_the_optimizer_share_no_memory():
    for actor in actors("Adam"):
        optimizer, variables = actor.make(), actor.variables()
        actor.run(optimizer, variables, ROWS[:2])
        record = state.read(optimizer, variables)
        goal = actor.make()
        state.write(goal, record, variables)
        for slots in record.slots.values():
            for array in slots.values():
                array[...] = 9
        for slots in state.read(goal, variables).slots.values():
            assert not any(np.any(array == 9) for array in slots.values()), str(actor)
