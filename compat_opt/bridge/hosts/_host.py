"""What hosts of every API share: making the legacy optimizer, its config, its attributes, its state as arrays."""

import contextlib
import inspect

import numpy as np
import tensorflow as tf

from compat_opt.adapters.optimizer import VariableList
from compat_opt.bridge import known
from compat_opt.bridge.frameworks import keras_of
from compat_opt.bridge.legacy_code import legacy_code
from compat_opt.bridge.given import for_legacy
from compat_opt.bridge.held._held import is_optimizer
from compat_opt.errors import ArgumentError, HyperError, StateError, UnsupportedError, closest

do_not_convert = tf.autograph.experimental.do_not_convert

#: Options of the newer APIs that a legacy optimizer has no part in, with the values that mean "off".
OPTIONS = {
    "weight_decay": (None, 0, 0.0),
    "use_ema": (None, False),
    "ema_momentum": None,
    "ema_overwrite_frequency": None,
    "gradient_accumulation_steps": (None,),
}


class Host:
    """The part of a host that no Keras decides. Mixed in before the native class."""

    def __init__(self, *args, **kwargs):
        cls = type(self)
        names = cls._names_in(list(args) + list(kwargs.values()))
        args = [cls._for_legacy(value) for value in args]
        kwargs = {name: cls._for_legacy(value) for name, value in kwargs.items()}
        with legacy_code(), names:
            legacy = cls.held_class.prepared(cls.legacy_class)(*args, **kwargs)
        self._start(legacy)
        object.__setattr__(self, "_given", _by_parameter(cls.legacy_class, args, kwargs))

    @classmethod
    def _names_in(cls, values):
        """A context in which the variables of layers among constructor arguments have the names of `_names`."""
        return contextlib.ExitStack()

    @classmethod
    def _for_legacy(cls, value):
        return for_legacy(value, cls.target, cls.held_class.generation)

    def _start(self, legacy):
        held = type(self).held_class(legacy)
        object.__setattr__(self, "_held", held)
        object.__setattr__(self, "_order", [])
        self._start_native(getattr(legacy, "_name", None) or type(legacy).__name__)

    def get_config(self):
        """The legacy optimizer's own config, and constructor arguments that it leaves out."""
        config = dict(self.__dict__.get("_given", {}), **self._held.optimizer.get_config())
        return {name: _encoded(value) for name, value in config.items()}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A host around the legacy optimizer that the legacy class makes of `config`."""
        legacy_class = cls.held_class.prepared(cls.legacy_class)
        config = {name: _decoded(value, cls.target) for name, value in config.items()}
        config.pop("is_legacy_optimizer", None)
        names = inspect.signature(legacy_class.from_config).parameters
        options = {"custom_objects": custom_objects} if "custom_objects" in names else {}
        host = cls.__new__(cls)
        given = _by_parameter(cls.legacy_class, (), config)
        with legacy_code(), known.scope(cls.held_class.generation):
            legacy = legacy_class.from_config(config, **options)
        host._start(legacy)
        object.__setattr__(host, "_given", given)
        return host

    # Attributes

    def __getattr__(self, name):
        held = self.__dict__.get("_held")
        if held is None or name.startswith("_"):
            raise AttributeError("%r has no attribute %r" % (type(self).__name__, name))
        return getattr(held.optimizer, name)

    def __setattr__(self, name, value):
        held = self.__dict__.get("_held")
        if held is None or name.startswith("_") or hasattr(type(self), name) or name in self.__dict__:
            super().__setattr__(name, value)
        elif name in held.hypers():
            self._set_hyper_value(name, value)
        elif hasattr(held.optimizer, name):
            setattr(held.optimizer, name, value)
        else:
            super().__setattr__(name, value)

    def _set_hyper_value(self, name, value):
        held = self._held
        value = self._for_legacy(value)
        now = held.hypers().get(name)
        if isinstance(now, tf.Variable):
            if callable(value) and not isinstance(value, tf.Variable):
                raise HyperError(
                    "%s of a built optimizer is a number, and steps that are compiled already use it." % name,
                    "a number",
                    "%s=%r" % (name, value),
                    "Give the schedule to the constructor.",
                    type(self).target.describe(),
                )
            now.assign(tf.cast(value, now.dtype))
            return
        if callable(now) and not callable(value):
            raise TypeError(
                "This optimizer was created with a schedule as its %s, which is therefore not settable. "
                "Expected: a new optimizer. Received: %s=%r." % (name, name, value)
            )
        setattr(held.optimizer, name, value)

    @property
    def learning_rate(self):
        """The learning rate: a variable, or the schedule's value at the present step."""
        rate = getattr(self._held.optimizer, self._held.rate_name)
        if isinstance(rate, tf.Variable):
            return self._shown(rate)
        return rate(self._held.iterations) if _is_schedule(rate) else rate

    @learning_rate.setter
    def learning_rate(self, value):
        held = self.__dict__.get("_held")
        if "_native_started" not in self.__dict__:
            return  # Keras's constructor
        if held.rate_name in held.hypers():
            self._set_hyper_value(held.rate_name, value)
        else:
            setattr(held.optimizer, held.rate_name, self._for_legacy(value))

    @property
    def lr(self):
        """The learning rate, under its old name."""
        return self.learning_rate

    @lr.setter
    def lr(self, value):
        self.learning_rate = value

    # Steps

    @property
    def iterations(self):
        """The variable that counts steps."""
        return self._held.iterations

    @iterations.setter
    def iterations(self, variable):
        self._held.optimizer.iterations = variable

    @do_not_convert
    def apply_gradients(self, grads_and_vars, name=None, skip_gradients_aggregation=False, **kwargs):
        """One step; arguments as in every Keras.

        Returns:
            The variable that counts steps.
        """
        aggregate = kwargs.pop("experimental_aggregate_gradients", True) and not skip_gradients_aggregation
        if kwargs:
            raise ArgumentError("Unknown argument of apply_gradients.", received=", ".join(kwargs))
        self._step(list(grads_and_vars), aggregate)
        return self.iterations

    def _step(self, pairs, aggregate):
        self.build([variable for _, variable in pairs])
        self._held.apply(pairs, aggregate)
        self._adopt()

    # State

    @property
    def variables(self):
        """All state, as a list that can also be called."""
        return VariableList(self._variables_now())

    def build(self, var_list):
        """Make the state of model variables that have none yet."""
        var_list = list(var_list)
        known = {id(variable) for variable in self._order}
        self._order.extend(variable for variable in var_list if id(variable) not in known)
        raws = [self._raw(variable) for variable in self._order]
        with tf.init_scope(), self._names():
            self._held.build(raws)
        self._adopt()
        waiting = self.__dict__.get("_waiting")
        if waiting is not None:
            object.__setattr__(self, "_waiting", None)
            self.set_weights(waiting)

    def get_slot(self, var, slot_name):
        """A slot of a model variable."""
        return self._shown(self._held.get_slot(self._raw(var), slot_name))

    def get_weights(self):
        """All state as NumPy arrays, in the order of `variables`."""
        waiting = self.__dict__.get("_waiting")
        return [v.numpy() for v in self._variables_now()] if waiting is None else list(waiting)

    def set_weights(self, weights):
        """Set all state from arrays in the order of `variables`, or of the legacy class's own list.

        Before the first build they wait for it.

        Raises:
            StateError: their number or a shape differs; nothing is changed.
        """
        weights, variables = [np.asarray(weight) for weight in weights], self._variables_now()
        if not self._order:
            object.__setattr__(self, "_waiting", weights)
            return
        own = getattr(self._held.optimizer, "weights", ())
        if len(weights) != len(variables) and len(weights) == len(own):
            variables = list(own)
        shapes = [tuple(variable.shape) for variable in variables]
        given = [weight.shape for weight in weights]
        if shapes != given:
            raise StateError(
                "The weights do not fit the state of %s." % type(self).__name__,
                "%d arrays with shapes %s" % (len(shapes), shapes),
                "%d arrays with shapes %s" % (len(given), given),
                "Is the model the one that the weights were saved with?",
            )
        with tf.init_scope():  # the first build may be inside of a step that is being compiled
            for variable, weight in zip(variables, weights):
                variable.assign(tf.cast(weight, variable.dtype))

    def _names(self):
        """A context in which model variables have the names that legacy code expects."""
        return contextlib.ExitStack()

    def _raw(self, variable):
        return variable

    def _shown(self, variable):
        return variable


class SavedByPosition:
    """How the newer APIs save a host into .keras and weight files."""

    def save_own_variables(self, store):
        """Write all state into `store`, by position."""
        for number, variable in enumerate(self._variables_now()):
            store[str(number)] = variable.numpy()

    def load_own_variables(self, store):
        """Read all state from `store`.

        Raises:
            StateError: number or shapes differ.
        """
        self.set_weights([store[str(number)] for number in range(len(store.keys()))])


def option(name):
    """The property of an option that the host can't carry out: only "off" is accepted."""

    def get(self):
        held = self.__dict__.get("_held")
        if held is not None and hasattr(held.optimizer, name):
            return getattr(held.optimizer, name)
        return False if name == "use_ema" else None

    def set_(self, value):
        if "_native_started" not in self.__dict__:
            return  # Keras's constructor sets its defaults
        held = self._held
        if name in held.hypers():
            self._set_hyper_value(name, value)
        elif hasattr(held.optimizer, name):
            setattr(held.optimizer, name, value)
        elif OPTIONS[name] is None or value not in OPTIONS[name]:
            raise UnsupportedError(
                "%s has no %s." % (type(self).__name__, name),
                "an attribute of %s" % type(self).legacy_class.__name__,
                "%s=%r" % (name, value),
                "compat_opt.rules and UpdateRule classes have it.",
                type(self).target.describe(),
            )

    return property(get, set_, doc="%s of the legacy optimizer, or off." % name)


def clipping(name):
    """The property of a clipping option: the legacy optimizer does the clipping."""

    def get(self):
        return getattr(self._held.optimizer, name, None)

    def set_(self, value):
        if "_native_started" not in self.__dict__:
            return
        legacy = self._held.optimizer
        if not hasattr(legacy, name):
            raise ArgumentError(
                "%s has no %s." % (type(self).__name__, name), remedy=closest(name, dir(legacy))
            )
        setattr(legacy, name, value)

    return property(get, set_, doc="%s, carried out by the legacy optimizer." % name)


def make_class(host_class, native, legacy_class, held_class, target):
    """A host class for one legacy class."""
    members = {
        "__doc__": "%s\n\n    %s.%s, held by an optimizer for %s.\n    "
        % (inspect.getdoc(legacy_class) or legacy_class.__name__, legacy_class.__module__, legacy_class.__qualname__, target.describe()),
        "__module__": legacy_class.__module__,
        "__qualname__": legacy_class.__qualname__,
        "legacy_class": legacy_class,
        "held_class": held_class,
        "target": target,
    }
    for name in OPTIONS:
        members[name] = option(name)
    for name in ("clipnorm", "clipvalue", "global_clipnorm"):
        members[name] = clipping(name)
    return type(legacy_class.__name__, (host_class, native), members)


def _by_parameter(legacy_class, args, kwargs):
    """{parameter: argument} of a constructor call, as far as JSON can hold it; not what **kwargs takes."""
    signature = inspect.signature(legacy_class.__init__)
    named = [p.name for p in signature.parameters.values() if p.kind == p.POSITIONAL_OR_KEYWORD or p.kind == p.KEYWORD_ONLY]
    given = dict(zip(named[1:], args))
    given.update((name, value) for name, value in kwargs.items() if name in named)
    return {name: value for name, value in given.items() if _is_plain(value)}


def _is_plain(value):
    if isinstance(value, (list, tuple)):
        return all(_is_plain(item) for item in value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    return value is None or isinstance(value, (bool, int, float, str))


def _is_schedule(value):
    return callable(value) and not isinstance(value, tf.Variable) and not tf.is_tensor(value)


def _encoded(value):
    """A config value without NumPy scalars and legacy optimizers, which today's Keras can't write."""
    if isinstance(value, dict):
        return {name: _encoded(inner) for name, inner in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_encoded(inner) for inner in value)
    if is_optimizer(value):
        return {"class_name": known.name_in_configs(type(value)), "config": _encoded(value.get_config())}
    return value.item() if isinstance(value, np.generic) else value


def _decoded(value, target):
    """A config value with Keras 3's wrappings of tuples and arrays taken off."""
    if isinstance(value, dict) and str(value.get("class_name", "")).startswith("__"):
        return keras_of(target.namespace).saving.deserialize_keras_object(value)
    if isinstance(value, dict):
        return {name: _decoded(inner, target) for name, inner in value.items()}
    if isinstance(value, list):
        return [_decoded(inner, target) for inner in value]
    return value
