"""Native optimizers of OptimizerV2, as `read` and `write` see them."""

import collections
import re

from compat_opt.state.natives import wrappers
from compat_opt.state.views.native import NativeView, scope_of


class OptimizerV2View(NativeView):
    """Slots by variable, in ``_slots``; hyperparameters by name, in ``_hyper``; of a wrapper also those inside of it."""

    generation = "optimizer_v2"

    def _parts(self):
        """The optimizer, and the one that it is around."""
        wraps = wrappers.split(self.class_name) is not None
        return [self.optimizer, self.optimizer._optimizer] if wraps else [self.optimizer]

    def _own_config(self):
        config = super()._own_config()
        return wrappers.described(wrappers.split(self.class_name)[0], config)[1] if len(self._parts()) > 1 else config

    def _learning_rate(self):
        return self._parts()[-1]._hyper.get("learning_rate")

    def _is_built(self):
        return bool(self._slots()) or self.optimizer._iterations is not None

    def _slots(self):
        """{key of a variable: {slot: its variable}}."""
        found = collections.OrderedDict()
        for part in self._parts():
            for key, slots in part._slots.items():
                found.setdefault(key, collections.OrderedDict()).update(slots)
        return found

    def _variables(self):
        if self.given:
            if self.built and self._slots():
                keys = [self._key(v) for v in self.given]
                self.is_new = None in keys
                self._keys = keys
            return [self._named(v) for v in self.given]
        found, self._keys = [], list(self._slots())
        for slots in self._slots().values():
            whole = [v for name, v in slots.items() if self._is_whole(name)] or list(slots.values())
            name = self._variable_name(*next(iter(slots.items())))
            found.append((name,) + self._named(whole[0])[1:])
        return found

    def _is_whole(self, name):
        declared = self.native.rule_class().slots().get(self.native.slots.get(name))
        return declared is not None and declared.shape is None

    def _key(self, variable):
        for part in self._parts():
            for key, slots in part._slots.items():
                name, slot = next(iter(slots.items()))
                try:
                    if part.get_slot(variable, name) is slot:
                        return key
                except KeyError:
                    continue
        return None

    def _variable_name(self, slot, variable):
        name = variable.name.split(":")[0]
        name = name[: -len(slot) - 1] if name.endswith("/" + slot) else name
        return re.sub(r"^(?:.*?/)?%s/" % re.escape(self.optimizer._name), "", name)

    def build(self, variables):
        """Make iterations, hyperparameters and slots."""
        import tensorflow as tf

        optimizer = self.optimizer
        with tf.init_scope(), scope_of(variables), tf.name_scope(optimizer._name):
            if hasattr(optimizer, "_create_all_weights"):
                optimizer._create_all_weights(list(variables))
            else:
                optimizer.iterations  # made when first asked for
                optimizer._create_hypers()
                optimizer._create_slots(list(variables))

    def _entries(self):
        import numpy as np

        yield "iteration", None, "iter", self.optimizer._iterations, np.zeros((), "int64")
        for name, value in [item for part in self._parts() for item in part._hyper.items()]:
            if hasattr(value, "assign"):
                yield "hyper", None, name, value, None
            elif isinstance(value, (int, float)):
                yield "hyper", None, name, None, np.asarray(value, "float64")
        for name in self.native.shared:
            place = [w for w in self.optimizer.weights if re.search(r"(^|/)%s(:\d+)?$" % name, w.name)]
            if place:
                yield "shared", None, name, place[0], None
        slots = self._slots()
        for index, key in enumerate(self._keys if slots else ()):
            for name, place in slots.get(key, {}).items():
                yield "slot", index, name, place, None

    def set_hyper(self, name, number):
        """Set a hyperparameter; the legacy decay is kept in two places."""
        part = next((part for part in self._parts() if name in part._hyper), None)
        if name == "decay":
            (part or self.optimizer)._initial_decay = number
        inner = self._parts()[-1]
        if part is not None:
            part._set_hyper(name, number)
        elif inner is self.optimizer or hasattr(inner, name):
            setattr(inner, name, number)
        else:
            setattr(self.optimizer, "_" + name, number)
