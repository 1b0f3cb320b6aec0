"""Keras 3 optimizers, on the tensorflow backend, that hold a legacy optimizer."""

import contextlib

import keras
import tensorflow as tf

from compat_opt.adapters.keras3.layout import VARIABLE_CLASS
from compat_opt.adapters.keras3.tensorflow_layout import TRACKABLE_BASES
from compat_opt.bridge.held._held import named
from compat_opt.bridge.hosts._host import Host, SavedByPosition, do_not_convert, make_class
from compat_opt.bridge.hosts.keras3_arguments import layers_in, with_raw_variables
from compat_opt.errors import ArgumentError


def make(legacy_class, held_class, target):
    """The Keras 3 class that holds `legacy_class`."""
    return make_class(Keras3Host, keras.optimizers.Optimizer, legacy_class, held_class, target)


class Adopted(VARIABLE_CLASS):
    """A keras.Variable that is another name of a tf.Variable that legacy code made."""

    def __init__(self, raw, name):
        self._raw = raw
        first = lambda shape, dtype=None: tf.zeros(shape, dtype)  # noqa: E731
        super().__init__(first, shape=tuple(raw.shape), dtype=raw.dtype.name, trainable=False, name=name)

    def _initialize(self, value):
        self._value = self._raw
        if getattr(self, "_shape", None) is None:
            self._shape = tuple(self._raw.shape)

    def _initialize_with_initializer(self, initializer):
        self._initialize(None)

    def _deferred_initialize(self):
        if self._value is None:
            self._initialize(None)


class Keras3Host(SavedByPosition, Host, *TRACKABLE_BASES):
    """The glue between `Host` and the Keras 3 Optimizer."""

    def _start_native(self, name):
        object.__setattr__(self, "_adopted", {})
        native = super(Host, self)
        native.__init__(learning_rate=_no_rate, name=name.replace("/", "_"))
        object.__setattr__(self, "_native_started", True)
        object.__setattr__(self, "_scale", None)
        self._held.gradients_given = True  # Model.fit calls apply_gradients, never minimize

    def _adopt(self):
        node = self.__dict__.get("_node")
        if node is None:
            node = tf.Module(name="compat_opt_bridge")
            object.__setattr__(self, "_node", node)
            if hasattr(self, "_track_trackable"):
                self._track_trackable(node, "compat_opt_bridge", overwrite=True)
        with tf.init_scope():
            for name, raw in self._held.state().items():
                if id(raw) not in self._adopted:
                    plain = name.replace("/", "_").replace(":", "_")
                    self._adopted[id(raw)] = Adopted(raw, plain)
                    setattr(node, "state_%d" % len(self._adopted), self._adopted[id(raw)])
        if not self.built:
            self.built = True

    def _variables_now(self):
        return list(self.__dict__.get("_adopted", {}).values())

    @property
    def iterations(self):
        """The variable that counts steps."""
        held = self.__dict__.get("_held")
        return self._shown(held.iterations) if held else None

    @iterations.setter
    def iterations(self, value):
        pass  # Keras's constructor makes one that nobody counts

    @property
    def _trainable_variables(self):
        return self.__dict__.get("_order", [])

    @_trainable_variables.setter
    def _trainable_variables(self, value):
        pass

    @property
    def loss_scale_factor(self):
        """What gradients are divided by; set by the caller, or by LossScaleOptimizer."""
        return self.__dict__.get("_scale")

    @loss_scale_factor.setter
    def loss_scale_factor(self, value):
        object.__setattr__(self, "_scale", value)

    def _raw(self, variable):
        return variable.value if isinstance(variable, VARIABLE_CLASS) else variable

    def _shown(self, raw):
        if not isinstance(raw, tf.Variable):
            return raw
        if id(raw) not in self._adopted:
            with tf.init_scope():
                return Adopted(raw, raw.name.split(":")[0].replace("/", "_"))
        return self._adopted[id(raw)]

    @classmethod
    def _for_legacy(cls, value):
        return super()._for_legacy(with_raw_variables(value))

    @classmethod
    def _names_in(cls, values):
        own = [variable for layer in layers_in(values) for variable in layer.variables]
        return named([variable.value for variable in own], [variable.path for variable in own])

    def _names(self):
        stack = contextlib.ExitStack()
        own = [v for v in self._order if isinstance(v, VARIABLE_CLASS)]
        stack.enter_context(named([v.value for v in own], [v.path for v in own]))
        return stack

    @do_not_convert
    def apply(self, grads, trainable_variables=None):
        """Update variables by gradients given as two lists.

        Args:
            grads: gradients, None where a variable has none.
            trainable_variables: the variables; None for those that the optimizer was built with.
        """
        grads = list(grads)
        variables = list(self._order if trainable_variables is None else trainable_variables)
        if len(grads) != len(variables):
            raise ArgumentError(
                "apply() needs a gradient (or None) for each variable.",
                "%d gradients" % len(variables),
                "%d gradients" % len(grads),
            )
        self._step(list(zip(grads, variables)), True)

    def _step(self, pairs, aggregate):
        variables = [variable for _, variable in pairs]
        self.build(variables)
        due = []
        for gradient, variable in pairs:
            if gradient is not None and getattr(variable, "overwrite_with_gradient", False):
                variable.assign(gradient)  # float8 scales: their "gradient" is their new value
            else:
                due.append((self._unscaled(gradient), self._raw(variable)))
        with self._names():
            self._held.apply(due, aggregate)
        self._adopt()
        for variable in variables:
            if getattr(variable, "constraint", None) is not None:
                variable.assign(variable.constraint(variable))

    def _unscaled(self, gradient):
        scale = self.loss_scale_factor
        if scale is None or gradient is None:
            return gradient
        if isinstance(gradient, tf.IndexedSlices):
            return tf.IndexedSlices(gradient.values / scale, gradient.indices, gradient.dense_shape)
        return gradient / scale


def _no_rate():
    return 0.0
