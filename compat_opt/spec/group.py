"""Group: settings of their own for some of an optimizer's variables."""

import re

from compat_opt.errors import ArgumentError, closest
from compat_opt.spec.checks import non_negative
from compat_opt.spec.declarations import Hyper
from compat_opt.spec.rule import UpdateRule

#: A hyperparameter that every group has beside those of its rule.
MULTIPLIER = Hyper(1.0, check=non_negative)
MULTIPLIER.name = "learning_rate_multiplier"


class Positions(tuple):
    """A selector: the positions of variables in the order in which the optimizer met them."""


class Group:
    """Settings of their own for some of the variables of one optimizer.

    ``AdamW(1e-3, groups=[Group("bias|gamma|beta", weight_decay=0.0), Group("embeddings", learning_rate=1e-2)])``

    The variables of a group are updated as by an optimizer of their own with these settings: hyperparameters
    that are not given are the optimizer's (also when they change), scalars of a rule that are kept once or
    summed over variables are the group's. Counting steps, clipping, accumulation and moving averages stay common.

    Args:
        select: which variables: a regular expression that is found in a variable's name (its path, where it
            has one), a layer or model (its weights), a variable, a function ``variable -> bool``, or a list of
            these. Names and positions can be written into configs; of the others the positions of the
            variables that they chose are written, once the optimizer is built.
        name: by which the group is found: ``optimizer.groups[name]``. Default: the pattern, or the layer's name.
        rule: None for the optimizer's rule, or another `UpdateRule` class, with its own defaults.
        optional: whether no variable may match at the first build: they come later, or never.
        learning_rate_multiplier: multiplies the learning rate. Default 1.
        **hypers: hyperparameters as the rule takes them: numbers, schedules, callables; static ones too.

    Raises:
        ArgumentError: nothing to select by, or an invalid pattern.
    """

    def __init__(self, select, name=None, rule=None, optional=False, **hypers):
        self.select = _checked_selectors(select)
        self.name = name or _name_of(self.select)
        self.rule = rule
        self.optional = bool(optional)
        self.hypers = hypers
        if not isinstance(self.name, str):
            raise ArgumentError("The name of a group is a string.", "a str", "name=%r" % (name,))
        if rule is not None and not (isinstance(rule, type) and issubclass(rule, UpdateRule)):
            raise ArgumentError(
                "The rule of group %r is a rule class." % self.name,
                "an UpdateRule subclass, such as compat_opt.rules.SGD, or None",
                "rule=%r" % (rule,),
                "Its hyperparameters are arguments of the Group.",
            )

    def declared(self, rule):
        """{name: Hyper} of what the group may set, beside an optimizer of the class `rule`.

        Raises:
            ArgumentError: it sets something else.
        """
        declared = dict((self.rule or rule).hypers())
        if "learning_rate" in declared:
            declared[MULTIPLIER.name] = MULTIPLIER
        for name in self.hypers:
            if name not in declared:
                raise ArgumentError(
                    "%s has no hyperparameter %r, which group %r sets."
                    % ((self.rule or rule).__name__, name, self.name),
                    "some of %s" % ", ".join(declared),
                    "%s=%r" % (name, self.hypers[name]),
                    closest(name, declared),
                )
        return declared

    def __repr__(self):
        settings = "".join(", %s=%r" % pair for pair in self.hypers.items())
        rule = ", rule=%s" % self.rule.__name__ if self.rule else ""
        select = self.select[0] if len(self.select) == 1 else self.select
        return "Group(%r%s%s)" % (select, rule, settings)


def is_layer(selector):
    """Whether a selector is a Keras layer or model."""
    return hasattr(selector, "weights") and hasattr(selector, "trainable_weights")


def _checked_selectors(select):
    selectors = [select]
    if isinstance(select, list) or (isinstance(select, tuple) and not isinstance(select, Positions)):
        selectors = list(select)
    for selector in selectors:
        if isinstance(selector, str) and selector:
            check_pattern(selector, "The pattern of a group", "select")
        elif not (callable(selector) or hasattr(selector, "assign") or isinstance(selector, Positions)):
            selectors = []
    if not selectors:
        raise ArgumentError(
            "A group can't select variables by that.",
            "a pattern, a layer, a variable, a function of a variable, or a list of these",
            "select=%r" % (select,),
        )
    return selectors


def check_pattern(pattern, what, argument):
    """Refuse a `pattern` that is no regular expression; `what` it is, and the `argument` that has it."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise ArgumentError(
            "%s is no regular expression: %s." % (what, error), "a pattern of the module re", "%s=%r" % (argument, pattern)
        )


def _name_of(selectors):
    first = selectors[0]
    if isinstance(first, str):
        return "|".join(s for s in selectors if isinstance(s, str))
    return str(getattr(first, "name", None) or getattr(first, "__name__", None) or "group")
