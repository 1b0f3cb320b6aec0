"""Adam with a second, slow momentum."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class AdEMAMix(UpdateRule):
    """AdEMAMix: Adam whose direction mixes a fast and a slow momentum.

    alpha_t = alpha * min(1, t / warmup_steps)
    beta_3_t = min(beta_3, exp(log(beta_1) * log(beta_3)
        / ((1 - t / warmup_steps) * log(beta_3) + t / warmup_steps * log(beta_1))))
    momentum = beta_1 * momentum + (1 - beta_1) * grad
    slow_momentum = beta_3_t * slow_momentum + (1 - beta_3_t) * grad
    velocity = beta_2 * velocity + (1 - beta_2) * |grad|^2
    root = sqrt(velocity / (1 - beta_2^t)) + epsilon
    var = var - learning_rate * (momentum / (1 - beta_1^t) + alpha_t * slow_momentum) / root

    Args:
        learning_rate: step size. Default 0.001 (paper).
        beta_1: decay of the fast momentum; not 0 with a warm-up. Default 0.9 (paper).
        beta_2: decay of the mean square. Default 0.999 (paper).
        beta_3: decay of the slow momentum. Default 0.9999 (paper).
        alpha: weight of the slow momentum. Default 5.0 (paper; its range is 4 to 10).
        epsilon: added to the root. Default 1e-8 (paper).
        warmup_steps: steps over which alpha and beta_3 rise; 0 is none. Default 0 (authors).

    Slots:
        momentum: the variable's shape, compute dtype, zeros.
        slow_momentum: the variable's shape, compute dtype, zeros.
        velocity: the variable's shape, compute dtype, zeros.

    Differs from:
        paper: no difference; it takes the number of training steps for the warm-up.
        authors' code: no difference.
        optax: alpha and beta_3 are given as schedules.

    Source:
        Pagliardini, Ablin and Grangier, "The AdEMAMix Optimizer: Better, Faster, Older", 2024,
        https://arxiv.org/abs/2409.03137, https://github.com/apple/ml-ademamix
    """

    capabilities = ("complex",)

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    beta_1 = Hyper(0.9, check=checks.unit_interval)
    beta_2 = Hyper(0.999, check=checks.unit_interval)
    beta_3 = Hyper(0.9999, check=checks.unit_interval)
    alpha = Hyper(5.0, check=checks.non_negative)
    epsilon = Hyper(1e-8, check=checks.non_negative)
    warmup_steps = Hyper(0, static=True, check=checks.non_negative)

    momentum = Slot()
    slow_momentum = Slot()
    velocity = Slot()

    def prepare(self, shared, hyper, ops):
        alpha, beta_3 = hyper.alpha, hyper.beta_3
        if self.warmup_steps:
            done = hyper.step / self.warmup_steps
            fast, slow = ops.log(hyper.beta_1), ops.log(hyper.beta_3)
            rising = ops.exp(fast * slow / ((1 - done) * slow + done * fast))
            alpha, beta_3 = alpha * ops.minimum(done, 1.0), ops.minimum(rising, beta_3)
        return {
            "slow_weight": alpha,
            "slow_beta": beta_3,
            "correction_1": 1 - hyper.beta_1 ** hyper.step,
            "correction_2": 1 - hyper.beta_2 ** hyper.step,
        }

    def update(self, grad, var, slots, hyper, ops):
        momentum = hyper.beta_1 * slots.momentum + (1 - hyper.beta_1) * grad
        slow_momentum = hyper.slow_beta * slots.slow_momentum + (1 - hyper.slow_beta) * grad
        velocity = hyper.beta_2 * slots.velocity + (1 - hyper.beta_2) * ops.abs_square(grad)
        direction = momentum / hyper.correction_1 + hyper.slow_weight * slow_momentum
        root = ops.sqrt(velocity / hyper.correction_2) + hyper.epsilon
        new_slots = {"momentum": momentum, "slow_momentum": slow_momentum, "velocity": velocity}
        return var - hyper.learning_rate * direction / root, new_slots
