"""Native: how one class of a generation names, orders and means its state."""

import importlib

from compat_opt.errors import StateError
from compat_opt.spec import UpdateRule


class Native:
    """One native optimizer class, as data.

    Args:
        rule: the rule with the same algorithm: a name in `compat_opt.rules`, or a rule class.
        slots: {native slot name: the rule's}, in the order in which the class makes them; None for a placeholder that
            no variable has in the rule.
        attributes: {attribute of the optimizer: native slot name} of lists with a variable for
            each model variable, in Keras 2 and Keras 3.
        order: lists of native slot names: the slots of one list are interleaved, variable by
            variable; the lists follow one another. None: one list with all of them.
        shared: {native name: the rule's Shared scalar}.
        hypers: {native name: the rule's} where they differ.
        implied: {hyper of the rule: the value that the class's formula has}, or a function of the
            config that returns it.
        conversions: {native slot name: name of a conversion in `conversions.SLOTS`}.
        placeholders: native slots that also exist where the rule has none; nothing reads them.
        unlisted: those placeholders that are not among the optimizer's variables.
        recomputed: {Shared scalar: name of a function in `conversions.SCALARS`}, for scalars that
            the class does not keep, or with another meaning.
        formulas: {backend: words} where the class computes something else than the rule, from the same state.
    """

    def __init__(
        self,
        rule,
        slots=None,
        attributes=None,
        order=None,
        shared=None,
        hypers=None,
        implied=None,
        conversions=None,
        placeholders=(),
        unlisted=(),
        recomputed=None,
        formulas=None,
    ):
        self.rule = rule
        self.slots = dict(slots or {})
        self.attributes = dict(attributes or {})
        self.order = [list(group) for group in order] if order else [list(self.slots)]
        self.shared = dict(shared or {})
        self.hypers = dict(hypers or {})
        self._implied = implied
        self.conversions = dict(conversions or {})
        self.placeholders = tuple(placeholders)
        self.unlisted = tuple(unlisted)
        self.recomputed = dict(recomputed or {})
        self.formulas = dict(formulas or {})

    def rule_class(self):
        """The `UpdateRule`."""
        if isinstance(self.rule, type) and issubclass(self.rule, UpdateRule):
            return self.rule
        return rule_named(self.rule)

    def implied(self, config):
        """{hyper of the rule: value} that the formula of the class stands for."""
        return dict(self._implied(config) if callable(self._implied) else self._implied or {})

    def hypers_of(self, config):
        """{hyper of the rule: value} for a native config; what the config lacks is left out."""
        native_name = {own: native for native, own in self.hypers.items()}
        found = {}
        for name in self.rule_class().hypers():
            key = native_name.get(name, name)
            if key in config:
                found[name] = config[key]
        found.update(self.implied(config))
        return found

    def formula(self, backend):
        """What the class computes on a backend (None: nobody knows which), in words; "" for what the rule does."""
        if self.formulas and backend is None:
            return "that of a backend that the file does not tell"
        return self.formulas.get(backend, "")

    def rule_for(self, config):
        """A rule instance whose slots are those of an optimizer with this config."""
        plain = {n: v for n, v in self.hypers_of(config).items() if _is_plain(v)}
        return self.rule_class()(**plain)

    def slots_for(self, config, shape):
        """[(native name, the rule's name or None for a placeholder)] of a variable of `shape`."""
        has = self.rule_for(config).slots_for(shape)
        found = []
        for native, own in self.slots.items():
            if own in has:
                found.append((native, own))
            elif native in self.placeholders:
                found.append((native, None))
        return found

    def replaced(self, **changes):
        """A copy with some arguments replaced."""
        arguments = dict(
            rule=self.rule,
            slots=self.slots,
            attributes=self.attributes,
            order=self.order,
            shared=self.shared,
            hypers=self.hypers,
            implied=self._implied,
            conversions=self.conversions,
            placeholders=self.placeholders,
            unlisted=self.unlisted,
            recomputed=self.recomputed,
            formulas=self.formulas,
        )
        return Native(**dict(arguments, **changes))


def _is_plain(value):
    return isinstance(value, (bool, int, float, str, list, tuple))


def rule_named(name):
    """The shipped rule with this name.

    Raises:
        StateError: there is none.
    """
    rules = importlib.import_module("compat_opt.rules")
    try:
        return getattr(rules, name)
    except AttributeError:
        raise StateError(
            "No rule is called %r." % name,
            "a name in compat_opt.rules",
            "algorithm=%r" % name,
            "Give the rule class itself for a rule of your own.",
        )
