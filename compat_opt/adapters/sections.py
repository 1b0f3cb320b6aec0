"""Sections: the parts of an optimizer's variables that have settings of their own.

Section 0 has the variables of no group, the others those of one `Group` each.
"""

import re
import sys

from compat_opt import rules
from compat_opt.adapters import config as configs
from compat_opt.adapters.hypers import Hypers
from compat_opt.adapters.update import Setting
from compat_opt.errors import ArgumentError, HyperError, UnsupportedError, closest
from compat_opt.spec.group import MULTIPLIER, Group, Positions, is_layer


class Section:
    """Settings for a part of the variables.

    Attributes:
        group: the `Group`, or None.
        rule: the `UpdateRule` instance.
        hypers: the `Hypers`: all of section 0; of a group those that it sets itself.
        prefix: what names of its state start with.
        follows: whether hyperparameters that it does not set are those of section 0.
    """

    def __init__(self, rule, hypers, group=None, prefix=""):
        self.group = group
        self.rule = rule
        self.hypers = hypers
        self.prefix = prefix
        self.follows = group is not None and group.rule is None

    def rule_after(self, section, name, value):
        """Its rule once `section` has `value` for hyperparameter `name`."""
        concerned = self is section or (self.follows and section.group is None and name not in self.hypers.sources)
        if not concerned or name == MULTIPLIER.name:
            return self.rule
        return self.rule.with_values(**{name: value})


def group_section(number, group, main, layout):
    """The `Section` of group number `number`, checked against the section of all others."""
    declared, prefix = group.declared(type(main.rule)), "group_%d_" % number
    given = {name: group.hypers[name] for name in declared if name in group.hypers}
    multiplier = {MULTIPLIER.name: given.pop(MULTIPLIER.name, MULTIPLIER.default)}
    rule = main.rule.with_values(**given) if group.rule is None else group.rule(**given)
    own = given if group.rule is None else {name: getattr(rule, name) for name in rule.hypers()}
    if MULTIPLIER.name in declared:
        own = dict(own, **multiplier)
    dynamic = {name: value for name, value in own.items() if not declared[name].static}
    for value in dynamic.values():
        configs.remember_schedule(value)
    hypers = Hypers(
        "%s, group %r" % (type(rule).__name__, group.name),
        {name: declared[name] for name in dynamic},
        dynamic,
        layout,
        main.hypers.decay,
        prefix,
    )
    return Section(rule, hypers, group, prefix)


def check_names(groups):
    """Refuse what is no list of groups with different names."""
    names = [getattr(group, "name", None) for group in groups]
    for group in groups:
        if not isinstance(group, Group):
            raise ArgumentError(
                "groups is a list of groups.", "[compat_opt.Group(...), ...]", "%r among them" % (group,)
            )
        if names.count(group.name) > 1:
            raise ArgumentError(
                "Two groups have the same name.", "different names", "name=%r" % group.name, "Give one of them name=."
            )


def evaluate(sections, iterations, external=None):
    """For each section {hyperparameter: value at this step, or None}.

    Args:
        sections: section 0 and those of the groups.
        iterations: number of finished updates, as the framework's scalar.
        external: {prefixed name: value} that are known already, see `Hypers.external`.
    """
    found = [sections[0].hypers.evaluate(iterations, external)]
    for section in sections[1:]:
        values = section.hypers.evaluate(iterations, external)
        multiplier = values.pop(MULTIPLIER.name, None)
        if section.follows:
            values = dict(found[0], **values)
        if multiplier is not None:
            values["learning_rate"] = values["learning_rate"] * multiplier
        found.append(values)
    return found


def settings(sections, scalars, shared):
    """The `Setting` of each section, from `evaluate` and the values of all shared scalars."""
    return [
        Setting(
            section.rule,
            values,
            {name: shared[section.prefix + name] for name in section.rule.shared()},
            section.prefix,
        )
        for section, values in zip(sections, scalars)
    ]


# Which variable belongs where


def finder(selector, layout):
    """A function (variable, position) -> whether the selector chooses it."""
    if isinstance(selector, str):
        pattern = re.compile(selector)
        return lambda variable, position: bool(pattern.search(layout.name(variable)))
    if isinstance(selector, Positions):
        return lambda variable, position: position in selector
    if is_layer(selector) or hasattr(selector, "assign"):
        weights = selector.weights if is_layer(selector) else [selector]
        keys = {layout.key(weight) for weight in weights}
        return lambda variable, position: layout.key(variable) in keys
    return lambda variable, position: bool(selector(variable))


def homes(sections, layout, variables, start):
    """The number of the section of each new variable; `start` is the position of the first.

    Raises:
        ArgumentError: two groups claim a variable, or nothing matches at the first build.
    """
    claims = [[] for _ in variables]
    for number, section in enumerate(sections[1:], 1):
        for selector in section.group.select:
            chosen = finder(selector, layout)
            matched = [p for p, variable in enumerate(variables) if chosen(variable, start + p)]
            if not (matched or start or section.group.optional):
                raise ArgumentError(
                    "Group %r chooses no variable by %r." % (section.group.name, selector),
                    "one of %s" % ", ".join(layout.name(variable) for variable in variables),
                    "no match",
                    "optional=True lets a group wait for variables that come later.",
                )
            for position in matched:
                if number not in claims[position]:
                    claims[position].append(number)
    for variable, claimed in zip(variables, claims):
        if len(claimed) > 1:
            raise ArgumentError(
                "Two groups claim variable %s." % layout.name(variable),
                "one group at most",
                " and ".join(repr(sections[number].group.name) for number in claimed),
                "Make the patterns exclude each other, such as '^(?!.*head/).*bias' and 'head/'.",
            )
    return [claimed[0] if claimed else 0 for claimed in claims]


# Configs and copies


def as_group(core, number):
    """The `Group` of a section as it is now; what it chose by other than names as positions."""
    section = core.sections[number]
    group = section.group
    select = []
    for selector in group.select:
        if not isinstance(selector, (str, Positions)) and core.variables:
            chosen = finder(selector, core.layout)
            selector = Positions(p for p, variable in enumerate(core.variables) if chosen(variable, p))
        select.append(selector)
    hypers = {name: value for name, value in group.hypers.items() if name not in section.hypers.sources}
    for name, source in section.hypers.sources.items():
        number_now = section.hypers.number(name)
        hypers[name] = source.value if number_now is None else number_now
    if hypers.get(MULTIPLIER.name) == MULTIPLIER.default:
        del hypers[MULTIPLIER.name]
    return Group(select, group.name, group.rule, group.optional, **hypers)


def group_config(group, hyper_config):
    """A group as exact JSON; `hyper_config(name)` writes what is no plain value.

    Raises:
        HyperError: it selects by a layer or function, and the optimizer is not built.
    """
    select = []
    for selector in group.select:
        if not isinstance(selector, (str, Positions)):
            raise HyperError(
                "Group %r can't be written into a config yet: it selects by an object." % group.name,
                "a pattern, or an optimizer that is built",
                "select=%r" % (selector,),
                "Call build(variables) first: the positions of its variables are written then.",
            )
        select.append({"positions": list(selector)} if isinstance(selector, Positions) else selector)
    rule = group.rule and {"class_name": group.rule.__name__, "module": group.rule.__module__}
    hypers = {name: hyper_config(name) for name in group.hypers}
    return {"select": select, "name": group.name, "rule": rule, "optional": group.optional, "hypers": hypers}


def group_from_config(config, read_schedule, custom_objects=None):
    """The `Group` that `group_config` wrote; a Group stays as it is.

    Raises:
        HyperError: this process does not know its rule.
    """
    if not isinstance(config, dict) or not {"select", "name", "rule", "optional", "hypers"} <= set(config):
        return config
    select = [Positions(s["positions"]) if isinstance(s, dict) else s for s in config["select"]]
    hypers = {
        name: read_schedule(value) if isinstance(value, dict) and "class_name" in value else value
        for name, value in config["hypers"].items()
    }
    rule = config["rule"] and _rule_of(custom_objects or {}, **config["rule"])
    return Group(select, config["name"], rule, config["optional"], **hypers)


def _rule_of(custom_objects, class_name, module):
    found = custom_objects.get(class_name) or getattr(sys.modules.get(module), class_name, None)
    if found is None and module.startswith(rules.__name__):
        found = getattr(rules, class_name, None)
    if found is None:
        raise HyperError(
            "The config names a rule that this process does not know.",
            "an imported class, or custom_objects={%r: the class}" % class_name,
            "class_name=%r, module=%r" % (class_name, module),
            "Import the module that defines it first.",
        )
    return found


class LiveGroups(dict):
    """{name: `LiveGroup`} of an optimizer."""

    def __missing__(self, name):
        raise KeyError("No group %r. Expected: one of %s. %s" % (name, list(self), closest(str(name), self)))


class LiveGroup:
    """A group of a live optimizer: its own hyperparameters, read and set as attributes.

    Reading gives what reading the optimizer's attribute does; setting acts at the next step.

    Raises:
        UnsupportedError: a hyperparameter that the group was made without is set.
    """

    def __init__(self, core, section):
        self.__dict__["_core"] = core
        self.__dict__["_section"] = section

    @property
    def name(self):
        """The group's name."""
        return self._section.group.name

    @property
    def variables(self):
        """The model variables of the group met so far."""
        sections, homes_ = self._core.sections, self._core.homes
        return [v for v, home in zip(self._core.variables, homes_) if sections[home] is self._section]

    def __getattr__(self, name):
        section = self._section
        if name in section.hypers.sources:
            return section.hypers.get(name, self._core.iterations)
        hyper = type(section.rule).hypers().get(name)
        if hyper is None:
            raise AttributeError("Group %r has no hyperparameter %r. %s" % (self.name, name, closest(name, dir(self))))
        if hyper.static:
            return getattr(section.rule, name)
        return self._core.hypers.get(name, self._core.iterations)

    def __setattr__(self, name, value):
        if name not in self._section.hypers.sources:
            raise UnsupportedError(
                "Group %r was made without a %s of its own." % (self.name, name),
                "one of %s" % ", ".join(self._section.hypers.sources),
                "%s=%r" % (name, value),
                "Give it to the Group when the optimizer is made.",
            )
        self._core.set_hyper(name, value, self._section)

    def __dir__(self):
        return sorted(set(type(self._section.rule).hypers()) | set(self._section.hypers.sources) | {"name", "variables"})

    def __repr__(self):
        return "<group %r of %d variables>" % (self.name, len(self.variables))
