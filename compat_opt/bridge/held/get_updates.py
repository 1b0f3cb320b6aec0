"""Classes of multi-backend Keras: ``get_updates(loss, params)`` writes the whole step as a graph, once."""

import tensorflow as tf

from compat_opt.bridge.counters import kept
from compat_opt.bridge.frameworks import own_classes
from compat_opt.bridge.held._held import HeldOptimizer, inner_optimizers
from compat_opt.errors import UnsupportedError


class Held(HeldOptimizer):
    """An optimizer whose get_updates is traced once, with the gradients as inputs."""

    generation = "get_updates"

    def __init__(self, optimizer):
        super().__init__(optimizer)
        self._made = []

    @staticmethod
    def prepared(cls):
        """The class to make instances of: its base's get_gradients gives the model's gradients."""
        base = next(b for b in cls.__mro__ if "get_updates" in vars(b) and b not in own_classes(cls))

        class Given(base):
            """The base for which the gradients are there already; it clips them as it always did."""

            _given = None

            def get_gradients(self, loss, params):
                return _clipped(self, [self._given[id(param)] for param in params])

        return type(cls.__name__, (cls, Given), {"__module__": cls.__module__})

    def build(self, variables):
        """Nothing: the program of a set of variables makes their state."""
        known = {id(variable) for variable in self.model_variables}
        new = [variable for variable in variables if id(variable) not in known]
        if new and self.model_variables:
            raise UnsupportedError(
                "%s keeps one state for the variables of its first step." % type(self.optimizer).__name__,
                "the %d variables it was built with" % len(self.model_variables),
                "%d more" % len(new),
                "Make a new optimizer, or build it with all variables first.",
            )
        if new:
            self.model_variables = list(variables)
            self._program = self._trace_updates(self.model_variables)

    def _trace_updates(self, variables):
        def updates(*gradients):
            asked, inside = [], []

            def creator(next_creator, **kwargs):
                if inside:
                    return next_creator(**kwargs)
                asked.append(kwargs)
                if len(asked) > len(self._made):  # tf.function may trace twice: the second time gets the same ones
                    inside.append(True)
                    with tf.init_scope():
                        wanted = {name: kwargs.get(name) for name in ("initial_value", "trainable", "name", "dtype")}
                        self._made.append(tf.Variable(**wanted))
                    inside.clear()
                return self._made[len(asked) - 1]

            given = {id(variable): gradient for variable, gradient in zip(variables, gradients)}
            self.optimizer._given = given
            for inner in inner_optimizers(self.optimizer):
                inner.get_gradients = lambda loss, params: _clipped(inner, [given[id(param)] for param in params])
            counters = [each.iterations for each in [self.optimizer] + inner_optimizers(self.optimizer)]
            with tf.variable_creator_scope(creator), kept(counters):
                self.optimizer.get_updates(None, list(variables))
            self.optimizer._given = None

        self.kept_trace = tf.function(updates, autograph=False)
        return self.kept_trace.get_concrete_function(
            *[tf.TensorSpec(variable.shape, variable.dtype) for variable in variables]
        )

    def apply(self, pairs, aggregate=True):
        """Run the traced step."""
        given = {id(variable): gradient for gradient, variable in pairs if gradient is not None}
        missing = [v.name for v in self.model_variables if id(v) not in given]
        if missing:
            raise UnsupportedError(
                "%s updates all variables of its first step together, and some have no gradient now."
                % type(self.optimizer).__name__,
                "a gradient for each",
                "none for %s" % ", ".join(missing),
                "Freeze these variables before the optimizer is built.",
            )
        self._program(*[tf.cast(tf.convert_to_tensor(given[id(v)]), v.dtype) for v in self.model_variables])

    def state(self):
        """The variables that the constructor and the program made."""
        found = super().state()
        seen = {id(value) for value in found.values()} | {id(v) for v in self.model_variables}
        for variable in self._made:
            if id(variable) not in seen:
                found["state_%d" % len(found)] = variable
        return found

    def hypers(self):
        """Attributes that are scalar variables."""
        return {n: v for n, v in vars(self.optimizer).items() if isinstance(v, tf.Variable) and not v.shape.rank}

    @property
    def iterations(self):
        """The variable that counts steps."""
        return self.optimizer.iterations


def _clipped(optimizer, gradients):
    norm, value = getattr(optimizer, "clipnorm", None), getattr(optimizer, "clipvalue", None)
    if norm is not None and norm > 0:
        gradients = [tf.clip_by_norm(gradient, norm) for gradient in gradients]
    if value is not None and value > 0:
        gradients = [tf.clip_by_value(gradient, -value, value) for gradient in gradients]
    return gradients
