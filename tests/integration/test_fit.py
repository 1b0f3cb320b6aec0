"""Model.fit of each target's own Keras: weights equal the NumPy reference's, step by step."""

import numpy as np
import pytest

import compat_opt as co
from compat_opt.errors import UnsupportedError
from compat_opt.rules import SGD, Adam, AdamW, Lion, Nadam, RMSprop, ScheduleFreeSGD
from on_target import assert_weights, reference_fit, regression

CASES = {
    "momentum": (SGD, dict(learning_rate=0.05, momentum=0.9, nesterov=True)),
    "clipnorm": (SGD, dict(learning_rate=0.5, momentum=0.5, clipnorm=0.2)),
    "global_clipnorm": (Adam, dict(learning_rate=0.05, global_clipnorm=0.5)),
    "weight_decay": (AdamW, dict(learning_rate=0.05, weight_decay=0.5)),
    "accumulation": (Adam, dict(learning_rate=0.05, gradient_accumulation_steps=2)),
    "ema_overwrite": (Lion, dict(learning_rate=0.05, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=3)),
    "shared": (Nadam, dict(learning_rate=0.05)),
    "rmsprop": (RMSprop, dict(learning_rate=0.05, momentum=0.5, centered=True)),
}

#: What runs in every cell; the other cases run in the long ones.
SHORT = ["accumulation", "ema_overwrite"]


def batches_of(x, y, size, epochs=1):
    return [(x[i : i + size], y[i : i + size]) for _ in range(epochs) for i in range(0, len(x), size)]


@pytest.mark.parametrize("case", SHORT + [pytest.param(c, marks=pytest.mark.long) for c in sorted(set(CASES) - set(SHORT))])
def test_fit_follows_the_reference(on, case):
    rule, hypers = CASES[case]
    x, y = regression(rows=12)
    model = on.linear()
    first = model.get_weights()
    history = on.fit(on.compile(model, on.optimizer(rule, **hypers)), x, y, batch_size=4, epochs=2)
    if hypers.get("use_ema"):  # fit ends with the averages on some targets; here they equal the weights
        assert_average_or_weights(on, model, first, batches_of(x, y, 4, 2), rule, hypers)
    else:
        assert_weights(model, reference_fit(rule, first, batches_of(x, y, 4, 2), **hypers), 1e-4)
    assert history.history["loss"][-1] < history.history["loss"][0]
    steps = 6 // (hypers.get("gradient_accumulation_steps") or 1)
    assert int(on.value(model.optimizer.iterations)) == steps


def assert_average_or_weights(on, model, first, batches, rule, hypers):
    """The last of six steps overwrites (every third does), so that weights and averages are equal."""
    assert_weights(model, reference_fit(rule, first, batches, **hypers), 1e-4)
    for variable, value in zip(model.trainable_variables, model.get_weights()):
        on.assert_value(model.optimizer.get_slot(variable, "average"), value, 1e-6)


@pytest.mark.long
def test_averages_become_the_weights_after_fit(on):
    """Called once more, finalize_variable_values changes nothing: fit of newer Keras has called it."""
    x, y = regression(rows=12)
    model = on.linear()
    first = model.get_weights()
    hypers = dict(learning_rate=0.05, use_ema=True, ema_momentum=0.8)
    on.fit(on.compile(model, on.optimizer(SGD, **hypers)), x, y, batch_size=4)
    model.optimizer.finalize_variable_values(model.trainable_variables)
    weights, averages = first, first
    for number in range(1, 4):
        weights = reference_fit(SGD, first, batches_of(x, y, 4)[:number], **hypers)
        averages = [0.8 * a + 0.2 * w for a, w in zip(averages, weights)]
    assert_weights(model, averages, 1e-4)


def test_a_loss_scale_factor_changes_nothing_in_fit(on):
    if not (hasattr(on.keras.Model, "train_step")):
        pytest.skip("no Model.train_step: fit does not let the optimizer scale the loss")
    x, y = regression(rows=12)
    model = on.linear()
    first = model.get_weights()
    on.fit(on.compile(model, on.optimizer(SGD, 0.1, loss_scale_factor=64.0)), x, y, batch_size=4)
    assert_weights(model, reference_fit(SGD, first, batches_of(x, y, 4), learning_rate=0.1))


def embedding_model(on):
    """ids (n, 2) -> Embedding(5, 3) -> Flatten -> Dense(1), from fixed weights."""
    layers = on.keras.layers
    parts = [on.keras.Input((2,), dtype="int32"), layers.Embedding(5, 3), layers.Flatten(), layers.Dense(1)]
    model = on.keras.Sequential(parts)
    random = np.random.RandomState(1)
    model.set_weights([random.normal(size=w.shape).astype("float32") for w in model.get_weights()])
    return model


def embedding_gradients(weights, ids, y):
    """Gradients of the mean squared error of `embedding_model`, in NumPy."""
    table, kernel, bias = weights
    flat = table[ids].reshape(len(ids), -1)
    error = 2 * (flat @ kernel + bias - y) / len(ids)
    rows = np.zeros_like(table)
    np.add.at(rows, ids, (error @ kernel.T).reshape(len(ids), 2, 3))
    return [rows, flat.T @ error, error.sum(axis=0)]


@pytest.mark.parametrize("rule, hypers", [(SGD, {"momentum": 0.9}), (Adam, {"clipnorm": 0.3})], ids=["SGD", "Adam"])
def test_an_embedding_with_repeated_ids_follows_the_reference(on, rule, hypers):
    ids = np.array([[0, 0], [1, 2], [2, 2], [4, 0]], "int32")
    y = np.array([[1.0], [-1.0], [2.0], [0.5]], "float32")
    hypers = dict(hypers, learning_rate=0.05)
    model = embedding_model(on)
    first = [np.asarray(w, "float64") for w in model.get_weights()]
    history = on.fit(on.compile(model, on.optimizer(rule, **hypers)), ids, y, epochs=4)
    now, gradients = first, []
    for _ in range(4):
        gradients.append(embedding_gradients(now, ids, y))
        now = co.run_reference(rule, first, gradients, **hypers)[-1]
    assert_weights(model, now, 2e-4)
    assert history.history["loss"][-1] < history.history["loss"][0]


@pytest.mark.long
def test_train_on_batch_and_fit_are_the_same_steps(on):
    x, y = regression(rows=8)
    fitted, stepped = on.linear(), on.linear()
    on.fit(on.compile(fitted, on.optimizer(Adam, 0.1)), x, y, batch_size=4)
    on.compile(stepped, on.optimizer(Adam, 0.1))
    for batch in batches_of(x, y, 4):
        stepped.train_on_batch(*batch)
    for actual, expected in zip(stepped.get_weights(), fitted.get_weights()):
        on.assert_value(np.asarray(actual), expected)


@pytest.mark.long
def test_run_eagerly_gives_the_same_weights(on):
    x, y = regression(rows=8)
    model = on.linear()
    first = model.get_weights()
    on.compile(model, on.optimizer(Adam, 0.1), run_eagerly=True)
    on.fit(model, x, y, batch_size=4)
    assert_weights(model, reference_fit(Adam, first, batches_of(x, y, 4), learning_rate=0.1), 1e-4)


@pytest.mark.parametrize(
    "rule, hypers", [(ScheduleFreeSGD, {}), (Adam, {"use_ema": True, "ema_momentum": 0.5})], ids=["slot", "average"]
)
def test_fit_builds_the_model_whose_values_a_slot_copies(on, rule, hypers):
    """Keras 3 makes the variables inside its train step; they have values only when its trace is done."""
    x, y = regression(rows=12)
    ones = on.keras.initializers.Constant(0.5)
    model = on.keras.Sequential([on.keras.layers.Dense(1, kernel_initializer=ones)])
    on.fit(on.compile(model, on.optimizer(rule, 0.05, **hypers)), x, y, batch_size=4)
    built = on.linear()
    built.set_weights([np.full((2, 1), 0.5, "float32"), np.zeros(1, "float32")])
    on.fit(on.compile(built, on.optimizer(rule, 0.05, **hypers)), x, y, batch_size=4)
    for value, expected in zip(model.get_weights(), built.get_weights()):
        on.assert_value(on.variable(value), expected, 1e-6)
    for slot, expected in zip(model.optimizer.get_weights(), built.optimizer.get_weights()):
        np.testing.assert_allclose(slot, expected, rtol=1e-5, atol=1e-7)


def test_a_variable_made_by_the_step_itself(on):
    """A slot that copies it starts with its value in the first step; after a step there is no such start."""
    if on.target.backend != "tensorflow":
        pytest.skip("variables are not made inside of a step on the %s backend" % on.target.backend)
    tf = on.tf
    optimizer = on.optimizer(Adam, 0.1, use_ema=True, ema_momentum=0.5)

    def making(value):
        made = []

        @tf.function(autograph=False)
        def step():
            if not made:
                made.append(tf.Variable(value))
            optimizer.apply_gradients([(tf.ones_like(made[0]), made[0])])

        return step, made

    step, made = making([1.0, 2.0])
    step()
    step()
    expected = co.run_reference(
        Adam, [[1.0, 2.0]], [[np.ones(2)]] * 2, learning_rate=0.1, use_ema=True, ema_momentum=0.5
    )
    on.assert_value(made[0], expected[-1][0], 1e-6)
    on.assert_value(optimizer.get_slot(made[0], "average"), expected.slots[0]["average"], 1e-6)
    with pytest.raises(UnsupportedError, match="no value yet"):
        making([3.0])[0]()
