"""How Keras 3 makes, names and reads variables."""

import inspect

import keras
import numpy as np
from keras import backend

from compat_opt.adapters.slots import first_array
from compat_opt.errors import GradientError, UnsupportedError

#: The class of all Keras variables; in 3.0 keras.Variable is a subclass of what layers make.
VARIABLE_CLASS = next(
    (c for c in keras.Variable.__mro__ if c.__name__ == "KerasVariable"), keras.Variable
)

_PARAMETERS = inspect.signature(keras.Variable.__init__).parameters


class KerasVariables:
    """Variables are keras.Variables: what the layouts of all backends share."""

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.prefix = optimizer._compat_name

    def describe(self):
        """Target and versions, for error messages."""
        return type(self.optimizer).target.describe()

    def _variable(self, name, initializer, shape, dtype, once=False, like=None):
        extra = {}
        if once and "aggregation" in _PARAMETERS:
            extra["aggregation"] = "only_first_replica"
        if "layout" in _PARAMETERS and getattr(like, "_layout", None) is not None:
            if tuple(shape) == tuple(like.shape):
                extra["layout"] = like._layout
        if "autocast" in _PARAMETERS:
            extra["autocast"] = False
        with keras.name_scope(self.prefix):
            return keras.Variable(
                initializer, shape=tuple(shape), dtype=dtype, trainable=False, name=name, **extra
            )

    def scalar(self, name, first, dtype):
        """A scalar variable of the optimizer."""
        return self._variable(name, lambda shape, dtype: self._filled(shape, first, dtype), (), dtype, once=True)

    def counter(self, name, bits):
        """An integer variable that starts at 0; JAX and torch count in 32 bits, as Keras does."""
        return self.scalar(name, 0, "int%d" % (bits if self.backend == "tensorflow" else 32))

    def slot(self, plan, variable, index):
        """A slot of a model variable."""
        if plan.start == "fill":
            initializer = lambda shape, dtype: self._filled(shape, plan.value, dtype)  # noqa: E731
        elif plan.start == "variable":
            initializer = lambda shape, dtype: keras.ops.cast(self._first_value(variable), dtype)  # noqa: E731
        else:
            initializer = lambda shape, dtype: keras.ops.convert_to_tensor(first_array(np, plan, None), dtype)  # noqa: E731
        return self._placed(variable, lambda: self._variable(self.slot_name(variable, plan.name), initializer, plan.shape, plan.dtype, like=variable))

    def call_counter(self, variable, index):
        """The variable that counts accumulated calls of a model variable."""
        initializer = lambda shape, dtype: self._filled(shape, 0, dtype)  # noqa: E731
        return self._placed(variable, lambda: self._variable(self.slot_name(variable, "calls"), initializer, (), "int32"))

    def slot_name(self, variable, slot):
        """The name of a slot's variable: ``<path with underscores>_<slot>``, as Keras 3's own."""
        return "%s_%s" % (self.name(variable).replace("/", "_").replace(":", "_"), slot)

    def name(self, variable):
        """The variable's path; a tf.Variable's name."""
        return str(getattr(variable, "path", None) or variable.name).split(":")[0]

    def shape(self, variable):
        """The static shape, a tuple."""
        return tuple(variable.shape)

    def dtype(self, variable):
        """The name of the dtype in which the variable is stored."""
        return backend.standardize_dtype(variable.dtype)

    def constraint(self, variable):
        """The variable's constraint, or None."""
        return getattr(variable, "constraint", None)

    def to_numpy(self, variable):
        """The value as a NumPy array."""
        return keras.ops.convert_to_numpy(variable)

    @staticmethod
    def schedule_namespaces(target):
        """Modules that hold the schedule classes and the registry of Keras 3."""
        return [keras.optimizers.schedules, keras.utils]


class Layout(KerasVariables):
    """Variables of the JAX and torch backends."""

    def __init__(self, optimizer):
        super().__init__(optimizer)
        self.backend = backend.backend()
        self.steps_are_stateless = self.backend == "jax"
        self.scalar_dtype = "float64" if self.backend == "torch" else _widest_on_jax()
        self.node = None

    def returns_ops(self):
        """A step is never returned as an op."""
        return False

    def _filled(self, shape, value, dtype):
        return keras.ops.convert_to_tensor(np.full(shape, value, dtype if dtype != "bfloat16" else "float32"), dtype)

    def _placed(self, variable, make):
        return make()

    def _first_value(self, variable):
        return keras.ops.copy(self.read(variable))  # JAX gives buffers away, one owner each

    def track(self, core, index):
        """Keras finds the state through `variables`."""

    def check_can_grow(self, core, new):
        """Refuse new variables inside a compiled step, where none can be made."""
        from keras.src.backend.common.stateless_scope import in_stateless_scope

        if in_stateless_scope():
            raise UnsupportedError(
                "The optimizer meets variables inside a compiled step: %s."
                % ", ".join(self.name(v) for v in new),
                "variables it was built with",
                remedy="Call optimizer.build(variables) before the step, and compile the step anew.",
                environment=self.describe(),
            )

    def raw(self, variable):
        """The keras.Variable itself."""
        return variable

    def variable(self, given):
        """The model variable of a (gradient, variable) pair."""
        if not isinstance(given, VARIABLE_CLASS):
            raise GradientError(
                "apply_gradients needs variables.",
                "a keras.Variable",
                "a %s" % type(given).__name__,
                "The pairs are (gradient, variable), in this order.",
            )
        return given

    def key(self, variable):
        """What identifies a model variable."""
        return id(variable)

    def read(self, variable):
        """The value."""
        value = variable.value
        return value.detach() if self.backend == "torch" else value

    def read_scalar(self, variable):
        """The value of a scalar, as step scalars are kept."""
        if self.backend != "torch":
            return variable.value
        value = keras.ops.convert_to_numpy(variable)
        return int(value) if value.dtype.kind in "iu" else np.float64(value)

    def assign(self, variable, value):
        """Write a value (a number, an array or a tensor)."""
        if not hasattr(value, "dtype"):
            value = np.asarray(value)
        variable.assign(keras.ops.convert_to_tensor(value, self.dtype(variable)))

    restore = assign

    def to_float(self, variable):
        """The value of a scalar as a Python number."""
        return float(self.to_numpy(variable))

    def to_float_now(self, value):
        """A variable or a scalar tensor as a Python number."""
        return float(keras.ops.convert_to_numpy(value))

    def rounded(self, number):
        """A Python number as a scalar variable holds it."""
        return float(np.asarray(number, self.scalar_dtype))

    def copy_into(self, variable, average):
        """Give a model variable the value of its average."""
        self.assign(variable, keras.ops.copy(self.read(average)))

    def as_scalar(self, value):
        """A hyperparameter's value as a scalar of the widest dtype."""
        if self.backend == "torch":
            return np.float64(keras.ops.convert_to_numpy(value))
        if not hasattr(value, "dtype"):
            value = np.asarray(value, self.scalar_dtype)
        return keras.ops.convert_to_tensor(value, self.scalar_dtype)

    def choose_number(self, own, asked):
        """`own` unless it is NaN: a number that was set over a schedule."""
        if self.backend == "torch":
            own = self.as_scalar(own)
            return asked if np.isnan(own) else own
        return keras.ops.where(keras.ops.isnan(own), asked, own)

    def settable(self, value, assign):
        """The present value of a scheduled hyperparameter; Keras 3's callbacks set attributes."""
        return value

    def decayed(self, learning_rate, decay, iterations):
        """The legacy time decay."""
        return learning_rate / (1.0 + decay * self.as_scalar(iterations))

    def fits(self, gradient, variable):
        """Whether a gradient is known to be of the variable's shape and dtype; False where it takes a closer look."""
        own = variable._value
        return (
            self.backend == "torch"
            and own.is_floating_point()
            and getattr(gradient, "dtype", None) == own.dtype
            and gradient.shape == own.shape
            and gradient.device == own.device
        )

    def gradient(self, gradient, variable):
        """A gradient as a tensor of the backend."""
        if not hasattr(gradient, "dtype"):
            return keras.ops.convert_to_tensor(gradient, self.dtype(variable))
        return keras.ops.convert_to_tensor(gradient)

    def gradient_shape(self, gradient):
        """The static shape."""
        return tuple(gradient.shape)

    def gradient_dtype(self, gradient):
        """The dtype's name."""
        return backend.standardize_dtype(gradient.dtype)

    def gradients_of(self, loss, var_list, tape, grad_loss):
        """[(gradient, variable)] by automatic differentiation of a function without arguments."""
        variables = list(var_list() if callable(var_list) else var_list)
        factor = self.optimizer.loss_scale_factor or 1.0
        if tape is not None or not callable(loss) or grad_loss is not None:
            raise UnsupportedError(
                "On the %s backend the loss is a function, without tape and grad_loss." % self.backend,
                "a function without arguments",
                "loss=%r, tape=%r, grad_loss=%r" % (loss, tape, grad_loss),
            )
        if self.backend == "torch":
            import torch

            values = [variable.value for variable in variables]
            gradients = torch.autograd.grad(loss() * factor, values, allow_unused=True)
            return list(zip(gradients, variables))
        import jax

        def loss_of(values):
            with keras.StatelessScope(state_mapping=list(zip(variables, values))):
                return loss() * factor

        return list(zip(jax.grad(loss_of)([v.value for v in variables]), variables))


def _widest_on_jax():
    import jax

    return "float64" if jax.config.jax_enable_x64 else "float32"
