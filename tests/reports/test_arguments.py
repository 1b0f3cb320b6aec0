"""Reports on constructor arguments and on what methods accept."""

import numpy as np
import pytest

from compat_opt.adapters import compile_rule
from compat_opt.rules import SGD, Adam
from on_target import own_weights, regression


def test_lr_is_learning_rate(on):
    """keras#19025, keras-io#1521, keras-io#1441: SGD(lr=0.5) trained with 0.01, silently."""
    w = on.variable(1.0)
    with pytest.warns(UserWarning, match="learning_rate"):
        optimizer = on.optimizer(SGD, lr=0.5)
    on.step(optimizer, (1.0, w))
    on.assert_value(w, 0.5)


def test_decay_divides_the_learning_rate(on):
    """HyperTS#71, aXeleRate#66, rstudio/keras3#1352: decay= was refused, or accepted and ignored."""
    w = on.variable(0.0)
    with pytest.warns(UserWarning, match="decay"):
        optimizer = on.optimizer(SGD, learning_rate=1.0, decay=1.0)
    for _ in range(3):
        on.step(optimizer, (1.0, w))
    on.assert_value(w, -(1 + 1 / 2 + 1 / 3))


def test_lr_attribute_reads_and_writes(on):
    """tensorflow/docs#2328, GradientAccumulator#133: on Keras 3 opt.lr = x trained on at the old rate."""
    w = on.variable(1.0)
    optimizer = on.optimizer(SGD, 0.1)
    optimizer.lr = 0.25
    on.assert_value(optimizer.lr, 0.25)
    on.assert_value(optimizer.learning_rate, 0.25)
    on.step(optimizer, (1.0, w))
    on.assert_value(w, 0.75)


def test_variables_is_a_property_and_a_method(on):
    """keras#16983, tf-keras#442: a method, a list or a property, by version."""
    w = on.variable(1.0)
    optimizer = on.optimizer(Adam, 0.1)
    on.step(optimizer, (1.0, w))
    listed, called = list(optimizer.variables), list(optimizer.variables())
    assert len(listed) == len(called) and all(a is b for a, b in zip(listed, called))
    # iteration, four hyperparameters with weight_decay among them, momentum, velocity
    assert [np.shape(on.value(v)) for v in listed][-2:] == [(), ()]
    on.assert_value(listed[0], 1)
    on.assert_value(listed[-2], 0.1)


def test_apply_gradients_takes_the_keywords_of_every_version(on):
    """tfa#1645: name= or experimental_aggregate_gradients= is refused by some versions."""
    w = on.variable(1.0)
    optimizer = on.optimizer(SGD, 0.5)
    optimizer.apply_gradients(
        [(on.gradient(1.0), w)], name="step", experimental_aggregate_gradients=True
    )
    on.assert_value(w, 0.5)
    optimizer.apply_gradients([(on.gradient(1.0), w)], skip_gradients_aggregation=False)
    on.assert_value(w, 0.0)


def test_an_override_of_apply_gradients_works_in_fit(on):
    """tfa#1267, transformers#6560, tfa#1920, models#10319: an override without the newest keyword broke."""
    calls = []

    class Doubling(compile_rule(SGD, on.target)):
        def apply_gradients(self, grads_and_vars, name=None):
            calls.append(name)
            return super().apply_gradients([(g * 2.0, v) for g, v in grads_and_vars], name=name)

    x, y = regression()
    plain, doubled = on.linear(), on.linear()
    on.fit(on.compile(plain, on.optimizer(SGD, 0.2)), x, y)
    on.fit(on.compile(doubled, Doubling(0.1)), x, y)
    if not calls:
        pytest.skip("no call of Optimizer.apply_gradients: this Keras trains through apply() or stateless_apply()")
    for actual, expected in zip(own_weights(doubled), own_weights(plain)):
        on.assert_value(actual, expected)
