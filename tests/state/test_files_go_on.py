"""Training goes on in this TensorFlow from files of the others, native and compiled, as if it had never stopped."""

import os
import sys

import numpy as np
import pytest
from actors import actors

from compat_opt.state import read_file, write
from compat_opt.testing.compare import assert_close

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "state_files"))
from test_files_read import ASKED, needs_h5py, refusal  # noqa: E402
from written import cases  # noqa: E402

CONTINUED = [case for case in cases() if case.after and refusal(case) is None]
#: A file of each generation, and of TensorFlow 2.10, whose Keras 2 optimizers are their own kind.
ONE_OF_EACH = [("tf2.0", "tf.keras"), ("tf2.10", "tf.keras.experimental"), ("tf2.15", "tf.keras"), ("tf2.21", "keras")]
SOME = [case for case in CONTINUED if (case.cell, case.namespace) in ONE_OF_EACH and case.format == "checkpoint"]
CORE = [case for case in SOME if case.name == "Adam"]
LONG = [c for c in SOME if c not in CORE and c.cell != "tf2.15" and (c.cell == "tf2.21" or not c.compiled)]
#: Optimizers that do not exist, or are broken, in this kind of class.
LACKING = {"use_ema": ("optimizer_v2",), "gradient_accumulation_steps": ("optimizer_v2", "keras2")}


def takes(actor, case):
    """Whether the actor's class has the case's options, and works."""
    if case.class_name == "ScheduleFreeAdamW":
        return by_changed_base(actor)
    if not actor.native:
        return True
    if case.class_name == "Nadam":  # OptimizerV2 decays its momentum otherwise
        newer = actor.target.generation != "optimizer_v2"
        return newer == (case.generation != "optimizer_v2" or case.compiled)
    broken = actor.target.namespace == "tf.keras.experimental" and case.class_name in ("RMSprop", "AdamW")
    return not broken and not any(actor.target.generation in LACKING.get(name, ()) for name in case.arguments)


def by_changed_base(actor):
    """Whether it is Keras 3.15's ScheduleFreeAdamW where that reads base after having changed it."""
    return actor.native and actor.target.backend in ("tensorflow", "torch")


def arguments_of(case, actor):
    arguments = dict(case.arguments)
    if "schedule" in case.name:
        if actor.target.namespace.startswith("tf.keras"):
            import tensorflow as tf

            keras = tf.keras
        else:
            keras = __import__(actor.target.namespace.split(".")[0])
        arguments["learning_rate"] = keras.optimizers.schedules.ExponentialDecay(0.05, 2, 0.5)
    return arguments


def tolerance(case, actor):
    """Native classes have 1 - beta ** t in float32, compiled ones in float64 but on JAX: 6e-5 of a step apart."""
    on_jax = not actor.native and actor.target.backend == "jax"
    return 1e-6 if actor.native != case.compiled and not on_jax else 1e-5


def check(case):
    if needs_h5py(case):
        pytest.importorskip("h5py")
    went = 0
    for actor in actors(case.algorithm):
        if not takes(actor, case):
            continue
        record = read_file(case.path, **ASKED.get(case.name, {}))
        variables = actor.variables(case.weights, [path for path, _ in case.variables])
        arguments = arguments_of(case, actor)
        if not actor.native and "epsilon_outside" in record.hypers:
            arguments["epsilon_outside"] = record.hypers["epsilon_outside"]
        optimizer = actor.make(**arguments)
        report = write(optimizer, record, variables)
        dropped = [line for line in report.of_kind("dropped") if "follows from the step" not in line.detail]
        assert not dropped or record.loss_scale, str(report)
        for step, row in enumerate(case.gradients()):
            values = actor.run(optimizer, variables, [row])
            for number, (value, wanted) in enumerate(zip(values, case.after[step])):
                what = "%s from %r, step %d, variable %d" % (actor, case, step + 1, number)
                assert_close(np.asarray(value), wanted, tolerance(case, actor), what, smallest=1.0)
        went += 1
    if not went:
        pytest.skip("no class %s here" % case.class_name)


@pytest.mark.parametrize("case", CORE, ids=repr)
def test_adam_goes_on(case):
    check(case)


def test_another_formula_is_told_and_the_state_goes_on_by_it():
    """The paper's z and y are the file's base and weights; its x follows from both."""
    case = next(c for c in CONTINUED if c.class_name == "ScheduleFreeAdamW" and c.format == "checkpoint")
    rate, beta_1, beta_2, record = case.arguments["learning_rate"], 0.9, 0.999, read_file(case.path)
    state = [record.slots[path] for path, _ in case.variables]
    z, v = ([np.float64(slots[name]) for slots in state] for name in ("base", "velocity"))
    x = [(weight - (1 - beta_1) * base) / beta_1 for weight, base in zip(case.weights, z)]
    for step, row in enumerate(case.gradients(), case.iterations + 1):
        for i, gradient in enumerate(row):
            v[i] = beta_2 * v[i] + (1 - beta_2) * np.float64(gradient) ** 2
            z[i] = z[i] - rate * gradient / (np.sqrt(v[i] / (1 - beta_2**step)) + 1e-8)
            x[i] = x[i] + (z[i] - x[i]) / step
    expected = [(1 - beta_1) * base + beta_1 * average for base, average in zip(z, x)]
    found = actors("ScheduleFreeAdamW")
    for actor in found:
        variables = actor.variables(case.weights, [path for path, _ in case.variables])
        optimizer = actor.make(**case.arguments)
        told = [line.what for line in write(optimizer, record, variables).of_kind("differs")]
        assert told == ([] if by_changed_base(actor) else ["formula"])
        if not by_changed_base(actor):
            for value, wanted in zip(actor.run(optimizer, variables, case.gradients()), expected):
                assert_close(np.asarray(value), wanted, 1e-5, str(actor), smallest=1.0)
    if not found:
        pytest.skip("no optimizers here")


@pytest.mark.long
@pytest.mark.parametrize("case", LONG, ids=repr)
def test_goes_on(case):
    check(case)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", [case for case in CONTINUED if case not in CORE + LONG], ids=repr)
def test_every_file_goes_on(case):
    check(case)
