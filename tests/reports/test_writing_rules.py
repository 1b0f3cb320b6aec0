"""Reports on custom optimizers that stop working with another TensorFlow: a rule is written once."""

import compat_opt as co
from compat_opt.rules import SGD


class Momentum(co.UpdateRule):
    """Momentum as in the reports: m = 0.9 m + g; w -= 0.1 m."""

    learning_rate = co.Hyper(0.1)
    momentum = co.Hyper(0.9)
    trace = co.Slot()

    def update(self, grad, var, slots, hyper, ops):
        trace = hyper.momentum * slots.trace + grad
        return var - hyper.learning_rate * trace, {"trace": trace}


class Factored(co.UpdateRule):
    """Plain descent that remembers the mean gradient of each row and of each column."""

    learning_rate = co.Hyper(1.0)
    row = co.Slot(shape=lambda shape: shape[:1])
    column = co.Slot(shape=lambda shape: shape[1:])

    def update(self, grad, var, slots, hyper, ops):
        means = {"row": ops.mean(grad, axis=1), "column": ops.mean(grad, axis=0)}
        return var - hyper.learning_rate * grad, means


class BySign(co.UpdateRule):
    """A rule that knows dense gradients only: w -= sign(g) |g|."""

    def update(self, grad, var, slots, hyper, ops):
        return var - ops.sign(grad) * ops.abs(grad), {}


def test_a_custom_momentum_rule_gives_the_same_two_steps_everywhere(on):
    """tensorflow#59654, tensorflow#62021, keras#19965: written for one base class, it died on the next."""
    w = on.variable([1.0, 2.0])
    optimizer = on.optimizer(Momentum)
    for _ in range(2):
        on.step(optimizer, ([1.0, 2.0], w))
    on.assert_value(w, [0.71, 1.42])
    on.assert_value(optimizer.get_slot(w, "trace"), [1.9, 3.8])


def test_a_slot_can_have_another_shape_than_its_variable(on):
    """tensorflow#41675: add_slot took no shape before TensorFlow 2.5."""
    w = on.variable([[1.0] * 3] * 2)
    optimizer = on.optimizer(Factored)
    on.step(optimizer, ([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]], w))
    on.assert_value(w, [[0.0, -1.0, -2.0], [-2.0, -3.0, -4.0]])
    on.assert_value(optimizer.get_slot(w, "row"), [2.0, 4.0])
    on.assert_value(optimizer.get_slot(w, "column"), [2.0, 3.0, 4.0])


def test_a_rule_for_dense_gradients_trains_an_embedding(on):
    """AdaMod-tf#1, keras-radam#19, Adan#13: NotImplementedError for IndexedSlices up to 2.10."""
    w = on.variable([[0.0]] * 3)
    on.step(on.optimizer(BySign), (on.rows([[1.0], [1.0], [1.0]], [0, 0, 2], [3, 1]), w))
    on.assert_value(w, [[-2.0], [0.0], [-1.0]])


def test_minimize_exists_everywhere(on):
    """tensorcircuit#110: minimize() is gone in Keras 3."""
    w = on.variable(1.0)
    on.optimizer(SGD, 0.25).minimize(lambda: w * w, [w])
    on.assert_value(w, 0.5)
