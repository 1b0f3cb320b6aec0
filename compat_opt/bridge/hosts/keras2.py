"""Keras 2 optimizers that hold an optimizer of another API."""

import tensorflow as tf

from compat_opt.adapters.keras2.adapter import native_base
from compat_opt.bridge.hosts._host import Host, SavedByPosition, do_not_convert, make_class


def make(legacy_class, held_class, target):
    """The Keras 2 class that holds `legacy_class`."""
    return make_class(Keras2Host, native_base(target), legacy_class, held_class, target)


class Keras2Host(SavedByPosition, Host):
    """The glue between `Host` and the Keras 2 Optimizer."""

    def _start_native(self, name):
        super(Host, self).__init__(name=name, jit_compile=False)
        object.__setattr__(self, "_native_started", True)
        object.__setattr__(self, "_tracked", {})

    def _create_iteration_variable(self):
        """The held optimizer has the counter."""

    def _adopt(self):
        if "compat_opt_bridge" not in self.__dict__:
            self.compat_opt_bridge = tf.Module(name="compat_opt_bridge")
        for variable in self._held.state().values():
            if id(variable) not in self._tracked:
                self._tracked[id(variable)] = variable
                setattr(self.compat_opt_bridge, "state_%d" % len(self._tracked), variable)
        object.__setattr__(self, "_built", True)

    def _variables_now(self):
        return list(self.__dict__.get("_tracked", {}).values())

    @do_not_convert
    def minimize(self, loss, var_list, tape=None, **kwargs):
        """Compute gradients and apply them: by the held optimizer's own minimize where it has one."""
        if not hasattr(self._held.optimizer, "minimize"):
            return super().minimize(loss, var_list, tape=tape)
        variables = list(var_list() if callable(var_list) else var_list)
        self.build(variables)
        done = self._held.optimizer.minimize(loss, variables, tape=tape, **kwargs)
        self._adopt()
        return done
