"""Imports are answered inside of the loading only."""

import sys
import threading

import pytest
from bridging import LEGACY, location, needs_base, needs_host

import compat_opt as co
from compat_opt import bridge

pytestmark = needs_base


def look():
    """What others see of the frameworks."""
    import tensorflow as tf

    found = {name: getattr(tf, name) for name in ("Variable", "function", "GradientTape", "optimizers", "keras")}
    for name in dir(tf.keras.optimizers):
        found["tf.keras.optimizers", name] = getattr(tf.keras.optimizers, name, None)
    for name in ("keras", "tf_keras"):
        if name in sys.modules:
            found[name] = {n: getattr(sys.modules[name].optimizers, n, None) for n in dir(sys.modules[name].optimizers)}
    return found


FILES = [("momentum_v2.py", "Momentum"), ("private_imports.py", "Accelerated"), ("wrappers.py", "Lookahead")]


@needs_host
def test_nothing_is_changed_for_others():
    bridge.load(location("momentum_v2.py", "Momentum"))  # whatever of tf-keras is imported for the first time
    before, modules = look(), dict(sys.modules)
    for file, name in FILES:
        bridge.load(location(file, name))
    after = look()
    assert sorted(before, key=str) == sorted(after, key=str)
    assert [key for key in before if before[key] is not after[key] and before[key] != after[key]] == []
    assert [name for name in modules if sys.modules.get(name) is not modules[name]] == []
    own = {"momentum_v2", "private_imports", "wrappers", "keras.legacy", "tensorflow.python.keras.optimizer_v2.adam"}
    new = set(sys.modules) - set(modules)
    assert not new & own and not [name for name in new if name.split(".")[0] not in ("tensorflow", "tf_keras", "keras")]


@needs_host
def test_a_module_that_raises_leaves_nothing(tmp_path):
    broken = tmp_path / "broken_legacy.py"
    broken.write_text(
        "import sys, tensorflow as tf\nfrom tensorflow.keras import backend as K\nBASE = tf.keras.optimizers.Optimizer\n"
        "sys.modules['keras'] = tf\ntf.leaked = K.leaked = tf.keras.leaked = tf.keras.layers.leaked = 1\n"
        "tf.keras.optimizers.leaked = 1\nassert K.leaked and tf.keras.layers.leaked\n1 / 0\n"
    )
    keras, before = sys.modules.get("keras"), set(sys.modules)
    with pytest.raises(ZeroDivisionError):
        bridge.load("%s:Some" % broken)
    assert sys.modules.get("keras") is keras and "broken_legacy" not in set(sys.modules) - before
    import tensorflow as tf

    own = [tf, tf.keras, tf.keras.backend, tf.keras.layers, tf.keras.optimizers, sys.modules.get("tf_keras")]
    own += [sys.modules["tf_keras"].backend, sys.modules["tf_keras"].layers] if "tf_keras" in sys.modules else []
    assert not [module for module in own if hasattr(module, "leaked")]


@needs_host
def test_another_thread_sees_the_real_modules(tmp_path):
    """While a legacy module is being loaded, an ordinary import elsewhere gets what it always gets."""
    import tensorflow as tf

    seen, started, done = [], threading.Event(), threading.Event()
    slow = tmp_path / "slow_legacy.py"
    slow.write_text(
        "import tensorflow as tf, tests_bridge_gate as gate\nInside = tf.keras.optimizers.Optimizer\n"
        "gate.started.set()\nassert gate.done.wait(30)\n"
        "class Slow(tf.keras.optimizers.Optimizer):\n    def _create_slots(self, v): pass\n"
    )
    gate = type(sys)("tests_bridge_gate")
    gate.started, gate.done = started, done
    sys.modules["tests_bridge_gate"] = gate

    def other():
        assert started.wait(30)
        namespace = {}
        exec("import tensorflow\nfrom tensorflow import keras\nfound = keras.optimizers.Optimizer", namespace)
        seen.append(namespace["found"])
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    try:
        cls = bridge.load("%s:Slow" % slow)
    finally:
        thread.join()
        del sys.modules["tests_bridge_gate"]
    assert seen == [tf.keras.optimizers.Optimizer]
    assert cls.legacy_class.__mro__[1] is not tf.keras.optimizers.Optimizer


def test_a_package_by_its_dotted_name(tmp_path, monkeypatch):
    package = tmp_path / "oldpackage"
    package.mkdir()
    (package / "__init__.py").write_text("from oldpackage.optimizers import Momentum\nfrom .names import NAME\n")
    (package / "names.py").write_text("NAME = 'of the package'\n")
    text = (LEGACY / "momentum_v2.py").read_text()
    (package / "optimizers.py").write_text(text.replace("import tensorflow", "from .names import NAME\nimport tensorflow"))
    monkeypatch.syspath_prepend(str(tmp_path))
    for place in ("oldpackage.optimizers:Momentum", "%s:Momentum" % (package / "optimizers.py")):
        cls = bridge.load(place)
        assert cls(0.5).get_config()["learning_rate"] == 0.5
    assert "oldpackage" not in sys.modules


@needs_host
def test_adapt_loads_a_class_with_the_wrong_base_again(tmp_path, monkeypatch):
    """`import` gives the class a base of today; its hooks say that it was written for another one."""
    (tmp_path / "plainly_imported.py").write_text((LEGACY / "momentum_v2.py").read_text())
    monkeypatch.syspath_prepend(str(tmp_path))
    import plainly_imported

    cls = bridge.adapt(plainly_imported.Momentum)
    assert cls.legacy_class is not plainly_imported.Momentum
    assert hasattr(cls.legacy_class.__mro__[1], "_resource_apply_dense")
    assert bridge.adapt(cls.legacy_class) is cls


@needs_host
def test_a_class_that_no_file_holds_is_refused():
    import tensorflow as tf

    class Local(tf.keras.optimizers.Optimizer):
        def _resource_apply_dense(self, grad, var):
            return var.assign_sub(grad)

    with pytest.raises(co.errors.UnsupportedError, match="bridge.load"):
        bridge.adapt(Local)


@pytest.mark.parametrize("place", ["nowhere.at_all:Some", "no_colon", "momentum_v2.py:NoSuchClass"])
def test_what_is_not_there(place):
    if place.startswith("momentum"):
        place = location(*place.split(":"))
    with pytest.raises(co.errors.ArgumentError):
        bridge.load(place)


def test_what_is_no_optimizer():
    with pytest.raises(co.errors.ArgumentError, match="optimizer class"):
        bridge.adapt(int)


@needs_host
def test_a_class_that_a_function_makes(tmp_path, monkeypatch):
    package = tmp_path / "factories"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('an old TensorFlow is needed')")
    (package / "momentum_v2.py").write_text((LEGACY / "momentum_v2.py").read_text())
    (package / "made.py").write_text(
        "import factories\n"
        "def faster(base, factor=2.0):\n"
        "    class Faster(base):\n"
        "        def _resource_apply_dense(self, grad, var, apply_state=None):\n"
        "            return super()._resource_apply_dense(factor * grad, var, apply_state)\n"
        "    return Faster\n"
        "def Momentum(factor): return faster(factories.momentum_v2.Momentum, factor)\n"
    )
    import numpy as np
    import tensorflow as tf

    found = []
    for factor in (2.0, 3.0):
        cls = bridge.load("%s:Momentum(factor=%s)" % (package / "made.py", factor), written_for="optimizer_v2")
        variable = tf.Variable([1.0])
        cls(0.1).apply_gradients([(tf.constant([1.0]), variable)])
        found.append((np.round(variable.numpy(), 6).tolist(), cls))
    assert [value for value, _ in found] == [[np.float32(0.8)], [np.float32(0.7)]]
    serialize, deserialize = tf.keras.optimizers.serialize, tf.keras.optimizers.deserialize
    for _, cls in found:
        assert type(deserialize(serialize(cls(0.1)))) is cls
