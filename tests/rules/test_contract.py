"""What holds for every shipped rule, whatever it computes."""

import ast
import inspect
import os

import numpy as np
import pytest

import compat_opt
from compat_opt import optimizers, rules
from compat_opt.adapters.options import Options
from compat_opt.adapters.reference import run_reference
from compat_opt.adapters.step import Item, plan_call
from compat_opt.adapters.update import Setting
from compat_opt.ops import Ops
from compat_opt.ops.numpy_executor import NumpyExecutor
from compat_opt.spec import UpdateRule
from compat_opt.testing.compare import assert_close
from docstring_form import parse
from oracle_comparison import PROBLEMS, SHAPES, load_oracle

FOLDER = os.path.dirname(rules.__file__)
NAMES = rules.names()


def cases(name):
    return load_oracle(name.lower()).CASES


def frozen(value):
    array = np.array(value)
    array.flags.writeable = False
    return array


def one_step(rule, variables, gradients, slots, shared, iterations):
    """Everything that one step returns, as a flat list of arrays."""
    items = [
        Item("v%d" % i, i, variables[i], gradients[i], slots[i], calls=0) for i in range(len(variables))
    ]
    scalars = {name: getattr(rule, name) for name, hyper in rule.hypers().items() if not hyper.static}
    _, on_due, _ = plan_call(
        [Setting(rule, scalars, shared)], Options(), lambda: Ops(NumpyExecutor()), items, iterations
    )
    outcome = on_due()
    found = [np.asarray(outcome.variables[i]) for i in range(len(variables))]
    for i in range(len(variables)):
        found += [np.asarray(value) for _, value in sorted(outcome.slots[i].items())]
    return found + [np.asarray(value) for _, value in sorted(outcome.shared.items())]


@pytest.mark.parametrize("name, position", [(n, p) for n in NAMES for p in range(len(cases(n)))])
def test_pure(name, position):
    """Twice the same frozen inputs: the same bits, and the inputs as they were."""
    case = {k: 0.1 if callable(value) else value for k, value in cases(name)[position].items()}
    rule = getattr(rules, name)(**case)
    variables, gradients = PROBLEMS["zeros among others"]()
    past = run_reference(rule, variables, gradients[:4])
    inputs = [frozen(value) for value in past[-1]]
    slots = [{key: frozen(value) for key, value in slots.items()} for slots in past.slots]
    shared = {key: frozen(value)[()] for key, value in past.shared.items()}
    row = [frozen(gradient) for gradient in gradients[4]]
    before = [value.tobytes() for value in inputs + row + [a for s in slots for _, a in sorted(s.items())]]
    first = one_step(rule, inputs, row, slots, shared, 4)
    second = one_step(rule, inputs, row, slots, shared, 4)
    after = [value.tobytes() for value in inputs + row + [a for s in slots for _, a in sorted(s.items())]]
    assert before == after
    assert [value.tobytes() for value in first] == [value.tobytes() for value in second]


@pytest.mark.parametrize("name", NAMES)
def test_slots_are_real_state(name):
    """A slot that no step changes, or that is missing for every shape, is not state."""
    changed = set()
    variables, gradients = PROBLEMS["ordinary"]()
    for case in cases(name):
        trajectory = run_reference(getattr(rules, name), variables, gradients, **case)
        start = run_reference(getattr(rules, name), variables, gradients[:0], **case)
        for slots, first in zip(trajectory.slots, start.slots):
            changed.update(key for key in slots if not np.array_equal(slots[key], first[key]))
    given = set(getattr(getattr(rules, name), "constant_slots", ()))
    assert changed | given == set(getattr(rules, name).slots())


@pytest.mark.parametrize("name", NAMES)
def test_docstring(name):
    rule = getattr(rules, name)
    form = parse(inspect.cleandoc(vars(rule)["__doc__"]))
    assert form.summary.startswith(name + ":")
    hypers = {key: hyper.default for key, hyper in rule.hypers().items()}
    if hypers["weight_decay"] is None:
        del hypers["weight_decay"]
    assert {key: default for key, (default, _) in form.arguments.items()} == hypers
    assert list(form.arguments) == list(hypers), "in the order of the declarations"
    state = list(rule.slots()) + list(rule.shared())
    assert list(form.slots) == (state or ["none"])
    for slot in state:
        assert slot in form.recurrence, "the recurrence names %s" % slot


@pytest.mark.parametrize("module", [name.lower() for name in NAMES])
def test_file_has_the_rule_and_nothing_else(module):
    """Imports: compat_opt.spec and other rules. Statements: one public class, private helpers."""
    with open(os.path.join(FOLDER, module + ".py"), encoding="utf-8") as stream:
        text = stream.read()
    tree = ast.parse(text)
    assert ast.get_docstring(tree)
    public = []
    for node in tree.body[1:]:
        if isinstance(node, ast.ImportFrom):
            assert node.module == "compat_opt.spec" or node.module.startswith("compat_opt.rules."), node.module
        elif isinstance(node, ast.ClassDef):
            public.append(node)
        elif isinstance(node, ast.FunctionDef):
            assert node.name.startswith("_")
        else:
            raise AssertionError("%s: a %s in a rule file" % (module, type(node).__name__))
    assert [node.name.lower() for node in public] == [module]
    for node in ast.walk(tree):
        assert not isinstance(node, (ast.Import, ast.Global, ast.Try)), type(node).__name__
        assert not (isinstance(node, ast.Attribute) and node.attr in ("version", "__version__"))
    assert max(map(len, text.splitlines())) <= 100


def test_registries_agree():
    files = sorted(f[:-3] for f in os.listdir(FOLDER) if f.endswith(".py") and not f.startswith("_"))
    records = rules.catalogue()
    assert [record.name.lower() for record in records] == files
    assert [record.name for record in records] == NAMES
    assert sorted(dir(optimizers)) == sorted(NAMES)
    for record in records:
        rule = getattr(compat_opt.rules, record.name)
        assert issubclass(rule, UpdateRule) and rule.__name__ == record.name
        assert record.module == rule.__module__ == "compat_opt.rules." + record.name.lower()
        assert record.summary and record.source and record.hypers and "learning_rate" in record.hypers
    for absent in ("ADAM", "NoSuchRule", "_rule"):
        with pytest.raises(AttributeError):
            getattr(rules, absent)


def test_capabilities_are_of_the_known_ones():
    known = {"complex", "random", "averaged", "shared", "global", "shapes"}
    for record in rules.catalogue():
        assert set(record.capabilities) <= known, record.name


def has(name, capability):
    return capability in getattr(getattr(rules, name), "capabilities", ())


@pytest.mark.parametrize(
    "name, position", [(n, p) for n in NAMES if has(n, "complex") for p in range(len(cases(n)))]
)
def test_complex_variables_keep_their_phase(name, position):
    """With gradients and variables on one ray of the plane, the trajectory is the real one, turned."""
    rule, case = getattr(rules, name), cases(name)[position]
    variables, gradients = PROBLEMS["ordinary"]()
    turn = np.exp(0.7j)
    real = run_reference(rule, variables, gradients, **case)
    turned = run_reference(
        rule, [turn * v for v in variables], [[turn * g for g in row] for row in gradients], **case
    )
    for step in (0, len(gradients) - 1):
        for index in range(len(SHAPES)):
            assert_close(
                turned[step][index], turn * real[step][index], 1e-9, "step %d, variable %d" % (step, index)
            )


@pytest.mark.parametrize("name", [name for name in NAMES if not has(name, "random")])
def test_default_hypers_train(name):
    """No oracle can tell a formula that is right but useless: a bowl's loss must not rise."""
    rule = getattr(rules, name)
    target = np.linspace(-1.0, 1.0, 6).reshape(2, 3)
    values = [np.zeros((2, 3))]
    state = None
    loss = [float(np.sum((values[0] - target) ** 2))]
    gradients = []
    for _ in range(12):
        gradients.append([values[0] - target])
        state = run_reference(rule, [np.zeros((2, 3))], gradients)
        values = state[-1]
        loss.append(float(np.sum((values[0] - target) ** 2)))
    assert loss[-1] < loss[0], "loss went from %r to %r" % (loss[0], loss[-1])
