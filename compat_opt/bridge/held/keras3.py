"""Keras 3 classes, on their real base, in a Keras 2 model."""

from compat_opt.bridge.held._held import HeldOptimizer


class Held(HeldOptimizer):
    """A Keras 3 optimizer on its real base."""

    generation = "keras3"

    @staticmethod
    def prepared(cls):
        """The class to make instances of: the class itself."""
        return cls

    def make_state(self, variables):
        """Its own build."""
        if not self.optimizer.built:
            self.optimizer.build(variables)
            self.optimizer.built = True

    def apply(self, pairs, aggregate=True):
        """Its own apply_gradients."""
        return self.optimizer.apply_gradients(pairs)

    def hypers(self):
        """The learning rate, a variable or a schedule."""
        rate = self.optimizer._learning_rate
        return {"learning_rate": getattr(rate, "value", rate)}

    def state(self):
        """The tf.Variables inside of its variables."""
        found = {}
        for variable in self.optimizer.variables:
            found[variable.path] = variable.value
        return found

    @property
    def iterations(self):
        """The tf.Variable that counts steps."""
        return self.optimizer.iterations.value

    def get_slot(self, variable, name):
        """A slot's tf.Variable: the attribute that lists it by variable."""
        slots = getattr(self.optimizer, name, None)
        if slots is None:
            slots = getattr(self.optimizer, "_" + name)
        return slots[self.optimizer._get_variable_index(variable)].value
