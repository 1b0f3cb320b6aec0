"""Saved models and checkpoints: the optimizer comes back with its state and goes on the same."""

import os

import numpy as np
import pytest

from compat_opt.errors import StateError
from compat_opt.rules import SGD, Adam, Nadam
from compat_opt.testing.compare import assert_close
from on_target import assert_weights, file_holds_state, own_weights, reference_fit, regression

HYPERS = dict(learning_rate=0.05, clipnorm=0.5)


def trained(on, path, save):
    """Train three steps, save; the data, the first weights and the trained model."""
    x, y = regression()
    model = on.linear()
    first = model.get_weights()
    on.fit(on.compile(model, on.optimizer(Nadam, **HYPERS)), x, y, epochs=3)
    save(model, path)
    return x, y, first, model


def assert_goes_on(on, model, x, y, first):
    """Three steps are behind; two more must equal five of the reference."""
    assert int(on.value(model.optimizer.iterations)) == 3
    assert model.optimizer.clipnorm == 0.5
    on.fit(model, x, y, epochs=2)
    assert_weights(model, reference_fit(Nadam, first, [(x, y)] * 5, **HYPERS), 1e-4)


def test_h5(on, tmp_path):
    path = os.path.join(str(tmp_path), "model.h5")
    x, y, first, model = trained(on, path, lambda m, p: m.save(p))
    loaded = on.keras.models.load_model(path)
    assert type(loaded.optimizer) is type(model.optimizer)
    if not file_holds_state(path):  # TF 2.9 and 2.10 write none for Keras 2 optimizers
        assert loaded.optimizer.get_config() == model.optimizer.get_config()
        loaded.optimizer.set_weights(model.optimizer.get_weights())
    assert_goes_on(on, loaded, x, y, first)


def test_keras_file(on, tmp_path):
    import zipfile

    path = os.path.join(str(tmp_path), "model.keras")
    x, y, first, model = trained(on, path, lambda m, p: m.save(p))
    if not os.path.isfile(path) or not zipfile.is_zipfile(path):
        pytest.skip("no .keras format: Model.save writes another format under that name")
    loaded = on.keras.models.load_model(path)
    assert type(loaded.optimizer) is type(model.optimizer)
    if on.target.generation == "optimizer_v2":  # the format has no place for its state
        assert loaded.optimizer.get_config() == model.optimizer.get_config()
        loaded.optimizer.set_weights(model.optimizer.get_weights())
    assert_goes_on(on, loaded, x, y, first)


def test_tf_weights(on, tmp_path):
    """save_weights in TensorFlow's format holds the optimizer; read before the first step."""
    import inspect

    if "save_format" not in inspect.signature(on.keras.Model.save_weights).parameters:
        pytest.skip("no save_format in Model.save_weights: this Keras has no TensorFlow format")
    path = os.path.join(str(tmp_path), "weights")
    x, y, first, _ = trained(on, path, lambda m, p: m.save_weights(p, save_format="tf"))
    other = on.compile(on.linear(), on.optimizer(Nadam, **HYPERS))
    other.load_weights(path)
    assert_goes_on(on, other, x, y, first)


def test_saved_model(on, tmp_path):
    """The optimizer's class and arguments come back; Keras 2 restores no optimizer state from a SavedModel."""
    import inspect

    if "save_format" not in inspect.signature(on.keras.Model.save).parameters:
        pytest.skip("no save_format in Model.save: this Keras has no SavedModel format")
    path = os.path.join(str(tmp_path), "saved")
    x, y, first, model = trained(on, path, lambda m, p: m.save(p, save_format="tf"))
    loaded = on.keras.models.load_model(path)
    assert type(loaded.optimizer) is type(model.optimizer)
    assert loaded.optimizer.get_config() == model.optimizer.get_config()
    loaded.optimizer.set_weights(model.optimizer.get_weights())
    assert_goes_on(on, loaded, x, y, first)


@pytest.mark.parametrize("when", ["before the first step", "after build", "after a step"])
def test_checkpoint(on, tmp_path, when):
    """tf.train.Checkpoint, also restored into an optimizer that has no slots yet."""
    if on.tf is None:
        pytest.skip("no tf.train.Checkpoint on the backend %s" % on.target.backend)
    tf = on.tf
    gradients = [[1.0, -3.0], [2.0, 0.5], [-1.0, 4.0]]
    w, optimizer = tf.Variable([1.0, 2.0]), on.optimizer(Adam, 0.1, use_ema=True)
    for g in gradients[:2]:
        on.step(optimizer, (g, w))
    path = tf.train.Checkpoint(w=w, optimizer=optimizer).save(os.path.join(str(tmp_path), "c"))
    other, restored = tf.Variable([0.0, 0.0]), on.optimizer(Adam, 0.1, use_ema=True)
    if when == "after build":
        restored.build([other])
    elif when == "after a step":
        on.step(restored, ([5.0, 5.0], other))
    status = tf.train.Checkpoint(w=other, optimizer=restored).restore(path)
    for variable, stepping in ((w, optimizer), (other, restored)):
        on.step(stepping, (gradients[2], variable))
    status.assert_existing_objects_matched()
    on.assert_value(other, on.value(w), 1e-7)
    for actual, expected in zip(restored.get_weights(), optimizer.get_weights()):
        assert_close(actual, expected, 1e-7)


@pytest.mark.parametrize("built", [False, True])
def test_a_checkpoint_from_before_layers_came_or_went_is_refused(on, tmp_path, built):
    """By number alone the state of one layer would become its neighbour's."""
    if on.tf is None:
        pytest.skip("no tf.train.Checkpoint on the backend %s" % on.target.backend)
    tf = on.tf
    make = lambda *names: [tf.Variable([1.0, 2.0], name=name) for name in names]  # noqa: E731
    old, optimizer = make("d1/kernel", "d2/kernel", "d3/kernel"), on.optimizer(Adam, 0.1)
    on.step(optimizer, *[([1.0, i], w) for i, w in enumerate(old)])
    path = tf.train.Checkpoint(optimizer=optimizer).save(os.path.join(str(tmp_path), "c"))
    new, restored = make("d1/kernel", "d3/kernel"), on.optimizer(Adam, 0.1)
    if built:
        restored.build(new)
    with pytest.raises(StateError) as caught:
        tf.train.Checkpoint(optimizer=restored).restore(path)
        restored.build(new)
    assert "the state of d2/kernel in the place of d3/kernel" in str(caught.value)
    if built:
        assert not np.any(restored.get_weights()[-1]) and int(on.value(restored.iterations)) == 0
    renamed, restored = make("dense_7/kernel", "dense_8/kernel", "dense_9/kernel"), on.optimizer(Adam, 0.1)
    tf.train.Checkpoint(optimizer=restored).restore(path)
    restored.build(renamed)
    for actual, expected in zip(restored.get_weights(), optimizer.get_weights()):
        assert_close(actual, expected, 0)


def test_a_checkpoint_of_a_schedule_goes_on_at_its_step(on, tmp_path):
    if on.tf is None:
        pytest.skip("no tf.train.Checkpoint on the backend %s" % on.target.backend)
    tf = on.tf
    make = lambda: on.optimizer(SGD, on.keras.optimizers.schedules.ExponentialDecay(0.5, 1, 0.5))  # noqa: E731
    w, optimizer = tf.Variable(0.0), make()
    for _ in range(2):
        on.step(optimizer, (1.0, w))
    path = tf.train.Checkpoint(w=w, optimizer=optimizer).save(os.path.join(str(tmp_path), "c"))
    other, restored = tf.Variable(7.0), make()
    tf.train.Checkpoint(w=other, optimizer=restored).restore(path)
    on.step(restored, (1.0, other))
    on.assert_value(other, -(0.5 + 0.25 + 0.125))


def test_a_model_checkpoint_restores_model_and_optimizer(on, tmp_path):
    if on.tf is None:
        pytest.skip("no tf.train.Checkpoint on the backend %s" % on.target.backend)
    tf = on.tf
    path = os.path.join(str(tmp_path), "c")
    x, y, first, _ = trained(on, path, lambda m, p: tf.train.Checkpoint(model=m, optimizer=m.optimizer).save(p))
    other = on.compile(on.linear(), on.optimizer(Nadam, **HYPERS))
    tf.train.Checkpoint(model=other, optimizer=other.optimizer).restore(path + "-1")
    assert_goes_on(on, other, x, y, first)


def test_weights_given_before_the_first_step(on):
    """get_weights and set_weights carry the state into a fresh optimizer."""
    x, y = regression()
    model = on.linear()
    first = model.get_weights()
    on.fit(on.compile(model, on.optimizer(Nadam, **HYPERS)), x, y, epochs=3)
    other = on.linear()
    other.set_weights(own_weights(model))
    optimizer = on.optimizer(Nadam, **HYPERS)
    optimizer.set_weights([np.array(a) for a in model.optimizer.get_weights()])
    on.compile(other, optimizer)
    assert_goes_on(on, other, x, y, first)
