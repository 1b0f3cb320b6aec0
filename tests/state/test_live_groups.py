"""Groups have state of their own, and it moves with the rest."""

import numpy as np
import pytest

from compat_opt import Group, compile_rule, rules, state
from compat_opt.errors import StateError
from compat_opt.testing.compare import assert_close
from compat_opt.testing.harness import harness_for

GROUPS = [
    Group("kernel", learning_rate_multiplier=0.5, beta_1=0.8),
    Group("bias", rule=rules.Nadam, learning_rate=0.3),
]


def test_going_on_after_a_move_with_groups(compat_opt_target, tmp_path):
    harness = harness_for(compat_opt_target)
    random = np.random.RandomState(0)
    gradients = [[random.normal(size=3) for _ in range(3)] for _ in range(6)]

    def start(values):
        optimizer = compile_rule(rules.Adam, compat_opt_target)(learning_rate=0.1, groups=GROUPS)
        names = ("a_kernel", "b_bias", "c")
        variables = [harness.variable(value, "float32", name) for value, name in zip(values, names)]
        step = harness.step(optimizer, variables, False)
        return optimizer, variables, lambda row: step([harness.gradient(g, "float32") for g in row])

    optimizer, variables, step = start([np.ones(3)] * 3)
    optimizer.groups["kernel"].beta_1 = 0.7
    for row in gradients[:3]:
        step(row)
    halfway = [harness.numpy(v).copy() for v in variables]
    path = tmp_path / "state"
    state.save(state.read(optimizer), path)
    for row in gradients[3:]:
        step(row)
    other, moved, step = start(halfway)
    state.write(other, state.load(path), moved)
    for row in gradients[3:]:
        step(row)
    for never_stopped, value in zip(variables, moved):
        assert_close(harness.numpy(value), harness.numpy(never_stopped), 1e-6)


def test_state_with_groups_is_refused_without_them(compat_opt_target):
    harness = harness_for(compat_opt_target)
    make = compile_rule(rules.Adam, compat_opt_target)
    variables = [harness.variable(np.ones(3), "float32", name) for name in ("a_kernel", "b_bias", "c")]
    grouped, plain = make(learning_rate=0.1, groups=GROUPS), make(learning_rate=0.1)
    for optimizer in (grouped, plain):
        optimizer.build(variables)
    before = [np.array(value) for value in plain.get_weights()]
    with pytest.raises(StateError, match="group_1_"):
        state.write(plain, state.read(grouped))
    for now, then in zip(plain.get_weights(), before):
        np.testing.assert_array_equal(now, then)
