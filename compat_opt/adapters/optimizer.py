"""CompiledOptimizer: the public methods that every compiled optimizer has, on every target."""

import warnings

from compat_opt.adapters import config as configs
from compat_opt.adapters import sections
from compat_opt.adapters.arguments import split_arguments
from compat_opt.adapters.configurable import Configurable
from compat_opt.adapters.core import Core
from compat_opt.adapters.evaluation import Evaluation, refuse_step
from compat_opt.adapters.hypers import Hypers
from compat_opt.adapters.members import accepting_all
from compat_opt.adapters.pairs import checked_pairs
from compat_opt.errors import ArgumentError, UnsupportedError

#: TensorFlow's checkpoints look into dir() for these, and would save slots a second time.
_NOT_IN_DIR = {"get_slot_names", "_create_or_restore_slot_variable"}


class VariableList(list):
    """A list that can also be called: ``optimizer.variables`` and ``optimizer.variables()``."""

    def __call__(self):
        return self


class CompiledOptimizer(Configurable, Evaluation):
    """Mixin over a native optimizer base class.

    Attributes of the class:
        rule_class: the `UpdateRule`.
        target: the `Target`.
        layout_class: the generation's layout.
        engine: the module or object whose ``apply(core, pairs, aggregate)`` makes a step.
    """

    rule_class = None
    target = None
    layout_class = None
    engine = None

    def __init__(self, *args, **kwargs):
        name, given, options, decay, groups = split_arguments(self.rule_class, args, kwargs)
        groups = [sections.group_from_config(group, self._read_schedule) for group in groups]
        sections.check_names(groups)
        given = self._without_configs(given)
        rule = self.rule_class(**given)
        name = name or self.rule_class.__name__
        self._start_native(name)
        object.__setattr__(self, "_compat_name", name)
        layout = self.layout_class(self)
        dynamic = {n: getattr(rule, n) for n, h in rule.hypers().items() if not h.static}
        for value in dynamic.values():
            configs.remember_schedule(value)
        declared = {n: rule.hypers()[n] for n in dynamic}
        hypers = Hypers(type(rule).__name__, declared, dynamic, layout, decay)
        object.__setattr__(self, "_core", Core(rule, options, hypers, layout, groups))
        self._track_native(layout.node)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "apply_gradients" in vars(cls) and cls.rule_class is not None:
            cls.apply_gradients = accepting_all(vars(cls)["apply_gradients"])

    # Steps

    def apply_gradients(
        self,
        grads_and_vars,
        name=None,
        skip_gradients_aggregation=False,
        experimental_aggregate_gradients=True,
    ):
        """Update the variables by their gradients.

        Args:
            grads_and_vars: pairs of a gradient (a tensor of the variable's shape, an
                IndexedSlices, or None) and a variable.
            name: accepted for code written for OptimizerV2; names nothing.
            skip_gradients_aggregation, experimental_aggregate_gradients: the two generations'
                spelling of "the replicas' gradients are summed already" (True, False).

        Returns:
            The iterations variable; in TF1-style graphs the op that makes the step.

        Raises:
            GradientError: no gradient at all, a malformed pair, a wrong shape or dtype; nothing
                has changed then.
        """
        aggregate = experimental_aggregate_gradients and not skip_gradients_aggregation
        made = self._step(grads_and_vars, aggregate)
        return self._returned(made)

    def _returned(self, made):
        """What apply_gradients returns, given what the engine made."""
        return made if self._core.layout.returns_ops() and made is not None else self.iterations

    def _step(self, grads_and_vars, aggregate=True):
        """Make a step; what the engine returns (an op in graphs), None for an empty list."""
        pairs = list(grads_and_vars)
        if not pairs:
            return None
        refuse_step(self._core)
        aggregate = self._core.take_aggregate_hint(aggregate)
        return self.engine.apply(self._core, checked_pairs(self._core, pairs), aggregate)

    def build(self, var_list):
        """Make the state of all variables in `var_list` that have none yet; nobody loses any."""
        self._core.build([self._core.layout.variable(v) for v in var_list])
        if self._core.variables:  # Keras 3 builds with no variables when it reads an H5 file
            self._native_built()

    def minimize(self, loss, var_list, grad_loss=None, name=None, tape=None):
        """Compute the gradients of `loss` and apply them.

        Args:
            loss: a function without arguments, or a tensor computed inside `tape`.
            var_list: the variables, or a function that returns them.
            grad_loss: gradient of something with respect to `loss`, or None.
            name: names nothing.
            tape: the tf.GradientTape that recorded `loss`, where it is a tensor.
        """
        return self.apply_gradients(self.compute_gradients(loss, var_list, tape, grad_loss))

    def compute_gradients(self, loss, var_list, tape=None, grad_loss=None):
        """[(gradient, variable)] of `loss`, times loss_scale_factor; arguments as for `minimize`."""
        if not callable(loss) and tape is None:
            raise ArgumentError(
                "A loss that is computed already needs the tape that recorded it.",
                "tape=, or a function as loss",
                "loss=%r" % (loss,),
            )
        return self._core.layout.gradients_of(loss, var_list, tape, grad_loss)

    def finalize_variable_values(self, var_list):
        """With use_ema, give each variable in `var_list` the value of its moving average."""
        core = self._core
        if not core.options.use_ema:
            return
        for variable in var_list:
            variable = core.layout.variable(variable)
            core.layout.copy_into(variable, core.slot(variable, "average"))

    def exclude_from_weight_decay(self, var_list=None, var_names=None):
        """Leave variables out of weight decay.

        Args:
            var_list: variables, or None.
            var_names: regular expressions; a variable is excluded if one is found in its name
                (its path, where it has one).
        """
        core = self._core
        core.exclude([core.layout.variable(v) for v in var_list or ()], var_names)

    # State

    @property
    def variables(self):
        """All state variables, as a list that can also be called."""
        return VariableList(self._core.state_variables())

    @property
    def weights(self):
        """All state variables."""
        return list(self._core.state_variables())

    @property
    def iterations(self):
        """The variable that counts finished updates."""
        return self._core.iterations

    @iterations.setter
    def iterations(self, value):
        core = self._core
        if hasattr(value, "assign"):
            raise UnsupportedError(
                "The iterations variable of a compiled optimizer can't be replaced.",
                "a number",
                "iterations=%r" % (value,),
            )
        core.layout.assign(core.iterations, value)

    def get_weights(self):
        """The values of `variables`, as NumPy arrays: the same order on every target."""
        return self._core.arrays()

    def set_weights(self, weights):
        """Set the values of `variables`, also before the first step.

        Raises:
            StateError: wrong count or shapes; nothing has changed then.
        """
        self._core.set_arrays(weights)

    def save_own_variables(self, store):
        """Write the state into a .keras file, by position in `variables`."""
        for number, array in enumerate(self._core.arrays()):
            store[str(number)] = array

    def load_own_variables(self, store):
        """Read the state from a .keras file.

        Raises:
            StateError: the file holds another number of variables, or other shapes.
        """
        self._core.set_arrays([store[str(number)][()] for number in range(len(store.keys()))])

    def get_slot(self, var, slot_name):
        """The state variable `slot_name` of a model variable."""
        return self._core.slot(self._core.layout.variable(var), slot_name)

    def get_slot_names(self):
        """Names of the slots that the variables met so far have."""
        names = []
        for slots in self._core.slots:
            names.extend(name for name in slots if name not in names)
        return names

    def explain(self, sparse=()):
        """How each variable is updated, and why.

        Args:
            sparse: the variables whose gradients are sparse; the others' are dense.

        Returns:
            A string with a line per variable: name, shape, dtype, "plain", "joined", "xla",
            "fused", "rows" or "rows lazy", and the reason.
        """
        core = self._core
        by_rows = {core.index_of(core.layout.variable(v)) for v in sparse}
        lines = []
        for index, variable in enumerate(core.variables):
            choice = self.engine.choose(core, index, index in by_rows)
            layout = core.layout
            what = "%s %s %s" % (layout.name(variable), layout.shape(variable), layout.dtype(variable))
            group = core.section_of(index).group
            where = " (group %r)" % group.name if group else ""
            lines.append("%s%s: %s, because %s" % (what, where, choice.how, choice.why))
        return "\n".join(lines) or "The optimizer has met no variables yet: call build(variables)."

    # Hyperparameters and options

    @property
    def lr(self):
        """The old name of learning_rate."""
        return self.learning_rate

    @lr.setter
    def lr(self, value):
        self.learning_rate = value

    @property
    def rule(self):
        """The `UpdateRule` instance."""
        return self._core.rule

    @property
    def groups(self):
        """{name: `LiveGroup`}: hyperparameters of the groups are read and set as their attributes."""
        core = getattr(self, "_core", None)
        live = [sections.LiveGroup(core, section) for section in core.sections[1:]] if core else []
        return sections.LiveGroups((group.name, group) for group in live)

    def __dir__(self):
        return sorted(set(object.__dir__(self)) - _NOT_IN_DIR)

    # Copies

    def __reduce__(self):
        return _restore, self._recipe()

    def __reduce_ex__(self, protocol):
        return self.__reduce__()

    def __deepcopy__(self, memo):
        restored = _restore(*self._recipe())
        memo[id(self)] = restored
        return restored

    def _recipe(self):
        core = self._core
        sources = {
            name: core.hypers.sources[name].value
            for name, source in core.hypers.sources.items()
            if source.kind in ("schedule", "callable")
        }
        if len(core.sections) > 1:
            sources["groups"] = [sections.as_group(core, number) for number in range(1, len(core.sections))]
        config = self._config_without(sources)
        slots = core.arrays()[core.scalar_count() :] + core.pending_arrays()
        arrays = core.arrays()[: core.scalar_count()] + slots
        excluded = [i for i, decays in enumerate(core.decays) if not decays]
        # A compiled class is found again by its rule and target; a user's subclass by its name.
        own = type(self) if "rule_class" not in vars(type(self)) else None
        return (own, self.rule_class, self.target, config, sources, arrays, excluded, core.patterns())

    def _config_without(self, sources):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            config = self.get_config()
        return {name: value for name, value in config.items() if name not in sources}

    # What a generation provides

    def _start_native(self, name):
        """Run the native base class's constructor."""
        raise NotImplementedError

    def _track_native(self, node):
        """Hang `node` into the native base class's checkpoint dependencies."""

    def _native_built(self):
        """Tell the native base class that the optimizer is built."""

    def _hidden_options(self):
        """Options that have to look like missing attributes where they are None."""
        return ()


def _restore(cls, rule_class, target, config, sources, arrays, excluded, patterns):
    """Make a copy: same config and state; slots wait for build() with the variables."""
    from compat_opt.adapters.compile import compile_rule

    cls = cls or compile_rule(rule_class, target)
    optimizer = cls.from_config(dict(config, **sources))
    optimizer._core.set_arrays(arrays)
    optimizer._core.set_exclusions(excluded, patterns)
    return optimizer
