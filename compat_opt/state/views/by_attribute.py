"""Native optimizers whose slots are lists in attributes: those of Keras 2 and Keras 3."""

from compat_opt.errors import StateError
from compat_opt.state.views.native import NativeView


class ByAttribute(NativeView):
    """Slots in lists, an attribute for each slot, a place for each variable."""

    def _learning_rate(self):
        return self.optimizer._learning_rate

    def _lists(self):
        """[(native slot name, its list)] of those that exist."""
        found = []
        for attribute, name in self.native.attributes.items():
            values = getattr(self.optimizer, attribute, None)
            if values is not None and len(values):
                found.append((name, list(values)))
        return found

    def _slots(self, positions):
        for index, position in enumerate(positions):
            for name, values in self._lists():
                place = values[position] if position is not None and position < len(values) else None
                if place is not None and not self._is_placeholder(index, name):
                    yield "slot", index, name, place, None

    def _is_placeholder(self, index, name):
        """Whether the variable has no such slot in the rule, and the class makes one all the same."""
        return (name, None) in self.native.slots_for(self.config, self.variables[index][1])

    def _listed(self, attribute, role, name):
        for index, position in enumerate(self._positions):
            values = getattr(self.optimizer, attribute, None) or []
            if position is not None and position < len(values) and values[position] is not None:
                yield role, index, name, values[position], None

    def _check_covered(self, entries):
        """Refuse a class that keeps variables which its table does not tell about."""
        known = {id(place) for _, _, _, place, _ in entries}
        own = self.optimizer.variables
        others = [v for v in (own() if callable(own) else own) if id(v) not in known]
        for values in [values for _, values in self._lists()]:
            others = [v for v in others if not any(v is place for place in values)]
        if others:
            raise StateError(
                "%s keeps variables that no table tells about." % type(self.optimizer).__name__,
                "those of %s" % self.class_name,
                ", ".join(str(v.name) for v in others[:5]),
                "compat_opt.state.register_names tells what they are.",
                self.describe(),
            )

    def set_hyper(self, name, number):
        """Set a hyperparameter: the learning rate's variable, or a Python attribute."""
        setattr(self.optimizer, name, number)
