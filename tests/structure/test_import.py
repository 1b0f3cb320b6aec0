"""``import compat_opt`` is small, has no side effects, and using it changes nothing that is TensorFlow's or Keras's."""

import json
import subprocess
import sys

import pytest

import compat_opt as co

FRAMEWORKS = ["tensorflow", "keras", "tf_keras", "jax", "torch", "numpy", "sklearn", "pytest"]


def in_a_fresh_process(code):
    """The last line that `code` prints, read as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_import_is_small():
    """The time it takes follows from the list of modules; a list can be compared, a time can't."""
    code = (
        "import json, sys; before = set(sys.modules); import compat_opt;"
        "print(json.dumps(sorted(m for m in set(sys.modules) - before if m.startswith('compat_opt'))))"
    )
    assert in_a_fresh_process(code) == ["compat_opt", "compat_opt._version"]


@pytest.mark.parametrize(
    "use",
    [
        "import compat_opt",
        "from compat_opt import UpdateRule, Hyper, Slot, Shared, checks, targets; targets()",
        "from compat_opt import rules; rules.catalogue()",
        "from compat_opt import ops; ops.describe('sqrt')",
        "from compat_opt import transforms",
        "from compat_opt import errors, optimizers, testing; dir(optimizers)",
        "from compat_opt.cli import commands; commands()",
    ],
)
def test_no_framework_is_loaded_before_it_must(use):
    code = "import json, sys; %s; print(json.dumps([m for m in %r if m in sys.modules]))" % (use, FRAMEWORKS)
    assert in_a_fresh_process(code) == []


def test_defining_and_running_a_rule_needs_numpy_only():
    code = """
import json, sys
import compat_opt as co
trajectory = co.run_reference(co.rules.Adam, [[1.0, 2.0]], [[[0.5, 0.5]]])
print(json.dumps([m for m in %r if m in sys.modules]))
""" % FRAMEWORKS
    assert in_a_fresh_process(code) == ["numpy"]


@pytest.mark.skipif(not co.targets(), reason="no framework is installed here that could be changed")
def test_nothing_of_the_frameworks_is_replaced():
    """Every public name of the optimizer modules, and every attribute of their base classes, before and after."""
    code = """
import json, sys
modules = {}
try:
    import tensorflow as tf
    modules["tf.keras"] = tf.keras
except ImportError:
    pass
for name in ("keras", "tf_keras"):
    try:
        modules[name] = __import__(name)
    except Exception:
        pass

def look():
    found = {}
    for label, keras in modules.items():
        spaces = {"optimizers": keras.optimizers, "schedules": keras.optimizers.schedules}
        for inner in ("legacy", "experimental"):
            if hasattr(keras.optimizers, inner):
                spaces[inner] = getattr(keras.optimizers, inner)
        for space, module in spaces.items():
            for name in dir(module):
                value = getattr(module, name)
                if isinstance(value, (type, type(look))):
                    found[label, space, name] = value
                if isinstance(value, type):
                    for attribute in dir(value):
                        found[label, space, name, attribute] = getattr(value, attribute, None)
    if "tf.keras" in modules:
        import tensorflow as tf
        found["Variable"] = tf.Variable
        found["assign"] = tf.Variable.assign
        found["tape"] = tf.GradientTape.gradient
    return found

before = look()
import compat_opt as co
from compat_opt.testing.harness import harness_for
for target in co.targets():
    harness = harness_for(target)
    optimizer = co.compile_rule(co.rules.Adam, target)(0.1, clipnorm=1.0)
    variable = harness.variable([1.0, 2.0], "float32")
    optimizer.apply_gradients([(harness.gradient([1.0, 1.0], "float32"), variable)])
after = look()
# Bound methods and wrappers are made anew at each look; equal ones are the same function.
same = lambda a, b: a is b or a == b or repr(a) == repr(b)
print(json.dumps([str(key) for key in before if not same(before[key], after.get(key))] + [str(k) for k in after if k not in before]))
"""
    assert in_a_fresh_process(code) == []
