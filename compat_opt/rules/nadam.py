"""Adam with Nesterov momentum."""

from compat_opt.spec import Hyper, Shared, Slot, UpdateRule, checks


class Nadam(UpdateRule):
    """Nadam: Adam with Nesterov momentum under a warming schedule.

    mu_t = beta_1 * (1 - 0.5 * 0.96^(t * schedule_decay))
    momentum_product = momentum_product * mu_t
    momentum = beta_1 * momentum + (1 - beta_1) * grad
    velocity = beta_2 * velocity + (1 - beta_2) * |grad|^2
    m_hat = mu_(t+1) * momentum / (1 - momentum_product * mu_(t+1))
        + (1 - mu_t) * grad / (1 - momentum_product)
    var = var - learning_rate * m_hat / (sqrt(velocity / (1 - beta_2^t)) + epsilon)

    Args:
        learning_rate: step size. Default 0.001 (Keras; torch 0.002).
        beta_1: decay of the momentum. Default 0.9 (Keras).
        beta_2: decay of the mean square. Default 0.999 (Keras).
        epsilon: added to the root. Default 1e-7 (Keras).
        schedule_decay: how fast mu_t rises to beta_1. Default 1.0 (Keras from 2.11).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros.
        momentum_product: one scalar per optimizer, float64, 1.

    Differs from:
        paper: leaves the schedule of mu open; it suggests schedule_decay=0.004.
        TF 2.0-2.15 (OptimizerV2): schedule_decay=0.004; refuses learning-rate schedules.
        Keras from 2.11: no difference.
        torch: schedule_decay is momentum_decay=0.004; otherwise the same. optax: constant mu.

    Source:
        Dozat, "Incorporating Nesterov Momentum into Adam", 2016,
        https://openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ
    """

    capabilities = ("complex",)

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    epsilon = Hyper(1e-7, check=checks.non_negative)
    schedule_decay = Hyper(1.0, check=checks.non_negative)

    momentum = Slot()
    velocity = Slot()
    momentum_product = Shared(1.0, dtype="float64")

    def prepare(self, shared, hyper, ops):
        mu = hyper.beta_1 * (1 - 0.5 * 0.96 ** (hyper.schedule_decay * hyper.step))
        mu_next = hyper.beta_1 * (1 - 0.5 * 0.96 ** (hyper.schedule_decay * (hyper.step + 1)))
        product = shared.momentum_product * mu
        return {
            "momentum_product": product,
            "momentum_weight": mu_next / (1 - product * mu_next),
            "gradient_weight": (1 - mu) / (1 - product),
            "correction": 1 - hyper.beta_2 ** hyper.step,
        }

    def update(self, grad, var, slots, hyper, ops):
        momentum = hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * grad
        velocity = hyper.beta_2 * slots.velocity + (1 - hyper.beta_2) * ops.abs_square(grad)
        direction = hyper.momentum_weight * momentum + hyper.gradient_weight * grad
        root = ops.sqrt(velocity / hyper.correction) + hyper.epsilon
        new_var = var - hyper.learning_rate * direction / root
        return new_var, {"momentum": momentum, "velocity": velocity}
