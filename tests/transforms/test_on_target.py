"""Transformed rules, compiled for each target that is here, against the reference."""

import numpy as np
import pytest

import compat_opt as co
from compat_opt import rules, transforms
from compat_opt.adapters import compile_rule
from compat_opt.adapters.reference import run_reference
from compat_opt.testing.compare import assert_trajectories_close
from compat_opt.testing.harness import harness_for

SHAPES = [(), (5,), (4, 3), (2, 3, 2)]


@pytest.mark.parametrize("name", transforms.names())
def test_same_numbers_as_the_reference(name):
    targets = co.targets()
    if not targets:
        pytest.skip("no framework is installed")
    generator = np.random.RandomState(0)
    values = [generator.normal(size=shape).astype("float32") for shape in SHAPES]
    rows = [[generator.normal(size=s).astype("float32") for s in SHAPES] for _ in range(4)]
    rule = getattr(transforms, name)(rules.Adam)
    expected = run_reference(rule, values, rows)
    for target in targets:
        harness, found = harness_for(target), []
        optimizer = compile_rule(rule, target)()
        variables = [harness.variable(v, "float32", "v%d" % i) for i, v in enumerate(values)]
        for row in rows:
            optimizer.apply_gradients([(harness.gradient(g, "float32"), v) for g, v in zip(row, variables)])
            found.append([harness.numpy(variable) for variable in variables])
        assert_trajectories_close(found, expected, 1e-3, "%s on %s" % (rule.__name__, target))
