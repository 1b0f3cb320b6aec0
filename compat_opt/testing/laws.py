"""The laws that every compiled rule keeps, on every target: one list, for us and for users.

A law is a function of a `Subject` that asserts. Its docstring is the explanation that reports
link to. ``run_law`` turns a failed assertion into a `LawBroken` that says where.
"""

import collections
import copy
import json
import pickle
import re

import numpy as np

from compat_opt.testing.compare import assert_close
from compat_opt.testing.subject import Subject  # noqa: F401, the other half of the kit

#: A law: its name, function, what the framework and the rule must offer, explanation.
Law = collections.namedtuple("Law", "name function needs explanation")

#: Every law by name, in the order of this file.
LAWS = collections.OrderedDict()


class LawBroken(AssertionError):
    """A compiled rule broke a law.

    Attributes:
        law, target, rule: names.
        step: number of the call (from 1) where it showed, or None.
        largest_error: largest relative error found, or None.
        detail: what differed, with values.
    """

    def __init__(self, law, target, rule, step, largest_error, detail):
        self.law = law
        self.target = target
        self.rule = rule
        self.step = step
        self.largest_error = largest_error
        self.detail = detail
        super().__init__(
            "%s breaks the law %s on %s%s: %s"
            % (rule, law, target, "" if step is None else " at step %d" % step, detail)
        )

    def __reduce__(self):
        return type(self), (
            self.law,
            self.target,
            self.rule,
            self.step,
            self.largest_error,
            self.detail,
        )


def law(*needs):
    """Add a function to `LAWS`; `needs`: names out of `compat_opt.testing.subject.NEEDS`."""

    def register(function):
        name = function.__name__
        LAWS[name] = Law(name, function, frozenset(needs), function.__doc__)
        return function

    return register


def applicable(subject):
    """The laws that apply to a subject; the others need what its framework or rule lacks."""
    return [law for law in LAWS.values() if subject.offers(law.needs)]


def run_law(law, subject):
    """Run one law.

    Args:
        law: a `Law` or its name.
        subject: a `Subject`.

    Raises:
        LawBroken: an assertion of the law failed, or the step raised.
    """
    law = LAWS[law] if isinstance(law, str) else law
    try:
        law.function(subject)
    except Exception as error:
        text = str(error) if isinstance(error, AssertionError) else "%s: %s" % (type(error).__name__, error)
        step = re.search(r"step (\d+)", text)
        largest = re.search(r"largest relative error ([-+.\w]+)", text)
        raise LawBroken(
            law.name,
            subject.target.key,
            subject.rule.__name__,
            int(step.group(1)) if step else None,
            float(largest.group(1).rstrip(",")) if largest else None,
            text,
        ) from error


@law()
def pure(subject):
    """update() is a pure function: the same inputs give the same bits, and inputs are not changed."""
    values, gradients = subject.problem()
    for array in values + [g for row in gradients for g in row]:
        array.setflags(write=False)
    first, second = (subject.reference(values, gradients) for _ in range(2))
    for row, other in zip(first, second):
        for value, again in zip(row, other):
            assert_close(again, value, 0, "second run")


@law()
def dense(subject):
    """Called eagerly with dense gradients, the trajectory is the NumPy reference's."""
    subject.check(*subject.problem())


@law("graph")
def dense_compiled(subject):
    """Inside a compiled train step, the trajectory is the NumPy reference's."""
    subject.check(*subject.problem(), compiled=True)


@law("sparse")
def sparse(subject):
    """Sparse gradients with repeated, unsorted rows act as the dense gradient that they sum to."""
    subject.check(*subject.problem(sparse=True), sparse=True)


@law("sparse")
def sparse_clipped(subject):
    """A sparse gradient is clipped as its dense equal would be: repeated rows are summed first."""
    values, gradients = subject.problem(sparse=True)
    subject.check(values, gradients, sparse=True, clipnorm=0.7)


@law("half")
def half_precision(subject):
    """float16 and bfloat16 variables are updated in float32, and differ by their own rounding only."""
    values, gradients = subject.problem()
    for dtype, epsilon in (("float16", 2.0 ** -11), ("bfloat16", 2.0 ** -8)):
        stored = [subject.harness.numpy(v).astype("float64") for v in subject.variables(values, dtype)]
        rounded = [
            [subject.harness.numpy(v).astype("float64") for v in subject.variables(row, dtype)]
            for row in gradients
        ]
        optimizer, variables = subject.optimizer(), subject.variables(values, dtype)
        actual = subject.run(optimizer, variables, rounded, dtype=dtype)
        expected = subject.reference(stored, rounded, dtype="float64")
        for name in optimizer.get_slot_names():
            slots = [optimizer.get_slot(v, name) for v in variables if _has_slot(optimizer, v, name)]
            for slot in slots:
                kind = str(getattr(slot.dtype, "name", slot.dtype))
                assert kind not in ("float16", "bfloat16"), "slot %s is stored in %s" % (name, kind)
        largest = [np.max(np.abs(value)) for value in stored]
        for step, (row, other) in enumerate(zip(actual, expected)):
            largest = [max(size, np.max(np.abs(value))) for size, value in zip(largest, other)]
            for i, (value, wanted) in enumerate(zip(row, other)):
                # Each step rounds the variable once; rules that read their variable carry it on.
                room = 8 * (step + 1) * epsilon * largest[i]
                error = np.max(np.abs(value - wanted))
                assert error <= room, "step %d, %s variable %d: error %.3g, largest that passes %.3g" % (
                    step + 1,
                    dtype,
                    i,
                    error,
                    room,
                )


def _has_slot(optimizer, variable, name):
    try:
        optimizer.get_slot(variable, name)
    except ValueError:
        return False
    return True


@law("complex")
def complex_variables(subject):
    """Complex variables follow the reference: squares are |g|^2, phases are kept."""
    values, gradients = subject.problem(complex_values=True)
    expected = subject.reference(values, gradients)
    actual = subject.run(
        subject.optimizer(), subject.variables(values, "complex128"), gradients, dtype="complex128"
    )
    subject.assert_same(actual, expected, expected.initial)


@law()
def config_round_trip(subject):
    """get_config is exact JSON, and from_config of it makes the same optimizer."""
    optimizer = subject.optimizer(use_ema=True, ema_momentum=0.9)
    config = json.loads(json.dumps(optimizer.get_config()))
    for name, value in subject.hypers.items():
        if isinstance(value, (bool, int, float, str)):
            assert config[name] == value, "config %s: %r, expected %r" % (name, config[name], value)
    again = subject.optimizer_class.from_config(config)
    assert again.get_config() == optimizer.get_config()
    values, gradients = subject.problem()
    expected = subject.reference(values, gradients, use_ema=True, ema_momentum=0.9)
    subject.assert_same(subject.run(again, subject.variables(values), gradients), expected, values)


@law()
def save_and_continue(subject):
    """set_weights(get_weights()) on a fresh optimizer, before its first step, goes on the same."""
    values, gradients = subject.problem()
    expected = subject.reference(values, gradients)
    optimizer, variables = subject.optimizer(), subject.variables(values)
    subject.run(optimizer, variables, gradients[:3])
    other = subject.optimizer()
    other.set_weights(optimizer.get_weights())
    actual = subject.run(other, variables, gradients[3:])
    subject.assert_same(actual, expected[3:], values)


@law()
def copies(subject):
    """deepcopy and pickle keep configuration and state."""
    values, gradients = subject.problem()
    expected = subject.reference(values, gradients)
    for copied in (copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))):
        optimizer, variables = subject.optimizer(), subject.variables(values)
        subject.run(optimizer, variables, gradients[:3])
        actual = subject.run(copied(optimizer), variables, gradients[3:])
        subject.assert_same(actual, expected[3:], values)


@law()
def accumulation(subject):
    """k calls with gradient_accumulation_steps=k are one step with the mean; iterations counts steps."""
    values, gradients = subject.problem()
    subject.check(values, gradients, gradient_accumulation_steps=3)
    means = [[np.mean([row[i] for row in gradients[s : s + 3]], axis=0) for i in range(4)] for s in (0, 3)]
    plain = subject.reference(values, means)
    grouped = subject.reference(values, gradients, gradient_accumulation_steps=3)
    subject.assert_same([grouped[2], grouped[5]], plain, values, tolerance=1e-9)


@law("graph")
def accumulation_compiled(subject):
    """Accumulation inside a compiled step, also of a variable without gradient in some calls, or in all."""
    values, gradients = subject.problem()
    for call in (0, 4, 5):
        gradients[call][1] = None
    subject.check(values, gradients, compiled=True, gradient_accumulation_steps=2)


@law()
def clipping(subject):
    """clipnorm, clipvalue and global_clipnorm act on the gradients before everything else."""
    values, gradients = subject.problem()
    for option in ({"clipnorm": 0.5}, {"clipvalue": 0.3}, {"global_clipnorm": 0.5}):
        subject.check(values, gradients, **option)


@law()
def weight_decay(subject):
    """var -= var * weight_decay * learning_rate before the update, except for excluded variables."""
    values, gradients = subject.problem()
    expected = subject.reference(
        values, gradients, weight_decay=0.2, exclude_from_weight_decay=(0, 2)
    )
    optimizer, variables = subject.optimizer(weight_decay=0.2), subject.variables(values)
    optimizer.exclude_from_weight_decay(var_list=[variables[0]], var_names=["layer_2"])
    subject.assert_same(subject.run(optimizer, variables, gradients), expected, values)


@law()
def moving_average(subject):
    """The average starts from the first value, overwrites when due, and is given by finalize."""
    values, gradients = subject.problem()
    options = dict(use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=3)
    optimizer, variables, expected = subject.check(values, gradients, **options)
    optimizer, variables, expected = subject.check(
        values, gradients[:2], **dict(options, ema_overwrite_frequency=None)
    )
    optimizer.finalize_variable_values(variables)
    actual = [[subject.harness.numpy(v) for v in variables]]
    subject.assert_same(actual, [[slots["average"] for slots in expected.slots]], values)


@law("learning_rate")
def schedule(subject):
    """A schedule sees step 0 first, then the number of finished updates."""
    values, gradients = subject.problem()
    rates = [0.02, 0.05, 0.01, 0.03, 0.04, 0.06]
    expected = subject.reference(values, gradients, learning_rate=lambda step: rates[step])
    optimizer = subject.optimizer(learning_rate=subject.harness.schedule(rates))
    actual = subject.run(optimizer, subject.variables(values), gradients)
    subject.assert_same(actual, expected, values, tolerance=max(subject.tolerance, 1e-5))


@law("graph", "learning_rate")
def live_change(subject):
    """A hyperparameter that is set acts at the next step of a train step compiled before."""
    values, gradients = subject.problem()
    expected = subject.reference(
        values, gradients, learning_rate=lambda step: 0.02 if step < 3 else 0.05
    )
    optimizer, variables = subject.optimizer(learning_rate=0.02), subject.variables(values)
    step = subject.harness.step(optimizer, variables, compiled=True)
    actual = []
    for number, row in enumerate(gradients):
        if number == 3:
            optimizer.learning_rate = 0.05
        step([subject.harness.gradient(g, subject.dtype) for g in row])
        actual.append([subject.harness.numpy(v) for v in variables])
    subject.assert_same(actual, expected, values)


@law("local")
def late_variable(subject):
    """A variable that appears later is taken in, and everybody keeps their state."""
    values, gradients = subject.problem()
    late = [[None if i == 1 and step < 2 else g for i, g in enumerate(row)] for step, row in enumerate(gradients)]
    expected = subject.reference(values, late)
    optimizer, variables = subject.optimizer(), subject.variables(values)
    first = [v for i, v in enumerate(variables) if i != 1]
    subject.run(optimizer, first, [[g for i, g in enumerate(row) if i != 1] for row in gradients[:2]])
    actual = subject.run(optimizer, variables, gradients[2:])
    subject.assert_same(actual, expected[2:], values)


@law()
def missing_gradient(subject):
    """A variable without gradient does not move, nor do its slots; without any it is an error."""
    values, gradients = subject.problem()
    gradients[2][0] = None
    gradients[3][3] = None
    subject.check(values, gradients)
    optimizer, variables = subject.optimizer(), subject.variables(values)
    try:
        optimizer.apply_gradients([(None, variable) for variable in variables])
    except ValueError as error:
        assert "No gradients provided" in str(error)
    else:
        raise AssertionError("no gradient at all was accepted")
