"""Stochastic gradient Langevin dynamics."""

from compat_opt.spec import Hyper, UpdateRule, checks


class SGLD(UpdateRule):
    """SGLD: gradient steps with noise, whose iterates sample from the posterior.

    noise = standard normal numbers, of seed, step and variable
    var = var - learning_rate / 2 * grad + sqrt(learning_rate * temperature) * noise

    Args:
        learning_rate: step size, the paper's epsilon; lower it by a schedule. Default 0.001 (this
            package).
        temperature: the noise's variance over the posterior's; 1 samples. Default 1.0 (paper).
        seed: of the noise, an int. Default 0 (this package).

    Slots:
        none: no state.

    Differs from:
        paper: no difference, when the loss is the negative log posterior of the whole data set
            (a mean over examples times their number).
        TensorFlow Probability: its preconditioned form (pSGLD) scales both terms; at
            preconditioner_decay_rate=1 the same formula.

    Source:
        Welling and Teh, "Bayesian Learning via Stochastic Gradient Langevin Dynamics", 2011,
        https://www.stats.ox.ac.uk/~teh/research/compstats/WelTeh2011a.pdf
    """

    capabilities = ("random",)

    learning_rate = Hyper(1e-3, check=checks.non_negative)
    temperature = Hyper(1.0, check=checks.non_negative)
    seed = Hyper(0, static=True)

    def prepare(self, shared, hyper, ops):
        return {"spread": ops.sqrt(hyper.learning_rate * hyper.temperature)}

    def update(self, grad, var, slots, hyper, ops):
        noise = ops.random_normal(var.shape, seed=self.seed)
        return var - hyper.learning_rate / 2 * grad + hyper.spread * noise, {}
