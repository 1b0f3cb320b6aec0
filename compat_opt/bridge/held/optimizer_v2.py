"""OptimizerV2 subclasses."""

from compat_opt.bridge.frameworks import own_classes
from compat_opt.bridge.held._held import HeldOptimizer
from compat_opt.errors import UnsupportedError

#: Hooks with which a class changes gradients before apply_gradients gets them.
GRADIENT_HOOKS = ("minimize", "_compute_gradients", "_get_gradients")


class Held(HeldOptimizer):
    """An OptimizerV2 optimizer."""

    generation = "optimizer_v2"

    @staticmethod
    def prepared(cls):
        """The class to make instances of: with a base that hands given gradients to gradient hooks."""
        if any(name in vars(base) for base in own_classes(cls) for name in GRADIENT_HOOKS):
            return type(cls.__name__, (cls, _given_gradients(cls)), {"__module__": cls.__module__})
        return cls

    def make_state(self, variables):
        """Counter, hyperparameters and slots, as the first apply_gradients makes them."""
        self.optimizer._create_all_weights(variables)

    def apply(self, pairs, aggregate=True):
        """The class's own apply_gradients; its own minimize, if that stands for fit and the class has gradient hooks."""
        options = {} if aggregate else {"experimental_aggregate_gradients": False}
        if not (self.gradients_given and isinstance(self.optimizer, GivenGradients)):
            return self.optimizer.apply_gradients(pairs, **options)
        self.optimizer._given = {variable.ref(): gradient for gradient, variable in pairs}
        self.optimizer._given_options = options
        try:
            return self.optimizer.minimize(_no_loss, [variable for _, variable in pairs])
        finally:
            self.optimizer._given = None

    def hypers(self):
        """The hyperparameters set by _set_hyper."""
        return dict(self.optimizer._hyper)


class GivenGradients:
    """Marks classes that `Held.prepared` made."""


def _no_loss():
    raise UnsupportedError(
        "A gradient hook of the legacy class computes the loss itself, and the model has computed the gradients already.",
        "a minimize, _compute_gradients or _get_gradients that calls the method it overrides",
        remedy="Train in a loop of your own that calls the legacy class's minimize().",
    )


def _given_gradients(cls):
    base = next(b for b in cls.__mro__ if "_resource_apply_dense" in vars(b) and b not in own_classes(cls))
    while "_compute_gradients" not in vars(base):
        base = base.__mro__[1]

    class Given(GivenGradients, base):
        """OptimizerV2 for which the gradients are there already."""

        _given = None
        _given_options = {}

        def minimize(self, loss, var_list, grad_loss=None, name=None, tape=None):
            if self._given is None:
                return super().minimize(loss, var_list, grad_loss=grad_loss, name=name, tape=tape)
            pairs = self._compute_gradients(loss, var_list=var_list, grad_loss=grad_loss, tape=tape)
            return self.apply_gradients(pairs, name=name, **self._given_options)

        def _compute_gradients(self, loss, var_list, grad_loss=None, tape=None):
            if self._given is None:
                return super()._compute_gradients(loss, var_list, grad_loss=grad_loss, tape=tape)
            return self._get_gradients(tape, loss, var_list, grad_loss)

        def _get_gradients(self, tape, loss, var_list, grad_loss=None):
            if self._given is None:
                return super()._get_gradients(tape, loss, var_list, grad_loss)
            return [(self._given[variable.ref()], variable) for variable in var_list]

    return Given
