"""The three things a rule declares: hyperparameters, slots and shared scalars."""

import copy
import numbers

from compat_opt.errors import HyperError, RuleError

_INITS = ("zeros", "ones", "variable")


class Hyper:
    """A hyperparameter of a rule.

    Args:
        default: the value that is used when the constructor gets none. ``None`` (not static)
            means "off": the rule runs without it until a number is given.
        static: a plain Python value (a flag, a string, a tuple) that may steer Python control
            flow and which slots exist; fixed when the optimizer is made. Read it in the rule as
            ``self.<name>`` or ``hyper.<name>``. Otherwise the hyperparameter may be a number, a
            schedule, a zero-argument callable or a tensor, it can be set on the live optimizer,
            and the rule reads it as ``hyper.<name>``: a scalar that keeps the digits of float64
            until it meets a tensor.
        check: called with the Python number, or with the value of a static hyperparameter; returns
            False, or raises ValueError or TypeError, when it is out of range. Its docstring is quoted
            in the error. Not called for schedules, callables and tensors, whose values are only known
            later.
    """

    def __init__(self, default, static=False, check=None):
        self.default = default
        self.static = static
        self.check = check
        self.name = None
        if check is not None and not callable(check):
            raise RuleError("The check of a Hyper is called.", "a function", "check=%r" % (check,))

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, rule, owner=None):
        if rule is None:
            return self
        return rule._value_of(self)

    def __set__(self, rule, value):
        raise RuleError(
            "%r is a hyperparameter; a rule is a pure function and can't assign to it." % self.name,
            remedy="Return new state from update(), or set it on the optimizer.",
        )

    def validate(self, value, owner):
        """Raise HyperError unless `value`, a Python value given for `owner`, may be used."""
        if value is None and self.default is not None and not self.static:
            raise HyperError(
                "%s.%s can't be None." % (owner, self.name),
                "a number, a schedule, a callable or a tensor",
                "%s=None" % self.name,
                "Leave it out to get the default %r." % (self.default,),
            )
        if self.static:
            self._refuse_what_changes(value, owner)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if self.check is None or not (number or (self.static and value is not self.default)):
            return
        reason = (self.check.__doc__ or "").strip()
        try:
            passed = self.check(value)
        except ValueError as error:
            passed, reason = False, str(error)
        except TypeError:  # it compares with numbers
            passed = False
        if not passed:
            raise HyperError(
                "%s.%s is out of range." % (owner, self.name),
                reason or "a value that passes %r" % self.check,
                "%s=%r" % (self.name, value),
            )

    def _refuse_what_changes(self, value, owner):
        """Refuse a schedule, and text for a flag: both would count as true."""
        plain = isinstance(self.default, (bool, int, float, str))
        text = isinstance(self.default, bool) and isinstance(value, str)
        if plain and (callable(value) or text):
            raise HyperError(
                "%s.%s is fixed when the optimizer is made; it can't be a %s."
                % (owner, self.name, type(value).__name__),
                "True or False" if isinstance(self.default, bool) else "a plain value such as %r" % self.default,
                "%s=%r" % (self.name, value),
            )

    def __repr__(self):
        return "Hyper(%r%s)" % (self.default, ", static=True" if self.static else "")


class Slot:
    """State that a rule keeps for each variable.

    Args:
        init: the first value: "zeros", "ones", a number, "variable" (a copy of the variable's
            first value), a callable ``(shape, dtype) -> array-like``, or a static `Hyper` of the
            rule whose value is that number.
        shape: None for the variable's shape, or a function of the variable's shape (a tuple of
            ints) that returns the slot's.
        dtype: None for the compute dtype (the variable's own; float32 for float16 and bfloat16
            variables), "real" for its real counterpart, or a dtype name.
        when: ``when(rule, shape) -> bool``: whether this slot exists for a variable of `shape`.
            Hyperparameters, also those that are not static, are readable on `rule` there: as
            given to the constructor, or as set since.
    """

    def __init__(self, init="zeros", shape=None, dtype=None, when=None):
        if init is None or (isinstance(init, str) and init not in _INITS):
            raise RuleError(
                "A slot can't start like that.",
                "%s, a number or a callable(shape, dtype)" % ", ".join(map(repr, _INITS)),
                "init=%r" % init,
            )
        for argument, value in (("shape", shape), ("when", when)):
            if value is not None and not callable(value):
                raise RuleError(
                    "The %s of a Slot is called." % argument, "a function", "%s=%r" % (argument, value)
                )
        if isinstance(init, Hyper) and not init.static:
            raise RuleError(
                "A slot can't start at a hyperparameter that may change while training.",
                "a static Hyper",
                "init=%r" % init,
            )
        if init == "variable" and shape is not None:
            raise RuleError(
                "A slot that starts as a copy of the variable has the variable's shape.",
                "no shape= beside init='variable'",
                "shape=%r" % (shape,),
            )
        self.init = init
        self.shape = shape
        self.dtype = dtype
        self.when = when
        self.name = None

    def __set_name__(self, owner, name):
        self.name = name

    def shape_for(self, variable_shape):
        """The slot's shape (a tuple of ints) for a variable of `variable_shape`."""
        if self.shape is None:
            return tuple(variable_shape)
        return tuple(int(size) for size in self.shape(tuple(variable_shape)))

    def dtype_for(self, compute_dtype):
        """The slot's dtype name beside a variable that is updated in `compute_dtype`."""
        if self.dtype == "real":
            return {"complex64": "float32", "complex128": "float64"}.get(compute_dtype, compute_dtype)
        return self.dtype or compute_dtype

    def resolved(self, rule):
        """This slot with `init` as a value: what `rule` has where a Hyper was declared."""
        if not isinstance(self.init, Hyper):
            return self
        slot = copy.copy(self)
        slot.init = getattr(rule, self.init.name)
        return slot

    def exists_for(self, rule, variable_shape):
        """Whether a variable of `variable_shape` has this slot under `rule`."""
        return self.when is None or bool(self.when(rule, tuple(variable_shape)))

    def __repr__(self):
        return "Slot(%r)" % (self.init,)


class Shared:
    """A scalar that is kept once per optimizer, such as Nadam's momentum product.

    Args:
        init: its first value, a number.
        dtype: its storage dtype. The rule reads it as a scalar that keeps the digits of float64.
    """

    def __init__(self, init, dtype="float32"):
        if not isinstance(init, numbers.Real):
            raise RuleError("A shared scalar starts at a number.", "a number", "init=%r" % (init,))
        self.init = init
        self.dtype = dtype
        self.name = None

    def __set_name__(self, owner, name):
        self.name = name

    def __repr__(self):
        return "Shared(%r, dtype=%r)" % (self.init, self.dtype)
