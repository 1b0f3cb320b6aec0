"""A compiled optimizer, as `read` and `write` see it."""

from compat_opt.adapters import config as configs
from compat_opt.env.record import read_environment
from compat_opt.errors import HyperError, StateError
from compat_opt.state.raw import RawEntry, RawState


def versions():
    """{"tensorflow", "keras"}: versions in this process, where installed."""
    environment = read_environment()
    found = {"tensorflow": environment.tensorflow, "keras": environment.keras}
    return {name: version for name, version in found.items() if version}


def described_function(value):
    """What stands for a schedule that has no config."""
    where = getattr(value, "__module__", "") or ""
    return {"class_name": "function", "module": where, "config": {"name": getattr(value, "__qualname__", repr(value))}}


class CompiledView:
    """Entries have the rule's names, in the order of ``optimizer.variables``.

    Attributes:
        variables: [(path, shape, dtype name)] of those that it has met, or is to be built with.
        built: whether it has met any.
        is_new: whether some of the given variables are not met yet.
        places: for each entry of `raw` the variable that holds it.
    """

    def __init__(self, optimizer, variables=None):
        self.optimizer = optimizer
        self.core = optimizer._core
        layout = self.core.layout
        given = [layout.variable(v) for v in variables or ()]
        new = [v for v in given if self.core.index_of(v) is None]
        self.is_new = bool(new)
        self.built = bool(self.core.variables)
        self._known = list(self.core.variables) + new
        self.variables = [(layout.name(v), layout.shape(v), layout.dtype(v)) for v in self._known]
        self.places = []

    def describe(self):
        """For messages."""
        return self.core.layout.describe()

    def build(self, variables):
        """Make the slots of those variables that have none."""
        self.optimizer.build(list(variables))

    def frame(self):
        """A `RawState` without entries."""
        cls = type(self.optimizer)
        provenance = dict(versions(), format="live", backend=cls.target.backend, target=str(cls.target))
        return RawState(
            cls.target.generation,
            cls.rule_class.__name__,
            self._config(),
            (),
            provenance,
            self.variables,
            compiled=True,
            rule=self.core.rule,
        )

    def _config(self):
        core, config = self.core, dict(self.core.options.as_dict())
        for name, declared in core.rule.hypers().items():
            if declared.static:
                config[name] = configs.jsonable(getattr(core.rule, name))
            else:
                config[name] = self._hyper(core.hypers, name)
        if core.hypers.decay:
            config["decay"] = core.hypers.decay
        for section in core.sections[1:]:
            for name in section.hypers.sources:
                config[section.prefix + name] = self._hyper(section.hypers, name)
        return config

    def _hyper(self, hypers, name):
        source, number = hypers.sources[name], hypers.number(name)
        if number is not None or source.kind == "off":
            return number
        if source.kind in ("variable", "tensor"):
            return self.core.layout.to_float_now(source.value)
        try:
            return configs.schedule_config(source.value, hypers.owner, name)
        except HyperError:
            return described_function(source.value)

    def raw(self):
        """The whole state."""
        core, state = self.core, self.frame()
        if core.pending_arrays():
            raise StateError(
                "The optimizer's state was set before it met its variables, and waits for them.",
                "an optimizer that is built",
                remedy="Call optimizer.build(model.trainable_variables) first.",
                environment=self.describe(),
            )
        self.places = []

        def add(role, variable, name, place):
            state.entries.append(RawEntry(role, variable, name, len(self.places), core.layout.to_numpy(place).copy()))
            self.places.append(place)

        add("iteration", None, "iteration", core.iterations)
        self.hyper_places = set()
        for section in core.sections:
            for name, place in section.hypers.variables.items():
                add("hyper", None, section.prefix + name, place)
                self.hyper_places.add(id(place))
        for name, place in core.shared.items():
            add("shared", None, name, place)
        if core.micro_step is not None:
            add("accumulator", None, "micro_step", core.micro_step)
        for index, slots in enumerate(core.slots):
            for name, place in slots.items():
                add(name if name in ("average", "accumulator") else "slot", index, name, place)
            if core.calls[index] is not None:
                add("accumulator", index, "calls", core.calls[index])
        return state

    def first_value(self, index):
        """The present value of a variable."""
        return self.core.layout.to_numpy(self._known[index])

    def assign(self, place, array):
        """Write one array; hyperparameters have been written by `set_hyper`."""
        if id(place) not in self.hyper_places:
            self.core.layout.restore(place, array)

    def set_hyper(self, name, number):
        """Set a hyperparameter, a group's by the name with the group's prefix."""
        for section in self.core.sections:
            if name.startswith(section.prefix) and name[len(section.prefix) :] in section.hypers.sources:
                self.core.set_hyper(name[len(section.prefix) :], number, section)
                return

    def finish(self, record):
        """Nothing: all state is in variables."""
