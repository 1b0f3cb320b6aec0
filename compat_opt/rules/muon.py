"""Momentum, orthogonalized by Newton-Schulz iterations."""

from compat_opt.spec import Hyper, Slot, UpdateRule, checks


class Muon(UpdateRule):
    """Muon: orthogonalized momentum for matrices, Adam for every other shape.

    matrices:
    first_moment = momentum * first_moment + grad
    x = grad + momentum * first_moment if nesterov, else first_moment
    x = x / (||x|| + 1e-7), transposed so that it is wide
    ns_steps times: s = x x^T; x = muon_a * x + (muon_b * s + muon_c * s s) x
    var = var - learning_rate * rms_rate * sqrt(max(rows, columns)) * x
    other shapes:
    first_moment = adam_beta_1 * first_moment + (1 - adam_beta_1) * grad
    second_moment = adam_beta_2 * second_moment + (1 - adam_beta_2) * |grad|^2
    step_size = learning_rate * adam_lr_ratio * sqrt(1 - adam_beta_2^t) / (1 - adam_beta_1^t)
    var = var - step_size * first_moment / (sqrt(second_moment) + epsilon)

    Args:
        learning_rate: step size. Default 0.001 (Keras 3; authors 0.02).
        momentum: decay of the momentum of matrices. Default 0.95 (authors, Keras 3).
        nesterov: whether the direction looks ahead. Default True (authors, Keras 3).
        ns_steps: number of Newton-Schulz iterations. Default 5 (authors, Keras 3).
        muon_a: coefficient of x. Default 3.4445 (authors, Keras 3).
        muon_b: coefficient of (x x^T) x. Default -4.775 (authors, Keras 3).
        muon_c: coefficient of (x x^T)^2 x. Default 2.0315 (authors, Keras 3).
        rms_rate: root mean square of a full-rank step; None leaves the step as it is. Default
            0.2 (Liu et al., Keras 3).
        adam_lr_ratio: learning rate of other shapes over that of matrices. Default 1.0 (Keras 3).
        adam_beta_1: decay of Adam's momentum. Default 0.9 (Keras 3).
        adam_beta_2: decay of Adam's mean square. Default 0.999 (Keras 3).
        epsilon: added to Adam's root. Default 1e-7 (Keras 3).
        weight_decay: decay per unit of learning rate. Default 0.004 (Keras 3).

    Slots:
        first_moment: the variable's shape, compute dtype, zeros.
        second_moment: the variable's shape, compute dtype, zeros; not for matrices.

    Differs from:
        authors: bfloat16 iterations; momentum averaged (lerp) in later versions; the step scaled
            by sqrt(max(1, rows / columns)) instead of rms_rate; convolutions flattened.
        Keras 3: it has adam_weight_decay beside weight_decay,
            and gives variables to Adam by name (exclude_layers, exclude_embeddings).
        torch and optax: bfloat16 iterations in torch; both have rms_rate on request. optax
            has bias corrections in the look-ahead; without nesterov no difference.

    Source:
        Jordan et al., "Muon: An optimizer for hidden layers in neural networks", 2024,
        https://kellerjordan.github.io/posts/muon/; Liu et al., "Muon is Scalable for LLM
        Training", 2025, https://arxiv.org/abs/2502.16982
    """

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    momentum = Hyper(0.95, check=checks.unit_interval)
    nesterov = Hyper(True, static=True)
    ns_steps = Hyper(5, static=True, check=checks.positive)
    muon_a = Hyper(3.4445)
    muon_b = Hyper(-4.7750)
    muon_c = Hyper(2.0315)
    rms_rate = Hyper(0.2, static=True)
    adam_lr_ratio = Hyper(1.0, check=checks.non_negative)
    adam_beta_1 = Hyper(0.9, check=checks.unit_interval)
    adam_beta_2 = Hyper(0.999, check=checks.unit_interval)
    epsilon = Hyper(1e-7, check=checks.non_negative)
    weight_decay = Hyper(0.004, check=checks.non_negative)

    first_moment = Slot()
    second_moment = Slot(when=lambda rule, shape: len(shape) != 2)

    def prepare(self, shared, hyper, ops):
        correction_1 = 1 - hyper.adam_beta_1 ** hyper.step
        correction_2 = 1 - hyper.adam_beta_2 ** hyper.step
        rate = hyper.learning_rate * hyper.adam_lr_ratio
        return {"adam_step_size": rate * ops.sqrt(correction_2) / correction_1}

    def update(self, grad, var, slots, hyper, ops):
        if "second_moment" in slots:
            return self._adam(grad, var, slots, hyper, ops)
        momentum = hyper.momentum * slots.first_moment + grad
        direction = grad + hyper.momentum * momentum if self.nesterov else momentum
        step = self._orthogonalize(direction, hyper, ops)
        if self.rms_rate is not None:
            step = self.rms_rate * max(var.shape) ** 0.5 * step
        return var - hyper.learning_rate * step, {"first_moment": momentum}

    def _orthogonalize(self, x, hyper, ops):
        tall = x.shape[0] > x.shape[1]
        if tall:
            x = ops.matrix_transpose(x)
        x = x / (ops.vector_norm(x) + 1e-7)
        for _ in range(self.ns_steps):
            square = x @ ops.matrix_transpose(x)
            x = hyper.muon_a * x + (hyper.muon_b * square + hyper.muon_c * square @ square) @ x
        return ops.matrix_transpose(x) if tall else x

    def _adam(self, grad, var, slots, hyper, ops):
        beta_1, beta_2 = hyper.adam_beta_1, hyper.adam_beta_2
        first_moment = beta_1 * slots.first_moment + (1 - beta_1) * grad
        second_moment = beta_2 * slots.second_moment + (1 - beta_2) * ops.abs_square(grad)
        step = hyper.adam_step_size * first_moment / (ops.sqrt(second_moment) + hyper.epsilon)
        return var - step, {"first_moment": first_moment, "second_moment": second_moment}
