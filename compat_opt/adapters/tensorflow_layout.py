"""How the two Keras 2 generations make, name and read variables."""

import contextlib

import numpy as np
import tensorflow as tf

from compat_opt.adapters import tensorflow_distribution
from compat_opt.adapters.slots import first_array
from compat_opt.adapters.tensorflow_places import Places
from compat_opt.errors import GradientError, UnsupportedError
from compat_opt.ops.tensorflow_executor import TensorFlowExecutor

_EXECUTOR = TensorFlowExecutor()


def exact(value, dtype):
    """`value` as a tensor of `dtype`; a Python number is not rounded to float32 on the way."""
    if hasattr(value, "dtype"):
        return tf.cast(value, dtype)
    return tf.convert_to_tensor(value, dtype)


class TensorFlowLayout:
    """Variables are tf.Variables.

    Args:
        optimizer: the compiled optimizer whose state this is.
    """

    scalar_dtype = "float64"

    #: Whether a compiled step sees only those variables that are passed to it.
    steps_are_stateless = False

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.prefix = optimizer._compat_name
        self.node = tf.Module(name="compat_opt_state")
        self.node.places = Places(self)
        self._strategy = tf.distribute.get_strategy()
        #: {number of a variable: names of the slots that the first step reads from it}, see `_settled`.
        self.unstarted = {}

    def describe(self):
        """Target and versions, for error messages."""
        return type(self.optimizer).target.describe()

    def returns_ops(self):
        """Whether a step has to be returned as an op: in TF1-style graphs."""
        with tf.init_scope():
            return not tf.executing_eagerly()

    # Making variables

    def _make(self, name, initial, dtype, colocate=None, once=False):
        extra = {}
        if once:
            extra["aggregation"] = tf.VariableAggregation.ONLY_FIRST_REPLICA
        with tf.init_scope(), contextlib.ExitStack() as stack:
            if colocate is not None:
                stack.enter_context(tensorflow_distribution.in_strategy_of(colocate))
                extended = tf.distribute.get_strategy().extended
                stack.enter_context(extended.colocate_vars_with(colocate))
            return tf.Variable(initial, name=name, dtype=dtype, trainable=False, **extra)

    def scalar(self, name, first, dtype):
        """A scalar variable of the optimizer."""
        variable = self._make("%s/%s" % (self.prefix, name), first, dtype, once=True)
        setattr(self.node, name, variable)
        return variable

    def counter(self, name, bits):
        """An integer variable that starts at 0."""
        return self.scalar(name, 0, "int%d" % bits)

    def slot(self, plan, variable, index):
        """A slot of a model variable, placed beside it."""
        plan = self._settled(plan, variable, index)
        if plan.start == "fill":
            initial = lambda: tf.fill(plan.shape, exact(plan.value, plan.dtype))  # noqa: E731
        elif plan.start == "variable":
            initial = lambda: tf.cast(self._first_value(variable), plan.dtype)  # noqa: E731
        else:
            initial = lambda: first_array(np, plan, None)  # noqa: E731
        return self._make(self.slot_name(variable, plan.name), initial, plan.dtype, variable)

    def slot_name(self, variable, slot):
        """The name of a slot's variable."""
        return "%s/%s/%s" % (self.prefix, self.name(variable), slot)

    def call_counter(self, variable, index):
        """The variable that counts accumulated calls of a model variable."""
        return self._make(self.slot_name(variable, "calls"), 0, "int32", variable)

    def _settled(self, plan, variable, index):
        """The plan of a slot; zeros, which the first step replaces, where it would copy what has no value yet.

        A variable that is made inside a tf.function gets its value when the trace is done.

        Raises:
            UnsupportedError: the optimizer has made steps, so that there is no first one.
        """
        if plan.start != "variable":
            return plan
        with tf.init_scope():
            if not tf.executing_eagerly() or self.raw(variable).is_initialized():
                return plan
            steps = self.to_float(self.optimizer.iterations)
        if steps:
            raise UnsupportedError(
                "Slot %s starts as a copy of variable %s, which has no value yet." % (plan.name, self.name(variable)),
                "a variable that was made before the train step is traced",
                "one that the step makes, after %d steps" % steps,
                "Build the layer before: call it, or its build(), once.",
                self.describe(),
            )
        self.unstarted.setdefault(index, set()).add(plan.name)
        return plan._replace(start="fill", value=0.0)

    def _first_value(self, variable):
        if tf.executing_eagerly():
            return tf.convert_to_tensor(variable)
        # A TF1-style graph: initializers run in any order, so the variable may have no value yet.
        initialized = tf.compat.v1.is_variable_initialized(variable)
        return tf.cond(initialized, variable.read_value, lambda: tf.identity(variable.initial_value))

    def track(self, core, index):
        """Hang the slots of variable number `index` into the checkpoint's object graph."""
        holder = tf.Module(name="variable")
        for name, slot in core.slots[index].items():
            setattr(holder, name, slot)
        if core.calls[index] is not None:
            holder.calls = core.calls[index]
        setattr(self.node, "variable_%d" % index, holder)

    def check_can_grow(self, core, new):
        """Variables can be met at any time; a checkpoint that was restored knows who stood in their places."""
        self.node.places.check_new(core.variables + new)

    # Reading and writing

    def raw(self, variable):
        """The tf.Variable itself."""
        return variable

    def variable(self, given):
        """The model variable of a (gradient, variable) pair."""
        if not hasattr(given, "assign"):
            raise GradientError(
                "apply_gradients needs variables.",
                "a tf.Variable",
                "a %s" % type(given).__name__,
                "The pairs are (gradient, variable), in this order.",
            )
        if not isinstance(given, tf.Variable):
            tensorflow_distribution.refuse_sharded(given)
        return given

    def key(self, variable):
        """What identifies a model variable, also seen from inside a replica."""
        container = getattr(variable, "_distributed_container", None)
        if container is not None and container() is not None:
            variable = container()
        unique = getattr(variable, "_unique_id", None)
        return id(variable) if unique is None else unique

    def name(self, variable):
        """The variable's name without the output number."""
        return str(getattr(variable, "name", "variable")).split(":")[0]

    def shape(self, variable):
        """The static shape, a tuple."""
        return tuple(variable.shape.as_list())

    def dtype(self, variable):
        """The name of the dtype in which the variable is stored."""
        return tf.as_dtype(variable.dtype).base_dtype.name

    def constraint(self, variable):
        """The variable's constraint, or None."""
        copies = getattr(variable, "values", None)  # of a distributed variable, which may not tell
        return getattr(copies[0] if isinstance(copies, (tuple, list)) else variable, "constraint", None)

    def read(self, variable):
        """The value."""
        return tf.convert_to_tensor(self.raw(variable))

    read_scalar = read

    def assign(self, variable, value):
        """Write a value (a number or an array)."""
        target = self.raw(variable)
        target.assign(exact(value, target.dtype))

    def restore(self, variable, array):
        """Write a value now, also while a function is being traced: not at each of its calls."""
        with tf.init_scope():
            if not tf.executing_eagerly():
                raise UnsupportedError(
                    "Values of variables can't be set in a TF1-style graph without a session.",
                    remedy="Assign optimizer.variables in your session.",
                )
            self.assign(variable, array)

    def to_numpy(self, variable):
        """The value as a NumPy array."""
        if not tf.executing_eagerly():
            with tf.init_scope():
                if tf.executing_eagerly():
                    return self.raw(variable).numpy()
            raise UnsupportedError(
                "Values of variables can't be read in a TF1-style graph without a session.",
                remedy="Run optimizer.variables in your session.",
            )
        variable = self.raw(variable)
        if hasattr(variable, "numpy"):
            return variable.numpy()
        return variable.read_value().numpy()

    def to_float(self, variable):
        """The value of a scalar as a Python number."""
        return float(self.to_numpy(variable))

    def to_float_now(self, value):
        """A variable or a scalar tensor as a Python number."""
        return self.to_float(value) if hasattr(value, "assign") else float(value)

    def copy_into(self, variable, average):
        """Give a model variable the value of its average, on every replica."""
        target, source = self.raw(variable), self.raw(average)

        def assign(component, value):
            component.assign(tf.cast(value, component.dtype))

        if tf.distribute.has_strategy() and not tf.distribute.in_cross_replica_context():
            raise UnsupportedError(
                "finalize_variable_values was called inside a replica.",
                "a call outside of strategy.run",
            )
        self._strategy.extended.update(target, assign, args=(source,))

    def rounded(self, number):
        """A Python number as a scalar variable holds it."""
        return float(number)

    # Scalars

    def as_scalar(self, value):
        """A hyperparameter's value as a float64 scalar."""
        return exact(value, tf.float64)

    def choose_number(self, own, asked):
        """`own` unless it is NaN: a number that was set over a schedule."""
        return tf.where(tf.math.is_nan(own), asked, own)

    def settable(self, value, assign):
        """The present value of a scheduled hyperparameter, with an `assign` that sets it.

        Keras 2's callbacks change the learning rate by ``K.set_value(optimizer.lr, number)``, which
        calls ``optimizer.lr.assign(number)``.
        """
        if tf.executing_eagerly():
            value.assign = assign
        return value

    def decayed(self, learning_rate, decay, iterations):
        """The legacy time decay."""
        return learning_rate / (1.0 + decay * tf.cast(iterations, tf.float64))

    # Gradients

    def gradients_of(self, loss, var_list, tape, grad_loss):
        """[(gradient, variable)] by automatic differentiation."""
        factor = self.optimizer.loss_scale_factor
        if tape is None:
            with tf.GradientTape() as tape:
                if not callable(var_list):
                    tape.watch(var_list)
                value = loss()
                value = value * factor if factor else value
        elif callable(loss) or factor:
            with tape:
                value = loss() if callable(loss) else loss
                value = value * factor if factor else value
        else:
            value = loss
        variables = list(var_list() if callable(var_list) else var_list)
        raw = [self.raw(variable) for variable in variables]
        return list(zip(tape.gradient(value, raw, grad_loss), variables))

    @staticmethod
    def schedule_namespaces(target):
        """Modules that hold the schedule classes and the registry of the target's Keras."""
        if target.namespace.startswith("tf_keras"):
            import tf_keras

            keras = tf_keras
        else:
            keras = tf.keras
        return [keras.optimizers.schedules, keras.utils]

    def fits(self, gradient, variable):
        """Whether a gradient is known to be of the variable's shape and dtype; False where it takes a closer look."""
        own = self.raw(variable)
        return (
            isinstance(gradient, tf.Tensor)
            and own.dtype.is_floating
            and gradient.dtype == own.dtype
            and gradient.shape == own.shape
        )

    def gradient(self, gradient, variable):
        """A gradient as a tensor or IndexedSlices."""
        if isinstance(gradient, tf.IndexedSlices):
            return gradient
        if hasattr(gradient, "dtype") or isinstance(gradient, tf.Tensor):
            return tf.convert_to_tensor(gradient)
        return tf.convert_to_tensor(gradient, self.dtype(variable))

    def gradient_shape(self, gradient):
        """The static shape; None where it is unknown or only rows are given."""
        if isinstance(gradient, tf.IndexedSlices):
            shape = gradient.values.shape
            return None if shape.rank is None else (None,) + tuple(shape.as_list()[1:])
        return None if gradient.shape.rank is None else tuple(gradient.shape.as_list())

    def gradient_dtype(self, gradient):
        """The dtype's name."""
        return _EXECUTOR.dtype(gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient)
