"""Reports on gradient clipping and on weight decay."""

import pytest

import compat_opt as co
from compat_opt.errors import ArgumentError
from compat_opt.rules import SGD, Adam, AdamW
from on_target import assert_weights, mse_gradients, regression


def test_clipnorm_acts_in_a_custom_loop(on):
    """tensorflow#33929: up to 2.3 only minimize() and fit() clipped."""
    w = on.variable([0.0])
    on.step(on.optimizer(SGD, 1.0, clipnorm=1.0), ([6.0], w))
    on.assert_value(w, [-1.0])


def test_clipnorm_acts_in_fit(on):
    """tensorflow#33929: TensorFlow 2.0 and 2.1 ignored it in fit."""
    x, y = regression()
    model = on.linear()
    first = model.get_weights()
    on.fit(on.compile(model, on.optimizer(SGD, 1.0, clipnorm=0.01)), x, y)
    expected = []
    for weight, gradient in zip(first, mse_gradients(first, x, y)):
        expected.append(weight - gradient * 0.01 / (gradient**2).sum() ** 0.5)
    assert_weights(model, expected)


def test_weight_decay_is_multiplied_by_the_learning_rate(on):
    """tfa#2282, keras#19051: w (1 - lr wd) on every version; TensorFlow Addons did not multiply by lr."""
    w = on.variable([1.0])
    on.step(on.optimizer(AdamW, 0.1, weight_decay=0.01), ([0.0], w))
    on.assert_value(w, [0.999])


def test_weight_decay_is_an_argument_of_every_optimizer(on):
    """keras#16517: w (1 - lr wd), then the update."""
    w = on.variable([1.0])
    on.step(on.optimizer(SGD, 0.1, weight_decay=0.5), ([2.0], w))
    on.assert_value(w, [0.95 - 0.2])


def test_weight_decay_can_be_a_callable(on):
    """keras#16517, tf-keras#614, tensorflow#55824: only a constant was taken."""
    w = on.variable([1.0])
    decays = [0.5]
    optimizer = on.optimizer(AdamW, 0.1, weight_decay=lambda: decays[0])
    on.step(optimizer, ([0.0], w))
    on.assert_value(w, [0.95])
    decays[0] = 1.0
    on.step(optimizer, ([0.0], w))
    on.assert_value(w, [0.95 * 0.9])


def test_weight_decay_can_be_a_schedule(on):
    """keras#16517, tensorflow#55824."""
    w = on.variable([1.0])
    schedule = on.keras.optimizers.schedules.ExponentialDecay(0.5, 1, 0.5)
    optimizer = on.optimizer(Adam, 0.1, weight_decay=schedule)
    on.step(optimizer, ([0.0], w))
    on.step(optimizer, ([0.0], w))
    on.assert_value(w, [0.95 * 0.975])


def test_variables_are_excluded_from_weight_decay_by_name(on):
    """keras#16201, transformers#4360, tfa#2650, tfa#2624: missing, or names differ between versions."""
    kernel, bias = on.variable([1.0], name="dense/kernel"), on.variable([1.0], name="dense/bias")
    optimizer = on.optimizer(AdamW, 0.1, weight_decay=0.5)
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    on.step(optimizer, ([0.0], kernel), ([0.0], bias))
    on.assert_value(kernel, [0.95])
    on.assert_value(bias, [1.0])


@pytest.mark.parametrize("names, words", [("bias", "a list of patterns"), (3, "a list of patterns"), (["("], "no regular")])
def test_a_wrong_exclusion_is_refused(on, names, words):
    """A string would be a list of letters, which are in nearly every name."""
    optimizer = on.optimizer(AdamW, 0.1)
    with pytest.raises(ArgumentError, match=words):
        optimizer.exclude_from_weight_decay(var_names=names)


def test_variables_are_excluded_from_weight_decay_by_identity(on):
    """keras#16201: two variables of one name."""
    kept, decayed = on.variable([1.0], name="w"), on.variable([1.0], name="w")
    optimizer = on.optimizer(SGD, 0.1, weight_decay=0.5)
    optimizer.build([kept, decayed])
    optimizer.exclude_from_weight_decay(var_list=[kept])
    on.step(optimizer, ([0.0], kept), ([0.0], decayed))
    on.assert_value(kept, [1.0])
    on.assert_value(decayed, [0.95])


def test_a_layers_bias_is_excluded_in_fit(on):
    """tfa#2624: the pattern finds the bias of a Dense layer on each Keras."""
    x, y = regression()
    model = on.linear()
    optimizer = on.optimizer(SGD, 0.1, weight_decay=0.5)
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    first = model.get_weights()
    on.fit(on.compile(model, optimizer), x, y)
    expected = co.run_reference(
        SGD, first, [mse_gradients(first, x, y)], learning_rate=0.1, weight_decay=0.5, exclude_from_weight_decay=(1,)
    )
    assert_weights(model, expected[-1])
