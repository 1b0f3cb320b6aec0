"""Native optimizers of the three generations, as `read` and `write` see them."""

import contextlib
import re

from compat_opt.adapters import config as configs
from compat_opt.adapters import generation_of
from compat_opt.errors import StateError
from compat_opt.state import natives
from compat_opt.state.compiled_view import described_function, versions
from compat_opt.state.natives import wrappers
from compat_opt.state.raw import RawEntry, RawState


def native_view(optimizer, variables=None):
    """The view of a native optimizer."""
    from compat_opt.state.optimizer_v2_view import OptimizerV2View

    views = {"optimizer_v2": OptimizerV2View, "keras2": Keras2View, "keras3": Keras3View}
    return views[generation_of(optimizer)](optimizer, variables)


def class_names(optimizer):
    """Names of the class and its bases, as `natives.find` takes them; of a wrapper those of both together."""
    names = []
    for cls in type(optimizer).__mro__:
        addons = cls.__module__.startswith("tensorflow_addons")
        names.append("Addons>" + cls.__name__ if addons else cls.__name__)
    outer = [name for name in names if name in wrappers.WRAPPERS]
    return [wrappers.name_of(outer[0], name) for name in class_names(optimizer._optimizer)] if outer else names


class NativeView:
    """What the three generations share; attributes as of `CompiledView`."""

    generation = None

    def __init__(self, optimizer, variables=None):
        self.optimizer = optimizer
        self.dialect = self._dialect()
        self.names = class_names(optimizer)
        self.class_name, self.native = natives.named(self.generation, self.names, self.dialect)
        self.config = self._config()
        self.given = list(variables or ())
        self.places = []
        self.built = self._is_built()
        self.is_new = False
        self.variables = self._variables()

    def _dialect(self):
        return ""

    def describe(self):
        """For messages."""
        found = " ".join("%s %s" % item for item in versions().items())
        return "%s of %s, %s" % (type(self.optimizer).__name__, self.generation, found)

    def _config(self):
        config = self._own_config()
        rate = self._learning_rate()
        if callable(rate) and not hasattr(rate, "assign") and not hasattr(rate, "get_config"):
            config["learning_rate"] = described_function(rate)
        return config

    def _own_config(self):
        return configs.jsonable(self.optimizer.get_config())

    def _provenance(self):
        return dict(versions(), format="live")

    def frame(self):
        """A `RawState` without entries."""
        return RawState(
            self.generation,
            self.class_name,
            self.config,
            (),
            self._provenance(),
            self.variables,
            dialect=self.dialect,
        )

    def raw(self):
        """The whole state."""
        state = self.frame()
        self.places = []
        for role, variable, name, place, value in self._entries():
            if place is not None and hasattr(place, "assign"):
                value = self._array(place)
            state.entries.append(RawEntry(role, variable, name, len(self.places), value))
            self.places.append(place if role != "hyper" else None)
        return state

    def finish(self, record):
        """What has to be set besides variables."""

    # Variables of tf; Keras 3 has its own.

    def _array(self, variable):
        if hasattr(variable, "numpy"):
            return variable.numpy()
        return variable.read_value().numpy()

    def assign(self, place, array):
        """Write one array."""
        import tensorflow as tf

        with tf.init_scope():
            place.assign(tf.cast(array, place.dtype.base_dtype))

    def first_value(self, index):
        """The present value of a variable, or None where only its name is known."""
        return self._array(self.given[index]) if self.given else None

    def _named(self, variable):
        name = str(getattr(variable, "path", None) or variable.name).split(":")[0]
        return name, tuple(int(size) for size in variable.shape), _dtype_name(variable)


def _dtype_name(variable):
    dtype = variable.dtype
    return str(dtype) if isinstance(dtype, str) else getattr(dtype, "base_dtype", dtype).name


def scope_of(variables):
    """The scope of the strategy that made the variables; see `in_strategy_of`."""
    from compat_opt.adapters.tensorflow_distribution import in_strategy_of

    first = next(iter(variables), None)
    value = getattr(first, "value", None)
    return in_strategy_of(first if value is None or callable(value) else value)


class _ByAttribute(NativeView):
    """Slots in lists, an attribute for each slot, a place for each variable."""

    def _learning_rate(self):
        return self.optimizer._learning_rate

    def _lists(self):
        """[(native slot name, its list)] of those that exist."""
        found = []
        for attribute, name in self.native.attributes.items():
            values = getattr(self.optimizer, attribute, None)
            if values is not None and len(values):
                found.append((name, list(values)))
        return found

    def _slots(self, positions):
        for index, position in enumerate(positions):
            for name, values in self._lists():
                place = values[position] if position is not None and position < len(values) else None
                if place is not None and not self._is_placeholder(index, name):
                    yield "slot", index, name, place, None

    def _is_placeholder(self, index, name):
        """Whether the variable has no such slot in the rule, and the class makes one all the same."""
        return (name, None) in self.native.slots_for(self.config, self.variables[index][1])

    def _listed(self, attribute, role, name):
        for index, position in enumerate(self._positions):
            values = getattr(self.optimizer, attribute, None) or []
            if position is not None and position < len(values) and values[position] is not None:
                yield role, index, name, values[position], None

    def _check_covered(self, entries):
        """Refuse a class that keeps variables which its table does not tell about."""
        known = {id(place) for _, _, _, place, _ in entries}
        own = self.optimizer.variables
        others = [v for v in (own() if callable(own) else own) if id(v) not in known]
        for values in [values for _, values in self._lists()]:
            others = [v for v in others if not any(v is place for place in values)]
        if others:
            raise StateError(
                "%s keeps variables that no table tells about." % type(self.optimizer).__name__,
                "those of %s" % self.class_name,
                ", ".join(str(v.name) for v in others[:5]),
                "compat_opt.state.register_names tells what they are.",
                self.describe(),
            )

    def set_hyper(self, name, number):
        """Set a hyperparameter: the learning rate's variable, or a Python attribute."""
        setattr(self.optimizer, name, number)


class Keras2View(_ByAttribute):
    """tf.Variables; the optimizer knows positions of variables, not the variables."""

    generation = "keras2"

    def _dialect(self):
        return "" if hasattr(type(self.optimizer), "set_weights") else "experimental"

    def _is_built(self):
        return bool(getattr(self.optimizer, "_built", False))

    def _variables(self):
        known = getattr(self.optimizer, "_index_dict", {})
        if self.given:
            positions = [known.get(self.optimizer._var_key(v)) for v in self.given]
            self._positions = positions if self.built else []
            self._check_met(positions)
            return [self._named(v) for v in self.given]
        # Without any slot nothing tells the variables' names.
        self._positions = list(range(len(known))) if self.built and self._lists() else []
        return [self._from_slots(position) for position in self._positions]

    def _check_met(self, positions):
        if self.built and None in positions:
            raise StateError(
                "The optimizer was built without %s." % self.given[positions.index(None)].name,
                "the variables that it was built with",
                remedy="An optimizer of this generation can't meet new ones: make a new one.",
                environment=self.describe(),
            )

    def _from_slots(self, position):
        """Path, shape and dtype by a slot that has the variable's shape."""
        declared = self.native.rule_class().slots()
        for name, values in self._lists():
            if declared[self.native.slots[name]].shape is None:
                written = values[position].name.split(":")[0]
                match = re.match(r"(?:.*?/)?%s/(.*)$" % re.escape(name), written)
                return (match.group(1) if match else written,) + self._named(values[position])[1:]
        return "variable_%d" % position, None, None

    def build(self, variables):
        """Make the variables, named as in a step."""
        import tensorflow as tf

        with tf.name_scope(self.optimizer.name or "optimizer"), tf.init_scope(), scope_of(variables):
            self.optimizer.build(list(variables))

    def _entries(self):
        import numpy as np

        optimizer = self.optimizer
        entries = [("iteration", None, "iteration", optimizer._iterations, None)]
        rate = optimizer._learning_rate
        present = rate if hasattr(rate, "assign") else getattr(optimizer, "_current_learning_rate", None)
        if present is not None:
            entries.append(("hyper", None, "learning_rate", present, None))
        elif isinstance(rate, (int, float)):
            entries.append(("hyper", None, "learning_rate", None, np.asarray(rate)))
        for name in self.native.shared:
            if getattr(optimizer, name, None) is not None:
                entries.append(("shared", None, name, getattr(optimizer, name), None))
        entries.extend(self._listed("_model_variables_moving_average", "average", "average"))
        entries.extend(self._slots(self._positions))
        if self.dialect != "experimental":
            self._check_covered(entries)
        return entries

    def finish(self, record):
        """Nadam's guard against counting a step twice is a Python number."""
        if hasattr(self.optimizer, "_u_product_counter"):
            self.optimizer._u_product_counter = record.iterations + 1


class Keras3View(_ByAttribute):
    """keras.Variables; the optimizer knows its model's variables."""

    generation = "keras3"

    def _provenance(self):
        import keras

        return dict(super()._provenance(), backend=keras.backend.backend())

    def _is_built(self):
        return bool(self.optimizer.built)

    def _variables(self):
        known = list(self.optimizer._trainable_variables) if self.built else []
        if self.built and self.given:
            unmet = [v for v in self.given if not any(v is k or getattr(v, "value", None) is k for k in known)]
            if unmet:
                raise StateError(
                    "The optimizer was built without %s." % self._named(unmet[0])[0],
                    "the variables that it was built with",
                    remedy="An optimizer of this generation can't meet new ones: make a new one.",
                    environment=self.describe(),
                )
        self._positions = list(range(len(known)))
        self.given = known or self.given
        return [self._named(v) for v in self.given]

    def build(self, variables):
        """Make the variables."""
        import keras

        with scope_of(variables) if keras.backend.backend() == "tensorflow" else contextlib.nullcontext():
            self.optimizer.build(list(variables))

    def _array(self, variable):
        import keras

        return keras.ops.convert_to_numpy(variable).copy()

    def assign(self, place, array):
        """Write one array."""
        import keras

        place.assign(keras.ops.convert_to_tensor(array, place.dtype))

    def _entries(self):
        optimizer = self.optimizer
        entries = [("iteration", None, "iteration", optimizer._iterations, None)]
        if hasattr(optimizer._learning_rate, "assign"):
            entries.append(("hyper", None, "learning_rate", optimizer._learning_rate, None))
        for name in self.native.shared:
            if getattr(optimizer, name, None) is not None:
                entries.append(("shared", None, name, getattr(optimizer, name), None))
        entries.extend(self._listed("_model_variables_moving_average", "average", "average"))
        entries.extend(self._listed("_accumulated_gradients", "accumulator", "gradient_accumulator"))
        entries.extend(self._slots(self._positions))
        self._check_covered(entries)
        return entries
