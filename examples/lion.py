"""Lion, written once as a rule: ``compat-opt check examples/lion.py``."""

import compat_opt as co


class Lion(co.UpdateRule):
    """Lion (Chen et al., 2023, arXiv:2302.06675): the sign of an interpolated momentum."""

    learning_rate = co.Hyper(1e-3)  # as Keras 3; the paper has 1e-4, for larger nets
    beta_1 = co.Hyper(0.9)
    beta_2 = co.Hyper(0.99)
    momentum = co.Slot()  # zeros; the variable's shape and dtype

    def update(self, grad, var, slots, hyper, ops):
        direction = ops.sign(hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * grad)
        momentum = hyper.beta_2 * slots.momentum + (1 - hyper.beta_2) * grad
        return var - hyper.learning_rate * direction, {"momentum": momentum}
