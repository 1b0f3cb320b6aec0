"""Reports on configs, saved models, and on one generation's optimizer meeting another's Keras."""

import json
import os

import numpy as np
import pytest

import compat_opt as co
from compat_opt.adapters import compile_rule
from compat_opt.rules import SGD, Adam, Lion
from on_target import OnTarget, other_targets, own_weights, regression


def test_config_is_exact_json_and_round_trips(on):
    """tfa#1623, larq#334, GradientAccumulator#42: float32 numbers, or 0.10000000149."""
    optimizer = on.optimizer(Adam, 0.1, beta_1=0.8)
    on.step(optimizer, ([1.0], on.variable([1.0])))
    config = json.loads(json.dumps(optimizer.get_config()))
    assert (config["learning_rate"], config["beta_1"], config["beta_2"]) == (0.1, 0.8, 0.999)
    again = type(optimizer).from_config(config)
    assert again.get_config() == config
    on.assert_value(again.beta_1, 0.8, 1e-7)


def test_a_config_of_tensorflow_2_10_is_read(on):
    """tensorflow#58801: decay 0.0 in an old config was refused."""
    old = {"name": "Adam", "learning_rate": 0.1, "decay": 0.0, "beta_1": 0.9, "beta_2": 0.999}
    optimizer = compile_rule(Adam, on.target).from_config(dict(old, epsilon=1e-07, amsgrad=False))
    w = on.variable([1.0])
    on.step(optimizer, ([1.0], w))
    on.assert_value(w, [0.9])


def test_a_config_with_decay_and_lr_keeps_its_meaning(on):
    """HyperTS#71: decay of an old config is honoured, not dropped."""
    with pytest.warns(UserWarning, match="decay"):
        optimizer = compile_rule(SGD, on.target).from_config({"name": "SGD", "lr": 1.0, "decay": 1.0})
    w = on.variable([0.0])
    for _ in range(2):
        on.step(optimizer, ([1.0], w))
    on.assert_value(w, [-1.5])


def warm_up_class(on):
    ops = on.tf if on.tf is not None else on.keras.ops
    minimum = on.tf.minimum if on.tf is not None else ops.minimum

    class WarmUp(on.keras.optimizers.schedules.LearningRateSchedule):
        def __init__(self, steps=10, rate=0.1):
            self.steps, self.rate = steps, rate

        def __call__(self, step):
            return self.rate * minimum(1.0, ops.cast(step, "float32") / self.steps)

        def get_config(self):
            return {"steps": self.steps, "rate": self.rate}

    return WarmUp


def test_a_users_own_schedule_comes_back_from_a_config(on):
    """transformers#5554, keras#18887, larq#334: "Unknown decay: WarmUp"."""
    optimizer = on.optimizer(SGD, warm_up_class(on)(steps=5, rate=0.2))
    config = json.loads(json.dumps(optimizer.get_config()))
    again = type(optimizer).from_config(config)
    w = on.variable([1.0])
    for _ in range(3):
        on.step(again, ([1.0], w))
    on.assert_value(w, [1 - (0.0 + 0.04 + 0.08)])


def test_a_schedule_that_is_not_known_is_named(on):
    """keras#18887: the message says which class, and what would help."""
    config = on.optimizer(SGD, 0.1).get_config()
    config["learning_rate"] = {"class_name": "Unheard", "module": "elsewhere", "config": {}}
    with pytest.raises(ValueError, match="custom_objects.*Unheard"):
        compile_rule(SGD, on.target).from_config(config)


def test_load_model_finds_the_class_without_custom_objects(on, tmp_path):
    """keras-radam#16, Adabelief#41, bert4keras#204, GradientAccumulator#42, keras#14724: Unknown optimizer."""
    x, y = regression()
    model = on.compile(on.linear(), on.optimizer(Lion, 0.125))
    on.fit(model, x, y)
    suffix = ".keras" if on.is_keras3 else ".h5"
    path = os.path.join(str(tmp_path), "model" + suffix)
    model.save(path)
    loaded = on.keras.models.load_model(path)
    assert type(loaded.optimizer) is type(model.optimizer)
    on.assert_value(loaded.optimizer.learning_rate, 0.125)


def test_every_compiled_optimizer_is_recognized(on):
    """tfa#2797, horovod#3862, tensorflow#60332: isinstance against one base class misses the others."""
    optimizer = on.optimizer(SGD, 0.1)
    assert co.is_optimizer(optimizer)
    assert co.generation_of(optimizer) == on.target.generation
    assert co.generation_of(type(optimizer)) == on.target.generation
    assert not co.is_optimizer(type(optimizer)) and not co.is_optimizer("sgd") and not co.is_optimizer(None)


def test_a_native_optimizer_is_recognized(on):
    """horovod#3862: the generation of TensorFlow's own optimizers too."""
    place = on.keras.optimizers
    for part in on.target.namespace.split(".")[1:]:
        place = getattr(place, part, place)
    native = place.SGD(0.1)
    assert co.is_optimizer(native) and co.generation_of(native) == on.target.generation


def test_an_optimizer_moves_to_another_keras(on):
    """keras#19262, keras#21666, ktrain#529, deepchem#4234: another package's optimizer was not interpreted."""
    others = other_targets(on.target)
    if not others:
        pytest.skip("no second target in this environment")
    x, y = regression(rows=16)
    hypers = dict(learning_rate=0.1, beta_1=0.8, clipnorm=0.5, use_ema=True)
    stayed = on.compile(on.linear(), on.optimizer(Adam, **hypers))
    on.fit(stayed, x, y, batch_size=4)
    _finalize(stayed)
    for other in (OnTarget(target) for target in others):
        moved = co.retarget(stayed.optimizer, other.target)
        assert moved.get_config() == stayed.optimizer.get_config()
        model = other.linear()
        model.set_weights(own_weights(stayed))
        other.fit(other.compile(model, moved), x, y, batch_size=4)
        _finalize(model)
        continued = on.linear()
        continued.set_weights(own_weights(stayed))
        same = co.retarget(stayed.optimizer, on.target)
        on.fit(on.compile(continued, same), x, y, batch_size=4)
        _finalize(continued)
        for actual, expected in zip(own_weights(model), own_weights(continued)):
            on.assert_value(np.asarray(actual), expected, 1e-4)


def _finalize(model):
    """What fit() of Keras 2.9+ and 3 does at its end for the optimizers of its own generation."""
    model.optimizer.finalize_variable_values(model.trainable_variables)


def test_only_a_compiled_optimizer_moves(on):
    """keras#19262: a native optimizer is refused with the reason."""
    with pytest.raises(TypeError, match="compiled from a rule"):
        co.retarget(object(), on.target)
