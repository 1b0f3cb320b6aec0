"""OptimizerV2 subclasses."""

from compat_opt.bridge.frameworks import own_classes
from compat_opt.bridge.held._held import HeldOptimizer
from compat_opt.errors import UnsupportedError

#: Hooks with which a class changes gradients before apply_gradients gets them.
GRADIENT_HOOKS = ("_compute_gradients", "_get_gradients")


class Held(HeldOptimizer):
    """An OptimizerV2 optimizer."""

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
        """The class's own apply_gradients, after its own gradient hooks."""
        if self.gradients_given and isinstance(self.optimizer, GivenGradients):
            pairs = self._through_gradient_hooks(pairs)
        options = {} if aggregate else {"experimental_aggregate_gradients": False}
        return self.optimizer.apply_gradients(pairs, **options)

    def _through_gradient_hooks(self, pairs):
        self.optimizer._given = dict((variable.ref(), gradient) for gradient, variable in pairs)
        try:
            changed = self.optimizer._compute_gradients(None, [variable for _, variable in pairs])
        finally:
            left, self.optimizer._given = self.optimizer._given, None
        if left is not None:
            raise UnsupportedError(
                "%s computes gradients itself, and the model has computed them already." % type(self.optimizer).__name__,
                "a _compute_gradients that calls super()._compute_gradients()",
                remedy="Train in a loop of your own with the class's minimize().",
            )
        return changed

    def hypers(self):
        """The hyperparameters set by _set_hyper."""
        return dict(self.optimizer._hyper)


class GivenGradients:
    """Marks classes that `Held.prepared` made."""


def _given_gradients(cls):
    base = next(b for b in cls.__mro__ if "_resource_apply_dense" in vars(b) and b not in own_classes(cls))
    while "_compute_gradients" not in vars(base):
        base = base.__mro__[1]

    class Given(GivenGradients, base):
        """OptimizerV2 for which the gradients are there already."""

        def _compute_gradients(self, loss, var_list, grad_loss=None, tape=None):
            if loss is not None or self._given is None:
                return super()._compute_gradients(loss, var_list, grad_loss=grad_loss, tape=tape)
            return self._get_gradients(tape, loss, var_list, grad_loss)

        def _get_gradients(self, tape, loss, var_list, grad_loss=None):
            if loss is not None or self._given is None:
                return super()._get_gradients(tape, loss, var_list, grad_loss)
            given, self._given = self._given, None
            return [(given[variable.ref()], variable) for variable in var_list]

        _given = None

    return Given

