"""Reports about state that was lost: by get_weights, a legacy checkpoint, a restore before the first step, None."""

import os
import sys
import warnings

import numpy as np
import pytest

from compat_opt.errors import GradientError
from compat_opt.rules import SGD, Adam
from compat_opt.state import read, read_file, write
from compat_opt.testing.compare import assert_close

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "state_files"))
from written import cases  # noqa: E402


def test_weights_taken_from_one_optimizer_continue_in_another(on):
    """get_weights and set_weights went with TF 2.11; libraries carried state by them."""
    a, first = on.variable([1.0, 2.0]), on.optimizer(Adam, 0.1)
    on.step(first, ([1.0, -3.0], a))
    b, second = on.variable(on.value(a)), on.optimizer(Adam, 0.1)
    second.build([b])
    second.set_weights(first.get_weights())
    for optimizer, variable in ((first, a), (second, b)):
        on.step(optimizer, ([-5.0, 0.1], variable))
    assert_close(on.value(b), on.value(a), 0)


def test_a_legacy_checkpoint_goes_into_the_new_optimizer(on):
    """It raised in TF 2.11, and was dropped without a word by Keras 3."""
    case = next(c for c in cases() if (c.cell, c.name, c.format) == ("tf2.0", "Adam", "checkpoint"))
    variables = [on.variable(w, name=path.replace("/", "_")) for w, (path, _) in zip(case.weights, case.variables)]
    optimizer = on.optimizer(Adam, 0.05)
    write(optimizer, read_file(case.path), variables, renames="order")
    assert int(on.value(optimizer.iterations)) == 3
    for (index, name), array in case.slots().items():
        assert_close(on.value(optimizer.get_slot(variables[index], name)), array, 0, name)


def test_a_restore_before_the_first_step_is_kept_for_it(on, tmp_path):
    if on.tf is None:
        pytest.skip("no tf.train.Checkpoint on the backend %s" % on.target.backend)
    w, optimizer = on.tf.Variable([1.0, 2.0]), on.optimizer(Adam, 0.1)
    for gradient in ([1.0, -3.0], [2.0, 0.5]):
        on.step(optimizer, (gradient, w))
    path = on.tf.train.Checkpoint(w=w, optimizer=optimizer).save(os.path.join(str(tmp_path), "c"))
    told = [d for d in read_file(path).diff(read(optimizer)) if not d.where.startswith("hypers")]
    assert not told, told  # a checkpoint has the hyperparameters that are variables
    other, fresh = on.tf.Variable([0.0, 0.0]), on.optimizer(Adam, 0.1)
    on.tf.train.Checkpoint(w=other, optimizer=fresh).restore(path)
    for variable, stepping in ((w, optimizer), (other, fresh)):
        on.step(stepping, ([-1.0, 4.0], variable))
    assert_close(on.value(other), on.value(w), 0)


def test_a_variable_without_gradient_keeps_its_state(on):
    a, b = on.variable([1.0], name="a"), on.variable([1.0], name="b")
    optimizer = on.optimizer(SGD, 0.5, momentum=0.9)
    on.step(optimizer, ([1.0], a), ([1.0], b))
    before = read(optimizer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        on.step(optimizer, (None, a), ([1.0], b))
    after = read(optimizer)
    path = before.variables[0].path
    assert_close(after.slots[path]["velocity"], before.slots[path]["velocity"], 0)
    assert [d.where for d in before.diff(after)] == ["iterations", "slots[%r]['velocity']" % before.variables[1].path]
    with pytest.raises(GradientError):
        on.step(optimizer, (None, a), (None, b))
    assert not after.diff(read(optimizer))


def test_minimize_leaves_the_state_of_a_step(on):
    if on.tf is None:
        pytest.skip("no loss in a GradientTape on the backend %s" % on.target.backend)
    w, optimizer = on.tf.Variable(1.0), on.optimizer(SGD, 0.25, momentum=0.5)
    optimizer.minimize(lambda: w * w, [w])
    on.assert_value(w, 0.5)
    record = read(optimizer)
    assert record.iterations == 1
    (slots,) = record.slots.values()
    assert_close(np.abs(slots["velocity"]), np.float32(0.5), 1e-6)
