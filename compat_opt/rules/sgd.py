"""Stochastic gradient descent."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class SGD(UpdateRule):
    """SGD: gradient descent, with heavy-ball or Nesterov momentum.

    velocity = momentum * velocity - learning_rate * grad
    var = var + velocity
    nesterov: var = var + momentum * velocity - learning_rate * grad

    Args:
        learning_rate: step size. Default 0.01 (Keras).
        momentum: how much of the last step is kept; 0 keeps no slot. Default 0.0 (Keras).
        nesterov: whether the step looks ahead along the new velocity. Default False (Keras).

    Slots:
        velocity: the variable's shape, compute dtype, zeros; only if momentum is not 0.

    Differs from:
        paper: Polyak writes the momentum on the variable's last difference, which is the same
            for a constant learning rate; Nesterov's variable is the look-ahead point here.
        TF and Keras: no difference; they name the slot "momentum".
        torch and optax: the learning rate multiplies the velocity instead of the gradient, so a
            change of the learning rate acts on the whole velocity at once.

    Source:
        Polyak, "Some methods of speeding up the convergence of iteration methods", 1964,
        https://doi.org/10.1016/0041-5553(64)90137-5; Sutskever et al., "On the importance of
        initialization and momentum in deep learning", 2013,
        https://proceedings.mlr.press/v28/sutskever13.html
    """

    capabilities = ("complex",)

    learning_rate = Hyper(0.01, check=checks.non_negative)
    momentum = Hyper(0.0, check=checks.closed_unit_interval)
    nesterov = Hyper(False, static=True)

    velocity = Slot(when=lambda rule, shape: rule.momentum != 0)

    def update(self, grad, var, slots, hyper, ops):
        step = hyper.learning_rate * grad
        if "velocity" not in slots:
            return var - step, {}
        velocity = hyper.momentum * slots.velocity - step
        if self.nesterov:
            return var + hyper.momentum * velocity - step, {"velocity": velocity}
        return var + velocity, {"velocity": velocity}
