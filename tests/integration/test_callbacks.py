"""Keras callbacks that read or set what the optimizer has."""

import os

import numpy as np
import pytest

from compat_opt.rules import SGD, Adam
from on_target import assert_weights, file_holds_state, reference_fit, regression


def test_learning_rate_scheduler(on):
    """The callback reads optimizer.learning_rate and sets it before each epoch."""
    x, y = regression()
    model = on.linear()
    first = model.get_weights()
    on.compile(model, on.optimizer(SGD, 0.2))
    seen = []

    def halve(epoch, rate):
        seen.append(float(rate))
        return rate / 2

    on.fit(model, x, y, epochs=3, callbacks=[on.keras.callbacks.LearningRateScheduler(halve)])
    rates = [0.1, 0.05, 0.025]
    assert np.allclose(seen, [0.2, 0.1, 0.05])
    assert_weights(model, reference_fit(SGD, first, [(x, y)] * 3, learning_rate=lambda step: rates[step]))


def test_reduce_lr_on_plateau(on):
    x, y = regression()
    model = on.linear()
    first = model.get_weights()
    on.compile(model, on.optimizer(SGD, 0.1))
    plateau = on.keras.callbacks.ReduceLROnPlateau(monitor="loss", mode="max", patience=1, factor=0.5)
    history = on.fit(model, x, y, epochs=3, callbacks=[plateau])
    rates = [0.1, 0.1, 0.05]
    assert_weights(model, reference_fit(SGD, first, [(x, y)] * 3, learning_rate=lambda step: rates[step]))
    logged = history.history.get("learning_rate") or history.history["lr"]
    assert np.allclose(np.asarray(logged, "float64"), rates)


def test_model_checkpoint_keeps_the_optimizer(on, tmp_path):
    """The whole model after each epoch; the file of the last one goes on the same."""
    x, y = regression()
    model = on.linear()
    first = model.get_weights()
    on.compile(model, on.optimizer(Adam, 0.1))
    path = os.path.join(str(tmp_path), "last" + (".keras" if on.is_keras3 else ".h5"))
    on.fit(model, x, y, epochs=2, callbacks=[on.keras.callbacks.ModelCheckpoint(path)])
    loaded = on.keras.models.load_model(path)
    if not file_holds_state(path):
        pytest.skip("no optimizer weights in the H5 files of this Keras for this generation")
    assert int(on.value(loaded.optimizer.iterations)) == 2
    on.fit(loaded, x, y, epochs=2)
    assert_weights(loaded, reference_fit(Adam, first, [(x, y)] * 4, learning_rate=0.1), 1e-4)


@pytest.mark.long
def test_early_stopping_and_history_leave_the_optimizer_alone(on):
    x, y = regression()
    model = on.compile(on.linear(), on.optimizer(Adam, 0.1))
    stop = on.keras.callbacks.EarlyStopping(monitor="loss", mode="max", patience=2)
    on.fit(model, x, y, epochs=9, callbacks=[stop])
    assert int(on.value(model.optimizer.iterations)) == 3
