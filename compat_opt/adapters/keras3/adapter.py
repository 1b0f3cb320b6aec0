"""Compiles a rule into a Keras 3 optimizer class, for the backend that Keras runs on."""

import inspect

import keras
from keras import backend

from compat_opt.adapters import registration
from compat_opt.adapters.optimizer import CompiledOptimizer, VariableList
from compat_opt.errors import ArgumentError, UnsupportedError


def native_base(target):
    """The native base class."""
    return keras.optimizers.Optimizer


def is_generation(base):
    """Whether a class has this generation's hooks."""
    if not hasattr(base, "update_step"):
        return False
    return "learning_rate" in inspect.signature(base.update_step).parameters


def adapter_for(target):
    """The adapter class for the target's backend."""
    if target.backend != backend.backend():
        raise UnsupportedError(
            "Keras was started with another backend than the target has.",
            "backend %s" % target.backend,
            "backend %s" % backend.backend(),
            "Set KERAS_BACKEND before the first import of keras.",
        )
    return _on_tensorflow() if target.backend == "tensorflow" else _elsewhere()


def register(cls, name):
    """Register a compiled class with Keras."""
    registration.register(keras, cls, name)


class Adapter(CompiledOptimizer):
    """The glue between CompiledOptimizer and the Keras 3 Optimizer."""

    def _start_native(self, name):
        # A callable keeps the native class from making a learning rate variable of its own.
        super(CompiledOptimizer, self).__init__(learning_rate=_no_rate, name=name)

    def _native_built(self):
        self.built = True

    def apply(self, grads, trainable_variables=None):
        """Update variables by gradients given as two lists.

        Args:
            grads: gradients, None where a variable has none.
            trainable_variables: the variables; None for those that the optimizer was built with.
        """
        grads = list(grads)
        if trainable_variables is None:
            trainable_variables = self._trainable_variables
        trainable_variables = list(trainable_variables)
        if len(grads) != len(trainable_variables):
            raise ArgumentError(
                "apply() needs a gradient (or None) for each variable.",
                "%d gradients" % len(trainable_variables),
                "%d gradients" % len(grads),
            )
        pairs = []
        for gradient, variable in zip(grads, trainable_variables):
            if gradient is not None and getattr(variable, "overwrite_with_gradient", False):
                variable.assign(gradient)  # float8 scales: their "gradient" is their new value
            else:
                pairs.append((gradient, variable))
        if not self.built:
            self.build(trainable_variables)
        self._step(pairs)

    @property
    def iterations(self):
        """The variable that counts finished updates."""
        core = getattr(self, "_core", None)
        return core.iterations if core else None

    @iterations.setter
    def iterations(self, value):
        if hasattr(self, "_core"):  # Keras 3.0 assigns its own in the constructor
            CompiledOptimizer.iterations.fset(self, value)

    @property
    def variables(self):
        """All state variables, as a list that can also be called."""
        core = getattr(self, "_core", None)
        return VariableList(core.state_variables() if core else ())

    @property
    def _trainable_variables(self):
        # Keras's SwapEMAWeights and stateless_apply read this list and the next one.
        core = getattr(self, "_core", None)
        return core.variables if core else []

    @_trainable_variables.setter
    def _trainable_variables(self, value):
        pass

    @property
    def _model_variables_moving_average(self):
        return [self._core.slot(variable, "average") for variable in self._trainable_variables]


def _no_rate():
    return 0.0


def _on_tensorflow():
    from compat_opt.adapters import tensorflow_engine
    from compat_opt.adapters.keras3.tensorflow_layout import TRACKABLE_BASES, Layout

    class TensorFlowAdapter(Adapter, *TRACKABLE_BASES):
        """On the tensorflow backend."""

        layout_class = Layout
        engine = tensorflow_engine
        apply = tensorflow_engine.do_not_convert(Adapter.apply)
        apply_gradients = tensorflow_engine.do_not_convert(CompiledOptimizer.apply_gradients)

        def _track_native(self, node):
            self._track_trackable(node, "compat_opt_state", overwrite=True)
            # In place of the native counter, which nobody counts.
            self._track_trackable(self._core.iterations, "_iterations", overwrite=True)

    return TensorFlowAdapter


def _elsewhere():
    from compat_opt.adapters.keras3 import engine
    from compat_opt.adapters.keras3.layout import Layout

    class StatelessAdapter(Adapter):
        """On the jax and torch backends."""

        layout_class = Layout

        def build(self, var_list):
            """Make the state of all variables in `var_list` that have none yet.

            The train step that JAX compiles passes values by position: those of the variables of
            the last call, in its order.
            """
            var_list = list(var_list)
            super().build(var_list)
            object.__setattr__(self, "_order", var_list)

        @property
        def _trainable_variables(self):
            return getattr(self, "_order", None) or Adapter._trainable_variables.fget(self)

        @_trainable_variables.setter
        def _trainable_variables(self, value):
            pass

        def stateless_apply(self, optimizer_variables, grads, trainable_variables):
            """The step as a function of values.

            Raises:
                UnsupportedError: the optimizer was built with another number of variables.
            """
            built, asked = len(self._trainable_variables), len(trainable_variables)
            if built and built != asked:
                raise UnsupportedError(
                    "The model has other trainable variables than the optimizer was built with.",
                    "%d variables" % built,
                    "%d variables" % asked,
                    "After a layer was frozen or unfrozen, call compile() and then "
                    "optimizer.build(model.trainable_variables).",
                    self._core.layout.describe(),
                )
            return super().stateless_apply(optimizer_variables, grads, trainable_variables)

    StatelessAdapter.engine = engine
    return StatelessAdapter
