"""Native optimizers of Keras 2, as `read` and `write` see them."""

import re

from compat_opt.errors import StateError
from compat_opt.state.views.by_attribute import ByAttribute
from compat_opt.state.views.native import scope_of


class Keras2View(ByAttribute):
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
