"""What ``self.x`` is inside the update: hyperparameters, slots, and what the old base classes offer."""

import ast

from compat_opt.codemod.beneath import HOOKS
from compat_opt.codemod.following import Following, is_own
from compat_opt.codemod.syntax import dotted, expression, is_literal, literal, write
from compat_opt.codemod.values import (
    DICT, EFFECT, FUNCTION, HANDLE, INDEX, LIST, NONE, PLACE, SCALAR, STATIC, UNKNOWN, Refused, Value, named,
    static,
)  # fmt: skip

#: What an attribute is that the constructor has made a variable of its own with a number as first value.
SHARED = "a variable of the optimizer"


class Own(Following):
    """Resolves attributes and methods of self."""

    def default_of(self, value):
        """(default,) of the hyperparameter that a value reads, or None."""
        spec = self.model.spec_of(value) if value.node is not None else None
        return None if spec is None else (spec.default,)

    def bind_loop(self, target, iterated):
        """Loops inside the update are not understood."""
        raise Refused("a loop inside the update", iterated)

    def self_attribute(self, name, node):
        """``self.name``."""
        if name in _OWN and self.model.method(name) is None:
            return Value(FUNCTION, data=(_OWN[name], name))
        self._read(name)
        if name == "iterations":
            return named(SCALAR, "hyper.step - 1")
        if name in ("_use_locking", "_distribution_strategy", "_HAS_AGGREGATE_GRAD"):
            return PLACE
        if name in ("updates", "weights", "_weights"):
            return Value(LIST, data=[])
        found = self.model.attribute(name, node)
        if found is not None and found.kind == UNKNOWN and found.data != SHARED:
            found = self._settled(name, node) or found
        if found is not None and found.kind == UNKNOWN and found.data == SHARED:
            return self.shared_value(name, found, node)
        if found is not None:
            return found
        method = self.model.method(name)
        if method is not None:
            function, class_name, module = method
            if any(dotted(d) == "property" for d in function.decorator_list):
                return self.follow(function, {}, module, class_name, node)
            return Value(FUNCTION, data=(function, (module, class_name)))
        if name in ("learning_rate", "lr", "_learning_rate", "_lr"):
            return self.model.hyper_value("learning_rate", node)
        if name in ("built", "_built"):
            return static(False)
        if name in ("clipnorm", "clipvalue", "global_clipnorm", "gradient_accumulation_steps", "use_ema"):
            return NONE
        if name == "__class__":
            return PLACE
        if name == "_hyper":
            return Value(DICT, data=dict(self.model.hyper_values))
        if name in ("_index_dict",):
            return Value(DICT, data={"by place": Value(INDEX)})
        raise Refused("self.%s is set nowhere that is understood" % name, node)

    def stays_empty(self, node):
        """Whether ``self.x``, which the constructor leaves empty, is given nothing by any other method."""
        names = {n.attr for n in ast.walk(node) if is_own(n)} & set(self.model.attributes)
        return len(names) == 1 and not self.model.is_changed_outside_constructor(names.pop())

    def _settled(self, name, node):
        """The value of an attribute that is as with the constructor's defaults, with a note; None for any other."""
        if name not in self.model.settled:
            return None
        found, settings = self.model.settled_read[name] = self.model.settled[name]
        keys = sorted(key for key, spec in self.model.hypers.items() if spec.name in settings)
        text = {DICT: "{}", LIST: "[]"}.get(found.kind) or ("None" if found is NONE else write(found.node))
        whose = "the defaults of %s, which are left out" % ", ".join(keys) if keys else "the constructor's defaults"
        self.model.note(self.place(node), "self.%s is %s here, as with %s" % (name, text, whose))
        return found

    def _read(self, name):
        """Note that the update reads ``self.name``."""
        if name in self.model.attributes_set:
            raise Refused("the update keeps state in the Python attribute self.%s" % name, self.model.attributes_set[name])
        self.model.attributes_read.add(name)

    def shared_value(self, name, found, node):
        """A scalar that is kept once per optimizer."""
        if name in self.model.shared_new:
            return Value(UNKNOWN, data="%s is read after its update" % name)
        key = self.model.declare_shared(name, literal(found.node))
        return Value(SCALAR, expression("shared." + key), ("shared", name))

    def assign_shared(self, target, value, node):
        """Give a scalar of the optimizer its next value."""
        if self.conditions or value.kind not in (SCALAR, STATIC):
            raise Refused("a variable of the optimizer gets a value that is not one of the step", node)
        self.model.shared_new[target.data[1]] = value
        return EFFECT

    def own_get_hyper(self, _, node):
        """self._get_hyper(name, dtype)."""
        if not is_literal(node.args[0]):
            raise Refused("_get_hyper with a name that is computed", node)
        return self.model.hyper_value(literal(node.args[0]), node)

    def own_learning_rate(self, _, node):
        """The learning rate of this step; schedules and decay are applied by the compiled optimizer."""
        return self.model.hyper_value("learning_rate", node)

    def own_get_slot(self, _, node):
        """self.get_slot(var, name)."""
        if not is_literal(node.args[1]):
            raise Refused("get_slot with a name that is computed", node)
        owner = self.value(node.args[0])
        if owner.kind != HANDLE or owner.data != "var":
            raise Refused("the slot of another variable", node)
        name = literal(node.args[1])
        self.model.slot(name, node)
        return Value(HANDLE, data=name)

    def own_index(self, _, node):
        """Which variable this is."""
        return Value(INDEX)

    def own_state(self, _, node):
        """The step's coefficients."""
        return self.state.data["by place"]

    def own_scatter(self, name, node):
        """self._resource_scatter_add(variable, indices, values)."""
        handle = self.value(node.args[0])
        values = self.value(node.args[2])
        self.scattered(name.replace("_resource_", "").lstrip("_"), handle, self.read(values, node), node)
        return self.read(handle, node)

    def own_assign(self, name, node):
        """Keras 3's self.assign(variable, value)."""
        return self.assigned(name, self.value(node.args[0]), self.computed(node.args[1]), node)

    def own_gradients(self, _, node):
        """self.get_gradients(loss, params)."""
        return Value(LIST, data=[Value(HANDLE, data="grad")])

    def super_call(self, name, owner, node):
        """A method of the base class."""
        method = self.model.method(name, after=owner.data)
        if method is not None:
            function, class_name, module = method
            return self.follow(function, self.arguments(function, node), module, class_name, node)
        if name == "_prepare_local":
            self.state.data["by place"].data["lr_t"] = self.model.hyper_value("learning_rate", node)
            return NONE
        if name in HOOKS and self.model.beneath is not None:
            return self.update_beneath(node)
        if name in _OWN:
            return getattr(self, _OWN[name])(name, node)
        if name in ("build", "_create_slots", "__init__", "_prepare", "_create_all_weights"):
            return NONE
        raise Refused("super().%s() of a base class that is not known" % name, node)


_OWN = {
    "_get_hyper": "own_get_hyper",
    "_decayed_lr": "own_learning_rate",
    "_get_current_learning_rate": "own_learning_rate",
    "get_slot": "own_get_slot",
    "_get_variable_index": "own_index",
    "_var_key": "own_index",
    "_fallback_apply_state": "own_state",
    "_resource_scatter_add": "own_scatter",
    "_resource_scatter_update": "own_scatter",
    "_resource_scatter_sub": "own_scatter",
    "assign": "own_assign",
    "assign_add": "own_assign",
    "assign_sub": "own_assign",
    "get_gradients": "own_gradients",
}
