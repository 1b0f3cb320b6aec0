"""tf.distribute's parameter servers: variables on several devices, workers that don't wait for each other.

All other strategies keep a whole copy of the variables on each device, and one `extended.update`
makes the step on each of them. Here a step belongs to one worker, which computes the scalars once;
what it does with a variable happens on the device that holds the variable and its slots.
"""

import contextlib

import tensorflow as tf

from compat_opt.adapters.tensorflow_lowering import TensorFlowLowering
from compat_opt.errors import GradientError, UnsupportedError


def _classes():
    """The public strategy classes that have parameter servers; the names differ between versions."""
    modules = (tf.distribute, tf.distribute.experimental, tf.compat.v1.distribute.experimental)
    found = [getattr(module, "ParameterServerStrategy", None) for module in modules]
    return tuple(cls for cls in found if cls is not None)


@contextlib.contextmanager
def in_strategy_of(variable):
    """The scope of the strategy that made `variable`, where there is none around the call.

    State that is built or written outside of the scope would be one copy for all replicas otherwise.
    """
    owner = getattr(variable, "distribute_strategy", None) or getattr(variable, "_distribute_strategy", None)
    if owner is None or tf.distribute.has_strategy():
        yield
        return
    with owner.scope():
        yield


def has_parameter_servers(strategy):
    """Whether the strategy puts variables on parameter servers."""
    return isinstance(strategy, _classes())


def check(core):
    """Refuse what workers that don't wait for each other can't do.

    Raises:
        UnsupportedError: gradients are to be accumulated.
    """
    if core.micro_step is not None:
        raise UnsupportedError(
            "Gradients can't be accumulated under ParameterServerStrategy: its workers don't wait for each other, "
            "and each would count the others' calls.",
            "gradient_accumulation_steps=None",
            "gradient_accumulation_steps=%r" % core.options.gradient_accumulation_steps,
            "Use larger batches, or another strategy.",
            core.layout.describe(),
        )


def refuse_sharded(variable):
    """Refuse a ShardedVariable as a whole; its pieces are variables like others.

    Raises:
        GradientError: it is one.
    """
    if isinstance(getattr(variable, "variables", None), (list, tuple)):
        raise GradientError(
            "Variable %s is kept in pieces." % variable.name,
            "its pieces, each with its gradient",
            "a %s" % type(variable).__name__,
            "Give variable.variables to GradientTape.gradient and to apply_gradients.",
        )


def on(variable):
    """Where what concerns a variable is computed."""
    return tf.device(variable.device)


def count(iterations):
    """Count one step: no worker's step is lost when two count at once."""
    return iterations.assign_add(1, read_value=False)


def adds(core, index):
    """Whether a variable's update is written by adding the difference.

    An update that another worker made since the value was read is then kept. Where a value as such
    is meant (by a constraint, or by an average that overwrites), it is assigned.
    """
    return core.layout.constraint(core.variables[index]) is None and not core.options.ema_overwrite_frequency


class PlacedLowering(TensorFlowLowering):
    """Computes each variable's part on its device; only variables of one device are joined."""

    def __init__(self, core, items, choices, parts, variables):
        super().__init__(core, items, choices, parts)
        self._variables = variables

    def place(self, position):
        """The device of the variable."""
        return on(self._variables[position])

    def groups(self, items):
        """The groups, each cut into the parts that lie on one device."""
        found = []
        for positions in super().groups(items):
            by_device = {}
            for position in positions:
                device = self._variables[position].device
                if device not in by_device:
                    by_device[device] = []
                    found.append(by_device[device])
                by_device[device].append(position)
        return found
