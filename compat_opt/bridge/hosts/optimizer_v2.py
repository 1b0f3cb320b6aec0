"""OptimizerV2 optimizers that hold an optimizer of a newer API."""

import tensorflow as tf

from compat_opt.bridge.frameworks import optimizers_of
from compat_opt.bridge.hosts._host import Host, make_class


def make(legacy_class, held_class, target):
    """The OptimizerV2 class that holds `legacy_class`."""
    return make_class(OptimizerV2Host, optimizers_of(target).Optimizer, legacy_class, held_class, target)


class OptimizerV2Host(Host):
    """The glue between `Host` and OptimizerV2."""

    def _start_native(self, name):
        super(Host, self).__init__(name)
        object.__setattr__(self, "_tracked", {})
        object.__setattr__(self, "_native_started", True)

    def _adopt(self):
        if "_node" not in self.__dict__:
            object.__setattr__(self, "_node", tf.Module(name="compat_opt_bridge"))
            self._track_trackable(self._node, "compat_opt_bridge")
        for variable in self._held.state().values():
            if id(variable) not in self._tracked:
                self._tracked[id(variable)] = variable
                setattr(self._node, "state_%d" % len(self._tracked), variable)

    def _variables_now(self):
        return list(self.__dict__.get("_tracked", {}).values())

    @property
    def weights(self):
        """All state, as a list."""
        return self._variables_now()

    def _create_all_weights(self, var_list):
        self.build(var_list)  # Keras calls it before it restores weights
