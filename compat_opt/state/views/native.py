"""What the native optimizers of the three generations share, as `read` and `write` see them."""

from compat_opt.adapters import config as configs
from compat_opt.state import natives
from compat_opt.state.natives import wrappers
from compat_opt.state.raw import RawEntry, RawState
from compat_opt.state.views.compiled import described_function, versions


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
