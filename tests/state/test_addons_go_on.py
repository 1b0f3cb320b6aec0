"""Training goes on here from checkpoints of TensorFlow Addons and keras-adamw, as if it had never stopped."""

import os
import sys

import pytest
from actors import Actor, gradients, optimizers_of

import compat_opt as co
from compat_opt.adapters import compile_rule
from compat_opt.errors import StateError
from compat_opt.state import read, write
from compat_opt.testing.compare import assert_close

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "state_files"))
from addons import addons_cases  # noqa: E402
from test_files_addons import read as read_case  # noqa: E402

CORE = [case for case in addons_cases() if case.version == "0.19.0"]
OTHERS = [case for case in addons_cases() if case.version != "0.19.0"]
#: These have 1 - beta ** t in float32, compiled rules in float64: 6e-5 of a step apart.
ROUNDED = ("AdaBelief", "NadamW", "RectifiedAdam", "Lookahead_RectifiedAdam")


def check(case):
    tolerance = 1e-5 if case.name in ROUNDED else 1e-6
    for target in co.targets():
        actor, record = Actor(target, "Adam", False), read_case(case)
        arguments = {name: value for name, value in record.hypers.items() if name != "decay"}
        optimizer = compile_rule(case.rule, target)(**arguments)
        variables = actor.variables(case.weights, case.paths)
        report = write(optimizer, record, variables)
        assert not report.of_kind("dropped") and not report.of_kind("defaulted"), str(report)
        for step, row in enumerate(case.gradients()):
            for value, wanted in zip(actor.run(optimizer, variables, [row]), case.after[step]):
                assert_close(value, wanted, tolerance, "%s from %r, step %d" % (target, case, step + 1), smallest=1.0)
        slots = list(read(optimizer, variables).slots.values())
        for (number, slot), wanted in case.last.items():
            wanted = wanted / -0.05 if (case.name, slot) == ("NovoGrad", "momentum") else wanted  # a step there
            assert_close(slots[number][slot], wanted, 1e-5, "%s, %s" % (target, slot), smallest=1.0)


@pytest.mark.parametrize("case", CORE, ids=repr)
def test_goes_on_from_addons(case):
    check(case)


@pytest.mark.long
@pytest.mark.parametrize("case", OTHERS, ids=repr)
def test_goes_on_from_other_addons(case):
    check(case)


def test_wrappers_of_addons_are_read_and_written_live():
    addons = pytest.importorskip("tensorflow_addons", reason="no tensorflow_addons, whose wrappers these are")
    actor = Actor([t for t in co.targets() if t.generation == "optimizer_v2"][0], "Adam", False)
    own = optimizers_of(actor.target)
    made = {
        "LookaheadNadam": lambda: addons.optimizers.Lookahead(own.Nadam(0.05), sync_period=3),
        "MovingAverageAdam": lambda: addons.optimizers.MovingAverage(own.Adam(0.05), start_step=1, dynamic_decay=True),
        "ConditionalGradient": lambda: addons.optimizers.ConditionalGradient(0.9, 0.5),
        "SwaSGD": lambda: addons.optimizers.SWA(own.SGD(0.05, momentum=0.9), 1, 2),
    }
    for algorithm, make in made.items():
        first, variables = make(), actor.variables()
        values = actor.run(first, variables, gradients()[:4])
        record = read(first)
        assert (record.algorithm, record.iterations) == (algorithm, 4)
        other, copies = make(), actor.variables(values)
        report = write(other, record, copies)
        assert {line.kind for line in report.lines} <= {"moved", "renamed"}, str(report)
        for wanted, value in zip(*(actor.run(o, v, gradients()[4:]) for o, v in ((first, variables), (other, copies)))):
            assert_close(value, wanted, 0, algorithm)
        assert read(other, copies) == read(first, variables)
        changed = read(first, variables)
        changed.hypers["learning_rate"] = 0.25
        write(other, changed, copies)
        assert abs(float(other.learning_rate) - 0.25) < 1e-6
    dense = actor.variables()[0]
    several = addons.optimizers.MultiOptimizer(
        optimizer_specs=[{"optimizer": own.Adam(0.05), "weights": [dense.name]}]
    )
    with pytest.raises(StateError, match="several optimizers"):
        read(several)
    with pytest.raises(StateError, match="counts no steps"):
        read(addons.optimizers.MovingAverage(addons.optimizers.Lookahead(own.Adam(0.05))))
