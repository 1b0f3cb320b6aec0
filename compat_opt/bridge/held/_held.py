"""What a host needs of the legacy optimizer that it holds, whatever API that was written for."""

import contextlib

import tensorflow as tf

from compat_opt.bridge.frameworks import own_classes
from compat_opt.errors import UnsupportedError

#: Starts of the names of attributes in which TensorFlow keeps track of others.
TRACKING = ("_self_", "_unconditional_")


class HeldOptimizer:
    """A legacy optimizer on its real base, which updates the host's variables.

    Attributes:
        optimizer: the legacy optimizer.
        generation: the API that it was written for.
        gradients_given: whether apply() stands for minimize(), so that gradient hooks have to run in it.
    """

    generation = None
    gradients_given = False

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.model_variables = []
        self._traced = set()

    # What each API does in its own way

    def make_state(self, variables):
        """Make the state of model variables (tf.Variables) in eager mode, before the first step."""

    def apply(self, pairs, aggregate=True):
        """One step for [(gradient, tf.Variable)]."""

    def hypers(self):
        """{name: value} of the hyperparameters that are variables."""
        return {}

    # What is the same

    def build(self, variables):
        """Make the state of model variables that are new."""
        known = {id(variable) for variable in self.model_variables}
        new = [variable for variable in variables if id(variable) not in known]
        if not new:
            return
        self.model_variables += new
        with tf.init_scope():
            self.make_state(self.model_variables)
            self._check_first_values()
            if self.makes_state_in_steps():
                self._trace(self.model_variables)

    def _check_first_values(self):
        """Refuse state that was made from variables which the step that is being compiled makes, too.

        Keras 3 makes those of a model without an input shape there; they have no value before the step runs.
        """
        empty = [name for name, value in self.state().items() if value.shape.num_elements() == 0]
        if empty and all(variable.shape.num_elements() for variable in self.model_variables):
            raise UnsupportedError(
                "%s takes first values of its state from the model's variables, and these have none yet."
                % type(self.optimizer).__name__,
                "a model that is built before its first step",
                "state %s" % ", ".join(empty),
                "Give the model an Input, or call model.build(input_shape), before fit.",
            )

    def makes_state_in_steps(self):
        """Whether the legacy code may make variables that only a step makes."""
        overrides = any("apply_gradients" in vars(base) for base in own_classes(type(self.optimizer)))
        return overrides or bool(inner_optimizers(self.optimizer))

    def _trace(self, variables):
        """Trace a step without running it: whatever variables it makes then have their first values."""
        gradients = [tf.zeros(variable.shape, variable.dtype) for variable in variables]

        def step(*gradients):
            self.apply(list(zip(gradients, variables)))

        strategy = tf.distribute.get_strategy()
        if tf.distribute.has_strategy() and tf.distribute.in_cross_replica_context():
            traced = tf.function(lambda *g: strategy.run(step, args=g), autograph=False)
        else:
            traced = tf.function(step, autograph=False)
        self.kept_trace = traced
        traced.get_concrete_function(*gradients)

    def state(self):
        """{name: tf.Variable} of all state, in an order that construction alone decides."""
        found, seen = {}, {id(variable) for variable in self.model_variables}
        for name, value in _state_of(self.optimizer, seen):
            if id(value) not in seen and type(value).__name__ != "_UnreadVariable":  # what assign() returns in a graph
                seen.add(id(value))
                found[_unused(name, found)] = value
        return found

    @property
    def iterations(self):
        """The variable that counts steps."""
        return self.optimizer.iterations

    @property
    def rate_name(self):
        """The attribute with the learning rate; the oldest classes have "lr" only."""
        return "learning_rate" if hasattr(self.optimizer, "learning_rate") else "lr"

    def get_slot(self, variable, name):
        """A slot's tf.Variable."""
        return self.optimizer.get_slot(variable, name)


def is_optimizer(value):
    """Whether a value is a TensorFlow or Keras optimizer."""
    return hasattr(value, "apply_gradients") or hasattr(value, "get_updates")


def inner_optimizers(optimizer):
    """The optimizers that an optimizer keeps in attributes, also in lists and dicts."""
    found = []
    for name, value in vars(optimizer).items():
        if not name.startswith(TRACKING):
            found += [inner for inner in _flat([value]) if is_optimizer(inner) and not isinstance(inner, (type, tf.Module))]
    return found


def _flat(values):
    for value in values:
        if isinstance(value, dict):
            for inner in _flat(value.values()):
                yield inner
        elif isinstance(value, (list, tuple, set)) and not hasattr(value, "_fields"):
            for inner in _flat(value):
                yield inner
        else:
            yield value


def _state_of(optimizer, seen):
    """(name, variable) of one optimizer and of those inside of it."""
    if id(optimizer) in seen:
        return
    seen.add(id(optimizer))
    count = getattr(optimizer, "iterations", None)
    if isinstance(count, tf.Variable):
        yield "iterations", count
    for name, value in sorted(getattr(optimizer, "_hyper", {}).items()):
        if isinstance(value, tf.Variable):
            yield name, value
    listed = getattr(optimizer, "weights", None) or getattr(optimizer, "variables", ())
    listed = listed() if callable(listed) else listed
    for value in listed:
        if isinstance(value, tf.Variable):
            yield value.name.split(":")[0], value
    for name, attribute in vars(optimizer).items():
        if name.startswith(TRACKING):
            continue
        for value in _flat([attribute]):
            if isinstance(value, tf.Variable):
                yield name.lstrip("_"), value
    for inner in inner_optimizers(optimizer):
        for item in _state_of(inner, seen):
            yield item


def _unused(name, taken):
    unused, number = name, 1
    while unused in taken:
        unused, number = "%s_%d" % (name, number), number + 1
    return unused


@contextlib.contextmanager
def named(variables, names):
    """Model variables carry these names while legacy code runs, whose rules may go by name.

    Keras 3 names its tf.Variables "kernel"; Keras 2 named them "dense/kernel:0".
    """
    renamed = []
    for variable, name in zip(variables, names):
        for component in getattr(variable, "values", None) or (variable,):
            if hasattr(component, "_handle_name"):
                renamed.append((component, component._handle_name))
                component._handle_name = name + ":0"
    try:
        yield
    finally:
        for component, name in reversed(renamed):
            component._handle_name = name
