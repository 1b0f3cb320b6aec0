"""The workloads `digits` and `FILE:function`: an optimizer in training."""

import inspect

import numpy as np

from compat_opt.testing.matrix.worker.loading import import_file

BATCH = 64


def digits(make, target, steps):
    """The digits classifier, `steps` batches with ``train_on_batch``, always in the same order.

    Returns:
        ({"training": trace}, {"accuracy": on the images it has not seen}).
    """
    from compat_opt.testing import digits as workload

    train_x, train_y, test_x, test_y = workload.digits()
    model = workload.make_model(workload.keras_of(target))
    model.compile(optimizer=make(), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    history, losses = [model.get_weights()], []
    for step in range(steps):
        at = np.arange(step * BATCH, (step + 1) * BATCH) % len(train_x)
        found = model.train_on_batch(train_x[at], train_y[at])
        losses.append(_loss(model, found, train_x[at], train_y[at]))
        history.append(model.get_weights())
    names = ("hidden_kernel", "hidden_bias", "output_kernel", "output_bias")
    trace = {"var/" + name: np.stack([row[i] for row in history]) for i, name in enumerate(names)}
    trace["loss"] = np.asarray(losses, "float64")
    predicted = np.argmax(np.asarray(model.predict(test_x, batch_size=len(test_x), verbose=0)), axis=1)
    return {"training": trace}, {"accuracy": float(np.mean(predicted == test_y))}


def _loss(model, found, x, y):
    """The loss of this batch after the step: Keras 3's train_on_batch tells a mean over all steps."""
    probability = np.asarray(model.predict_on_batch(x))[np.arange(len(y)), y]
    return float(-np.mean(np.log(np.maximum(probability, 1e-12))))


def own(text, make, target):
    """A user's workload ``FILE:function``: called with those of optimizer, keras, target that it takes.

    It returns {name: array, first axis the step}; "loss" is the loss, every other name a variable.
    """
    from compat_opt.testing.digits import keras_of

    path, _, name = text.rpartition(":")
    function = getattr(import_file(path), name)
    offered = {"optimizer": make(), "keras": keras_of(target), "target": target}
    wanted = inspect.signature(function).parameters
    found = function(**{key: value for key, value in offered.items() if key in wanted})
    if not isinstance(found, dict) or not found:
        raise TypeError("%s returns {name: array, first axis the step}. Received: %r" % (text, type(found)))
    trace = {}
    for key, value in found.items():
        trace[key if key == "loss" else "var/" + key] = np.asarray(value, "float64")
    return {"training": trace}, {}
