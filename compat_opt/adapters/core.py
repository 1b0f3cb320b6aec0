"""Core: the state of one compiled optimizer, and everything about it that needs no framework."""

import functools
import re

from compat_opt.adapters import sections
from compat_opt.adapters.slots import plan_slots
from compat_opt.errors import ArgumentError, StateError, UnsupportedError, closest
from compat_opt.ops import dtypes
from compat_opt.spec.group import check_pattern


class Core:
    """Rule, options, hyperparameters and variables of one optimizer.

    Attributes:
        rule, hypers: the `UpdateRule` instance and the `Hypers` of variables in no group.
        sections: the `Section` of these, then one for each group.
        options: the `Options`.
        layout: makes, names and reads variables as the generation does.
        iterations, micro_step: counting variables; `micro_step` is None without accumulation.
        shared: {name: variable}.
        variables: the model's variables, in the order in which they were met.
        slots: for each of them {name: variable}.
        calls: for each of them the variable that counts accumulated calls, or None.
        decays: for each of them whether weight decay applies.
        homes: for each of them the number of its section.
        trained: {position: trained value} while the model has weights for evaluation, else None.
        version: changes when a traced step is out of date.
    """

    def __init__(self, rule, options, hypers, layout, groups=()):
        main = sections.Section(rule, hypers)
        self.sections = [main] + [
            sections.group_section(number, group, main, layout) for number, group in enumerate(groups)
        ]
        self.options = options
        self.layout = layout
        self.variables, self.slots, self.calls, self.decays, self.homes = [], [], [], [], []
        self.shared = {}
        self.micro_step = None
        self.trained = None
        self.version = 0
        self._index = {}
        self._excluded_keys, self._excluded_patterns = set(), []
        self._excluded_indexes = set()
        self._pending = None
        self.compiled_in = False
        #: False while a user's override that did not pass it on was called with summed gradients.
        self.aggregate_hint = True
        #: Traced steps, compiled updates and traced rules, by what they were made for.
        self.steps, self.compiled, self._programs, self._neutral, self._choices = {}, {}, {}, {}, {}
        self.iterations = layout.counter("iteration", 64)
        for section in self.sections:
            section.hypers.create_variables()
            section.hypers.setter = functools.partial(self.set_hyper, section=section)
        for section in self.sections:
            for name, declared in section.rule.shared().items():
                name = section.prefix + name
                self.shared[name] = layout.scalar(name, declared.init, declared.dtype)
        if (options.gradient_accumulation_steps or 1) > 1:
            self.micro_step = layout.counter("micro_step", 32)

    @property
    def rule(self):
        """The `UpdateRule` instance of the variables in no group."""
        return self.sections[0].rule

    @property
    def hypers(self):
        """The `Hypers` of the variables in no group."""
        return self.sections[0].hypers

    def section_of(self, index):
        """The `Section` of variable number `index`."""
        return self.sections[self.homes[index]]

    def stamp(self):
        """What changes whenever a traced step is out of date."""
        return (self.version,) + tuple(section.hypers.version for section in self.sections)

    def external(self, iterations):
        """{prefixed name: value} of the hyperparameters that user code computes."""
        found = {}
        for section in self.sections:
            found.update(section.hypers.external(iterations))
        return found

    # Variables

    def scalar_variables(self):
        """The state that comes before the first slot.

        iteration, hyperparameters, shared scalars (the groups' after the others), micro_step.
        """
        found = [self.iterations]
        for section in self.sections:
            found.extend(section.hypers.variables.values())
        found.extend(self.shared.values())
        if self.micro_step is not None:
            found.append(self.micro_step)
        return found

    def state_variables(self):
        """Every variable of the optimizer, in the order that all generations keep.

        The scalars; then for each model variable its slots in declaration order, the average, the
        accumulator, the count of calls.
        """
        found = self.scalar_variables()
        for slots, calls in zip(self.slots, self.calls):
            found.extend(slots.values())
            if calls is not None:
                found.append(calls)
        return found

    def index_of(self, variable):
        """The position of a model variable, or None if the optimizer has not met it."""
        return self._index.get(self.layout.key(variable))

    def build(self, variables):
        """Make the slots of those variables that have none yet; the others keep theirs."""
        new, keys = [], set()
        for variable in variables:
            key = self.layout.key(variable)
            if key not in self._index and key not in keys:
                keys.add(key)
                new.append(variable)
        if not new:
            return
        homes = sections.homes(self.sections, self.layout, new, len(self.variables))
        plans = [
            plan_slots(
                self.sections[home].rule,
                self.options,
                self.layout.shape(variable),
                dtypes.compute_dtype(self.layout.dtype(variable)),
            )
            for home, variable in zip(homes, new)
        ]
        self._check_pending(new, plans)
        self.layout.check_can_grow(self, new)
        for home, variable, planned in zip(homes, new, plans):
            index = len(self.variables)
            slots = {plan.name: self.layout.slot(plan, variable, index) for plan in planned}
            calls = self.layout.call_counter(variable, index) if "accumulator" in slots else None
            self.variables.append(variable)
            self.slots.append(slots)
            self.calls.append(calls)
            self.homes.append(home)
            self.decays.append(not self._is_excluded(variable, index))
            self._index[self.layout.key(variable)] = index
            self.layout.track(self, index)
        self.version += 1
        self._take_pending()

    def slot(self, variable, name):
        """The slot `name` of a model variable.

        Raises:
            StateError: the variable or the slot is unknown.
        """
        index = self.index_of(variable)
        if index is None:
            raise StateError(
                "The optimizer has no slots for variable %s yet." % self.layout.name(variable),
                remedy="Call build([variable, ...]) or make a step first.",
            )
        if name not in self.slots[index]:
            raise StateError(
                "Variable %s has no slot %r." % (self.layout.name(variable), name),
                "one of %s" % (", ".join(self.slots[index]) or "no slots"),
                "slot_name=%r" % name,
                closest(name, self.slots[index]),
            )
        return self.slots[index][name]

    def program(self, index):
        """The traced update (`analysis.Program`) of variable number `index`."""
        from compat_opt.adapters.analysis import trace_update

        rule = self.section_of(index).rule
        declared = rule.slots()
        slots = {
            name: self.layout.dtype(slot) for name, slot in self.slots[index].items() if name in declared
        }
        compute = dtypes.compute_dtype(self.layout.dtype(self.variables[index]))
        key = (self.homes[index], tuple(slots.items()), compute)
        if key not in self._programs:
            self._programs[key] = trace_update(rule, slots, compute)
        return self._programs[key]

    def zero_gradient_is_neutral(self, index):
        """Whether rows without a gradient keep variable and slots; see `analysis`."""
        from compat_opt.adapters.analysis import zero_gradient_is_neutral

        rule = self.section_of(index).rule
        names = tuple(name for name in self.slots[index] if name in rule.slots())
        key = (self.homes[index], names)
        if key not in self._neutral:
            self._neutral[key] = zero_gradient_is_neutral(rule, names)
        return self._neutral[key]

    def choice(self, index, choose):
        """choose(self, index), kept while the settings stay as they are."""
        key = (index, self.stamp())
        if key not in self._choices:
            self._choices[key] = choose(self, index)
        return self._choices[key]

    # Steps

    def mark_compiled_in(self, compiled):
        """Remember that a train step outside of this package was traced with the present settings."""
        if compiled:
            self.compiled_in = True
            for section in self.sections:
                section.hypers.compiled_in = True

    def take_aggregate_hint(self, aggregate):
        """Whether replicas' gradients still have to be summed, as the outermost caller said."""
        return aggregate and self.aggregate_hint

    # Weight decay

    def exclude(self, variables, patterns):
        """Leave variables out of weight decay: by identity, and by pattern in their name."""
        if self.compiled_in:
            raise UnsupportedError(
                "A train step is compiled already; an exclusion from weight decay can't act there.",
                remedy="Call exclude_from_weight_decay() before the first step.",
            )
        listed = isinstance(patterns or (), (list, tuple, set))
        if not (listed and all(isinstance(pattern, str) for pattern in patterns or ())):
            raise ArgumentError(
                "Exclusions from weight decay are a list of patterns.", "var_names=[a str, ...]", "var_names=%r" % (patterns,)
            )
        for pattern in patterns or ():
            check_pattern(pattern, "An exclusion from weight decay", "var_names")
        self._excluded_keys.update(self.layout.key(v) for v in variables or ())
        self._excluded_patterns.extend(patterns or ())
        self.decays = [not self._is_excluded(v, i) for i, v in enumerate(self.variables)]
        self.version += 1

    def patterns(self):
        """The name patterns given to `exclude`."""
        return list(self._excluded_patterns)

    def set_exclusions(self, indexes, patterns):
        """Exclusions of a copied optimizer, whose variables are known by position only."""
        self._excluded_indexes, self._excluded_patterns = set(indexes), list(patterns)

    def _is_excluded(self, variable, index):
        if self.layout.key(variable) in self._excluded_keys or index in self._excluded_indexes:
            return True
        name = self.layout.name(variable)
        return any(re.search(pattern, name) for pattern in self._excluded_patterns)

    # Hyperparameters

    def may_decay(self, index):
        """Whether variable number `index` is subject to weight decay that is on."""
        section = self.section_of(index)
        own = section.hypers.sources.get("weight_decay") or self.hypers.sources["weight_decay"]
        return self.decays[index] and own.kind != "off"

    def set_hyper(self, name, value, section=None):
        """Act on ``optimizer.<name> = value``, or on ``optimizer.groups[...].<name> = value``."""
        section = section or self.sections[0]
        sources = section.hypers.sources
        source_before = sources[name]
        self._check_slots_after(section, name, value)
        section.hypers.set(name, value)
        if sources[name] is not source_before:
            for each in self.sections:
                each.rule = each.rule_after(section, name, sources[name].value)

    def _check_slots_after(self, section, name, value):
        """Refuse a value with which variables would need slots that they were built without."""
        for home, variable, slots in zip(self.homes, self.variables, self.slots):
            rule = self.sections[home].rule
            if not any(slot.when for slot in rule.slots().values()):
                continue
            after = self.sections[home].rule_after(section, name, value)
            lacking = [n for n in after.slots_for(self.layout.shape(variable)) if n not in slots]
            if lacking:
                raise UnsupportedError(
                    "%s=%r needs the slot %s, which variable %s was built without."
                    % (name, value, ", ".join(lacking), self.layout.name(variable)),
                    "a value for which the slots stay as they are",
                    "%s=%r" % (name, value),
                    "Give it to the constructor.",
                )

    # Weights

    def arrays(self):
        """The values of `state_variables`, as NumPy arrays."""
        return [self.layout.to_numpy(variable) for variable in self.state_variables()]

    def scalar_count(self):
        """How many of `state_variables` come before the first slot."""
        return len(self.scalar_variables())

    def set_arrays(self, arrays):
        """Set all state variables; before the first step, keep the rest for the variables to come.

        Raises:
            StateError: wrong count or shapes; nothing has changed then.
        """
        arrays = list(arrays)
        own = self.state_variables()
        fewer_known = not self.variables and len(arrays) > len(own)
        if len(arrays) != len(own) and not fewer_known:
            raise StateError(
                "The weights do not fit the optimizer.",
                "%d arrays: %s" % (len(own), ", ".join(self.layout.name(v) for v in own[:6]) + (", ..." if len(own) > 6 else "")),
                "%d arrays" % len(arrays),
                "Weights come from get_weights() of an optimizer with the same rule and options.",
            )
        import numpy as np

        arrays = [np.array(array) for array in arrays]  # copies: an H5 file is closed before build()
        for number, (variable, array) in enumerate(zip(own, arrays)):
            self._check_shape("weights[%d]" % number, variable, array)
        for variable, array in zip(own, arrays):
            self.layout.restore(variable, array)
        self._pending = arrays[len(own) :] or None

    def _check_shape(self, what, variable, array):
        expected, received = self.layout.shape(variable), getattr(array, "shape", ())
        if tuple(received) != tuple(expected):
            raise StateError(
                "%s does not fit %s." % (what, self.layout.name(variable)),
                "shape %s" % (tuple(expected),),
                "shape %s" % (tuple(received),),
            )

    def _check_pending(self, new, plans):
        """Before building: do the weights that wait fit the slots that are about to be made?"""
        if self._pending is None:
            return
        expected = []
        for variable, planned in zip(new, plans):
            name = self.layout.name(variable)
            expected.extend((plan.shape, "%s of %s" % (plan.name, name)) for plan in planned)
            if any(plan.name == "accumulator" for plan in planned):
                expected.append(((), "calls of %s" % name))
        received = [tuple(getattr(array, "shape", ())) for array in self._pending]
        if len(received) != len(expected):
            raise StateError(
                "The weights set before the first step do not fit the variables.",
                "%d arrays for the slots" % len(expected),
                "%d arrays" % len(received),
                "Call build() with all variables that the weights were saved for, in that order.",
            )
        for (shape, what), got in zip(expected, received):
            if tuple(shape) != got:
                raise StateError(
                    "The weights set before the first step do not fit: %s." % what,
                    "shape %s" % (tuple(shape),),
                    "shape %s" % (got,),
                    "Call build() with the variables in the order of the saved ones.",
                )

    def _take_pending(self):
        if self._pending is None:
            return
        pending, self._pending = self._pending, None
        for variable, array in zip(self.state_variables()[self.scalar_count() :], pending):
            self.layout.restore(variable, array)

    def pending_arrays(self):
        """Weights that wait for their variables, for copies and pickles made before build()."""
        return list(self._pending or ())
