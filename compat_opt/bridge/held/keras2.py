"""Classes with Keras 2's ``update_step(gradient, variable)``."""

from compat_opt.bridge.held._held import HeldOptimizer


class Held(HeldOptimizer):
    """A Keras 2 optimizer on its real base."""

    generation = "keras2"

    @staticmethod
    def prepared(cls):
        """The class to make instances of: the class itself."""
        return cls

    def make_state(self, variables):
        """Its own build."""
        self.optimizer.build(variables)

    def apply(self, pairs, aggregate=True):
        """Its own apply_gradients."""
        options = {} if aggregate else {"skip_gradients_aggregation": True}
        return self.optimizer.apply_gradients(pairs, **options)

    def hypers(self):
        """The learning rate: the one hyperparameter of Keras 2 that is a variable, or a schedule."""
        return {"learning_rate": self.optimizer._learning_rate}

    def get_slot(self, variable, name):
        """A slot's tf.Variable: the attribute that lists it by variable."""
        slots = getattr(self.optimizer, name, None)
        if slots is None:
            slots = getattr(self.optimizer, "_" + name)
        return slots[self.optimizer._index_dict[self.optimizer._var_key(variable)]]
