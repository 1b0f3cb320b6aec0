"""Gradients with annealed noise."""

from compat_opt.spec import Hyper, checks
from compat_opt.transforms._transform import on_gradient, transform


@transform
def noisy_gradient(rule, noise_eta=0.01, noise_gamma=0.55, noise_seed=1):
    """Add normal noise to gradients, whose variance falls with the steps.

    variance = noise_eta / (1 + t)^noise_gamma
    grad = grad + sqrt(variance) * standard normal numbers

    Args:
        rule: an UpdateRule subclass.
        noise_eta: scale of the variance. Default 0.01 (paper; it tries 0.01, 0.3 and 1).
        noise_gamma: how fast the variance falls. Default 0.55 (paper).
        noise_seed: of the noise, an int. Default 1 (this package).

    Differs from:
        paper: no difference, t counting from 1 at the first step.
        optax: no difference but its random numbers; t counts from 1 there too.

    Source:
        Neelakantan et al., "Adding Gradient Noise Improves Learning for Very Deep Networks", 2015,
        https://arxiv.org/abs/1511.06807
    """

    def change(grad, var, hyper, ops):
        spread = ops.sqrt(hyper.noise_eta / (1 + hyper.step) ** hyper.noise_gamma)
        return grad + spread * ops.random_normal(grad.shape, seed=hyper.noise_seed)

    return on_gradient(
        rule,
        change,
        noise_eta=Hyper(noise_eta, check=checks.non_negative),
        noise_gamma=Hyper(noise_gamma),
        noise_seed=Hyper(noise_seed, static=True),
    )
