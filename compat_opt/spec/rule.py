"""UpdateRule: the base class of rules, and the checks made when a rule class is defined."""

import copy
import inspect

from compat_opt.errors import ArgumentError, RuleError, closest
from compat_opt.spec.checks import non_negative
from compat_opt.spec.declarations import Hyper, Shared, Slot

#: Constructor arguments of every compiled optimizer that are not hyperparameters of the rule.
OPTIONS = (
    "name",
    "groups",
    "clipnorm",
    "clipvalue",
    "global_clipnorm",
    "use_ema",
    "ema_momentum",
    "ema_overwrite_frequency",
    "gradient_accumulation_steps",
    "loss_scale_factor",
    "jit_compile",
    "check_numerics",
    "sparse",
)

#: Slots that every compiled optimizer may add to a variable, after the rule's own.
ENGINE_SLOTS = ("average", "accumulator")

#: What a declaration can't be called: compiled optimizers use these names themselves.
RESERVED = frozenset(
    OPTIONS
    + ENGINE_SLOTS
    + tuple(
        "apply apply_gradients build built compute_gradients decay exclude_from_weight_decay "
        "finalize_variable_values from_config get_config get_gradients get_slot get_slot_names "
        "get_updates get_weights iterations lr minimize rule set_weights stateless_apply step "
        "target variables weights".split()
    )
)

_SIGNATURES = {
    "prepare": ("self", "shared", "hyper", "ops"),
    "measure": ("self", "grad", "var", "slots", "hyper", "ops"),
    "update": ("self", "grad", "var", "slots", "hyper", "ops"),
    "evaluate": ("self", "var", "slots", "hyper", "ops"),
}


class UpdateRule:
    """An optimizer's update rule: a pure function with declared hyperparameters and state.

    Subclass it, declare `Hyper`, `Slot` and `Shared` attributes, and write `update`. Declarations
    are class attributes: inherited, and overridable like any attribute (``= None`` removes one).

    An instance holds one choice of hyperparameters: ``Adam(beta_1=0.8, amsgrad=True)``.

    Every rule has ``weight_decay``: decoupled decay, ``var -= var * weight_decay *
    learning_rate`` before the update, off unless a number is given (AdamW's default is on).

    Raises:
        RuleError: when a subclass is defined with a wrong signature or clashing names.
        ArgumentError: when an instance is made with a keyword that was not declared.
    """

    weight_decay = Hyper(None, check=non_negative)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        _check_names(cls)
        _check_signatures(cls)

    def __init__(self, **hypers):
        declared = self.hypers()
        for name in hypers:
            if name not in declared:
                raise ArgumentError(
                    "%s has no hyperparameter %r." % (type(self).__name__, name),
                    "one of %s" % ", ".join(declared),
                    "%s=%r" % (name, hypers[name]),
                    closest(name, declared),
                )
        values = {}
        for name, hyper in declared.items():
            values[name] = hypers.get(name, hyper.default)
            hyper.validate(values[name], type(self).__name__)
        self.__dict__["_values"] = values
        self.__dict__["_stepping"] = False

    def __setattr__(self, name, value):
        declaration = getattr(type(self), name, None)
        if isinstance(declaration, Hyper):
            declaration.__set__(self, value)
        raise RuleError(
            "A rule keeps no attributes of its own: it is a pure function.",
            remedy="Declare %s = Slot() for state per variable, or Shared() for one scalar." % name,
        )

    def _value_of(self, hyper):
        if self._stepping and not hyper.static:
            raise RuleError(
                "%s.%s may change while training." % (type(self).__name__, hyper.name),
                "hyper.%s inside update, prepare and measure" % hyper.name,
                "self.%s" % hyper.name,
            )
        return self._values[hyper.name]

    def with_values(self, **hypers):
        """A copy of this rule with some hyperparameters replaced."""
        values = dict(self._values)
        values.update(hypers)
        return type(self)(**values)

    def for_step(self):
        """A view of this rule for update(): hypers that are not static can't be read on it."""
        view = copy.copy(self)
        view.__dict__["_stepping"] = True
        return view

    @classmethod
    def _declared(cls, kind):
        found = {}
        for base in reversed(cls.__mro__):
            for name, value in vars(base).items():
                if isinstance(value, kind):
                    found[name] = value
                elif name in found:
                    del found[name]
        return found

    @classmethod
    def hypers(cls):
        """Declared hyperparameters by name: learning_rate first, weight_decay last."""
        found = cls._declared(Hyper)
        first = ["learning_rate"] if "learning_rate" in found else []
        middle = [n for n in found if n not in ("learning_rate", "weight_decay")]
        return {name: found[name] for name in first + middle + ["weight_decay"] if name in found}

    @classmethod
    def slots(cls):
        """Declared slots by name, in declaration order."""
        return cls._declared(Slot)

    @classmethod
    def shared(cls):
        """Declared shared scalars by name, in declaration order."""
        return cls._declared(Shared)

    def slots_for(self, variable_shape):
        """The slots that a variable of `variable_shape` has under this rule, by name."""
        return {
            name: slot.resolved(self)
            for name, slot in self.slots().items()
            if slot.exists_for(self, tuple(variable_shape))
        }

    @classmethod
    def overrides(cls, method):
        """Whether this rule has its own `prepare`, `measure` or `evaluate`."""
        return getattr(cls, method) is not getattr(UpdateRule, method)

    def prepare(self, shared, hyper, ops):
        """Step scalars, computed once per step: ``{name: scalar}``.

        Args:
            shared: the `Shared` scalars' present values, by attribute.
            hyper: the hyperparameters at this step, ``hyper.step`` (1 at the first step), and
                what `measure` returned, summed over the variables.
            ops: the operations table.

        Returns:
            A dict of scalars, readable as ``hyper.<name>`` in `update`. A name declared with
            `Shared` is also kept for the next step.
        """
        return {}

    def measure(self, grad, var, slots, hyper, ops):
        """Scalars of one variable, summed over all variables before `prepare`: ``{name: scalar}``.

        `hyper` also has the `Shared` scalars' present values, and `var` is the value before weight
        decay.
        """
        return {}

    def update(self, grad, var, slots, hyper, ops):
        """The rule.

        Args:
            grad: the gradient, of the variable's shape, in the compute dtype.
            var: the variable's value (after weight decay), of the same shape and dtype.
            slots: this variable's slots, by attribute; ``"name" in slots`` where one is optional.
            hyper: scalars by attribute: hyperparameters, ``step``, what `prepare` returned.
            ops: the operations table; operators on tensors work too.

        Returns:
            ``(new_var, {slot name: new value})``. A slot left out keeps its value.
        """
        raise RuleError("%s has no update()." % type(self).__name__)

    def evaluate(self, var, slots, hyper, ops):
        """The value to evaluate the model with; the trained one unless a rule keeps an average.

        Args:
            var: the trained value. `slots`, `ops`: as for `update`.
            hyper: the hyperparameters and ``step`` as they were at the last step.
        """
        return var

    def __repr__(self):
        changed = [
            "%s=%r" % (name, self._values[name])
            for name, hyper in self.hypers().items()
            if self._values[name] != hyper.default
        ]
        return "%s(%s)" % (type(self).__name__, ", ".join(changed))


def _check_names(cls):
    """Refuse names that the compiled optimizer uses itself, and one name declared twice."""
    for name in list(cls.hypers()) + list(cls.slots()) + list(cls.shared()):
        if name in RESERVED or name.startswith("_"):
            raise RuleError(
                "%s declares %r, a name that every compiled optimizer uses itself."
                % (cls.__name__, name),
                "a name without leading underscore, and none of %s" % ", ".join(sorted(RESERVED)),
                remedy="Rename the declaration.",
            )
    for name, value in vars(cls).items():
        for kind in (Hyper, Slot, Shared):
            inherited = any(isinstance(vars(base).get(name), kind) for base in cls.__mro__[1:])
            other = (Hyper, Slot, Shared)
            if inherited and isinstance(value, other) and not isinstance(value, kind):
                raise RuleError(
                    "%s declares %r as %s, but a base class declares it as %s."
                    % (cls.__name__, name, type(value).__name__, kind.__name__),
                    remedy="Rename one of the two.",
                )
        if isinstance(value, (Hyper, Slot, Shared)) and hasattr(UpdateRule, name):
            if not isinstance(getattr(UpdateRule, name), Hyper):
                raise RuleError(
                    "%s declares %r, which is a method of every rule." % (cls.__name__, name),
                    remedy="Rename the declaration.",
                )


def _check_signatures(cls):
    """Refuse methods whose arguments are not those of the contract."""
    if cls.update is UpdateRule.update and not cls.__name__.startswith("_"):
        raise RuleError(
            "%s has no update()." % cls.__name__,
            "def update(self, grad, var, slots, hyper, ops)",
            remedy="A base class that leaves it to its subclasses has a name that starts with _.",
        )
    for method, expected in _SIGNATURES.items():
        names = tuple(inspect.signature(getattr(cls, method)).parameters)
        if names != expected:
            raise RuleError(
                "%s.%s has the wrong arguments." % (cls.__name__, method),
                "def %s(%s)" % (method, ", ".join(expected)),
                "def %s(%s)" % (method, ", ".join(names)),
            )
