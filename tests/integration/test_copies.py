"""Copies of optimizers, and configs that one generation writes and another reads."""

import copy
import json
import pickle

import numpy as np
import pytest

from compat_opt.adapters import compile_rule
from compat_opt.rules import SGD, Adam, AdamW, LAMB, Lion, Muon, Nadam, RMSprop
from on_target import OnTarget, assert_weights, other_targets, own_weights, reference_fit, regression


@pytest.mark.long
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))], ids=["deepcopy", "pickle"])
def test_a_copy_goes_on_in_fit(on, copied):
    x, y = regression(rows=8)
    model, hypers = on.linear(), dict(learning_rate=0.1, clipnorm=0.5)
    first = model.get_weights()
    on.fit(on.compile(model, on.optimizer(Nadam, **hypers)), x, y, epochs=2)
    other = on.linear()
    other.set_weights(own_weights(model))
    on.compile(other, copied(model.optimizer))
    for continued in (model, other):
        on.fit(continued, x, y, epochs=2)
        assert_weights(continued, reference_fit(Nadam, first, [(x, y)] * 4, **hypers), 1e-4)


def test_a_copy_shares_nothing(on):
    w, optimizer = on.variable([1.0]), on.optimizer(SGD, 0.5, momentum=0.5)
    on.step(optimizer, ([1.0], w))
    other = copy.deepcopy(optimizer)
    other.learning_rate = 0.25
    on.step(other, ([1.0], on.variable([1.0])))
    on.assert_value(optimizer.learning_rate, 0.5)
    assert int(on.value(optimizer.iterations)) == 1 and int(on.value(other.iterations)) == 2


CONFIGURED = [
    (SGD, dict(learning_rate=0.3, momentum=0.7, nesterov=True)),
    (AdamW, dict(beta_1=0.8, amsgrad=True, weight_decay=0.01, global_clipnorm=2.0)),
    (RMSprop, dict(rho=0.7, centered=True, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=5)),
    (LAMB, dict(gradient_accumulation_steps=3)),
    (Lion, dict(loss_scale_factor=8.0, jit_compile=False)),
    (Muon, dict(name="other", clipvalue=0.1)),
]


@pytest.mark.parametrize("rule, hypers", CONFIGURED, ids=[r.__name__ for r, _ in CONFIGURED])
def test_a_config_is_read_by_every_other_generation(on, rule, hypers):
    others = other_targets(on.target)
    if not others:
        pytest.skip("no second target in this environment")
    config = json.loads(json.dumps(on.optimizer(rule, **hypers).get_config()))
    for target in others:
        assert compile_rule(rule, target).from_config(config).get_config() == config


def test_a_schedule_in_a_config_is_read_by_every_other_generation(on):
    others = other_targets(on.target)
    if not others:
        pytest.skip("no second target in this environment")
    schedule = on.keras.optimizers.schedules.ExponentialDecay(0.5, 1, 0.5)
    config = json.loads(json.dumps(on.optimizer(SGD, schedule).get_config()))
    for other in (OnTarget(target) for target in others):
        w = other.variable([0.0])
        read = compile_rule(SGD, other.target).from_config(config)
        for _ in range(2):
            other.step(read, ([1.0], w))
        other.assert_value(w, [-0.75])


def test_a_native_config_of_another_keras_is_read(on):
    """What TensorFlow's own Adam writes on any Keras makes the same Adam here."""
    for target in [on.target] + other_targets(on.target):
        other = OnTarget(target)
        config = other.keras.optimizers.Adam(learning_rate=0.25, beta_1=0.5).get_config()
        optimizer = compile_rule(Adam, on.target).from_config(json.loads(json.dumps(config, default=float)))
        w = on.variable([1.0])
        on.step(optimizer, ([3.0], w))
        on.assert_value(w, [0.75], 1e-5)
        assert np.isclose(float(on.value(optimizer.beta_1)), 0.5)


def test_state_moves_between_generations_in_a_checkpoint(on, tmp_path):
    """One generation's tf.train.Checkpoint is restored by each other: the object graph is the same."""
    others = [t for t in other_targets(on.target) if t.backend == "tensorflow"]
    if on.tf is None or not others:
        pytest.skip("no second TensorFlow target in this environment")
    tf, path = on.tf, str(tmp_path / "c")
    w, optimizer = tf.Variable([1.0, 2.0]), on.optimizer(Adam, 0.1)
    for gradient in ([1.0, -3.0], [2.0, 0.5]):
        on.step(optimizer, (gradient, w))
    saved = tf.train.Checkpoint(w=w, optimizer=optimizer).save(path)
    expected = optimizer.get_weights()
    for target in others:
        other, v = OnTarget(target), tf.Variable([0.0, 0.0])
        restored = other.optimizer(Adam, 0.1)
        tf.train.Checkpoint(w=v, optimizer=restored).restore(saved)
        restored.build([v])
        for actual, wanted in zip(restored.get_weights(), expected):
            assert np.allclose(actual, wanted, equal_nan=True)
