"""`migrate --verify`: the old class runs in this environment, and a wrong rule is noticed."""

import os
import sys
import types

import pytest

import compat_opt
from compat_opt.codemod.migrate import migrate_class
from compat_opt.codemod.module import Module
from compat_opt.testing.migration.verify import cases, verify

OPTIMIZER_V2 = '''
import tensorflow as tf


class Speed(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.1, momentum=0.9, pull=0.0, name="Speed", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("momentum", momentum)
        self.pull = pull

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "speed")

    def _resource_apply_dense(self, grad, var):
        speed = self.get_slot(var, "speed")
        new = speed.assign(self._get_hyper("momentum", var.dtype) * speed + grad + self.pull * var)
        return var.assign_sub(self._decayed_lr(var.dtype) * new)

    def _resource_apply_sparse(self, grad, var, indices):
        dense = tf.convert_to_tensor(tf.IndexedSlices(grad, indices, tf.shape(var)))
        return self._resource_apply_dense(dense, var)

    def get_config(self):
        return super().get_config()
'''

KERAS_2 = '''
import tensorflow as tf


class Speed(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.1, momentum=0.9, pull=0.0, name="Speed", **kwargs):
        super().__init__(name=name, **kwargs)
        self._learning_rate = self._build_learning_rate(learning_rate)
        self.momentum = momentum
        self.pull = pull

    def build(self, var_list):
        super().build(var_list)
        if getattr(self, "_built", False):
            return
        self._built = True
        self.speeds = [self.add_variable_from_reference(v, "speed") for v in var_list]

    def update_step(self, gradient, variable):
        lr = tf.cast(self.learning_rate, variable.dtype)
        speed = self.speeds[self._index_dict[self._var_key(variable)]]
        gradient = tf.convert_to_tensor(gradient)
        speed.assign(self.momentum * speed + gradient + self.pull * variable)
        variable.assign_sub(lr * speed)
'''

KERAS_3 = '''
import keras
from keras import ops


class Speed(keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.1, momentum=0.9, pull=0.0, name="Speed", **kwargs):
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        self.momentum = momentum
        self.pull = pull

    def build(self, variables):
        super().build(variables)
        self.speeds = [self.add_variable_from_reference(v, name="speed") for v in variables]

    def update_step(self, gradient, variable, learning_rate):
        lr = ops.cast(learning_rate, variable.dtype)
        speed = self.speeds[self._get_variable_index(variable)]
        self.assign(speed, self.momentum * speed + gradient + self.pull * variable)
        self.assign_sub(variable, lr * speed)
'''

SOURCES = {"optimizer_v2": OPTIMIZER_V2, "keras2": KERAS_2, "keras3": KERAS_3}


def test_cases_turn_flags_and_set_zeros():
    hypers = [
        {"old": "rate", "new": "learning_rate", "default": 0.5, "required": False},
        {"old": "flag", "new": "flag", "default": False, "required": False},
        {"old": "decay_rate", "new": "decay_in_update", "default": 0.0, "required": False},
    ]
    found = cases(hypers)
    assert [case["label"] for case in found] == ["defaults", "flag=True", "decay_rate=0.03125"]
    assert found[2] == {
        "label": "decay_rate=0.03125",
        "old": {"rate": 0.5, "decay_rate": 0.03125},
        "new": {"learning_rate": 0.5, "decay_in_update": 0.03125},
    }


@pytest.mark.long
def test_old_and_new_run_side_by_side(tmp_path):
    if not compat_opt.targets():
        pytest.skip("no framework is installed")
    target = compat_opt.default_target()
    if target.backend != "tensorflow":
        pytest.skip("the old classes here are TensorFlow's")
    path = tmp_path / "old_speed.py"
    path.write_text(SOURCES[target.generation])
    module = Module(path.read_text())
    result = migrate_class(module, "Speed")
    assert result.outcome == "converted", result.reason
    arguments = (str(path), "Speed", module.style("Speed"))
    found = verify(*arguments + (result.text, result.hypers, [sys.executable]))
    assert found.get("within"), found
    assert [case["label"] for case in found["cases"]] == ["defaults", "pull=0.03125"]
    assert found["sparse"]["is"] == "exact"
    wrong = result.text.replace("hyper.pull * var", "hyper.pull * grad")
    assert wrong != result.text
    found = verify(*arguments + (wrong, result.hypers, [sys.executable]))
    assert found["within"] is False and found["largest"] > 1e-3


def test_a_class_over_a_base_without_its_hook_is_no_difference(monkeypatch):
    from compat_opt.testing.migration import worker

    class Adam:
        def _resource_apply_dense(self, grad, var):
            pass

    keras = types.SimpleNamespace(optimizers=types.SimpleNamespace(SGD=Adam, Adam=Adam))
    monkeypatch.setitem(sys.modules, "tensorflow", types.SimpleNamespace(keras=keras))
    monkeypatch.setattr(worker, "load", lambda path, name: None)
    job = {"source": "", "class": "X", "style": "keras", "rule": "", "beneath": {"kind": "mixin", "base": "", "function": None}}
    with pytest.raises(ImportError, match="have no update_step"):
        list(worker._over_known(job))


OVER_ANOTHER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "codemod", "sources_over_another.py")


@pytest.mark.long
@pytest.mark.parametrize("name", ["Anchored", "Clipped", "Doubled", "Shrinking"])
def test_a_class_over_another_runs_beside_its_rule(name):
    if not compat_opt.targets() or compat_opt.default_target().generation != "optimizer_v2":
        pytest.skip("the old classes here are over OptimizerV2")
    with open(OVER_ANOTHER) as stream:
        module = Module(stream.read())
    result = migrate_class(module, name)
    arguments = (OVER_ANOTHER, name, "optimizer_v2", result.text, result.hypers, [sys.executable])
    found = verify(*arguments, beneath=result.beneath)
    assert found.get("within"), found
    labels = {case["label"].split(":")[0] for case in found["cases"] if "difference" in case}
    assert labels == {"over SGD", "over Adam"}
