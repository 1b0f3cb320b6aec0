"""Follows ``_create_slots`` and ``build``: what is made for each variable becomes a slot."""

import ast

from compat_opt.codemod.constructor import Declaring
from compat_opt.codemod.handles import Frame
from compat_opt.codemod.model import Restart
from compat_opt.codemod.syntax import dotted, is_literal, literal, write
from compat_opt.codemod.values import (
    DICT, EFFECT, FUNCTION, HANDLE, LIST, NOTHING, SELF, SHAPE, UNKNOWN, Refused, Value,
)  # fmt: skip


class SlotMaker(Declaring):
    """Follows ``_create_slots`` or ``build``: what is made per variable becomes a slot."""

    def follow_slots(self, method_name):
        """Follow the method that makes the slots, if there is one."""
        method = self.model.method(method_name)
        if method is None:
            return
        function, class_name, module = method
        self.refuse_decorated(function, module)
        env = {"self": Value(SELF)}
        for parameter in function.args.args[1:]:
            env[parameter.arg] = Value(LIST, data=("variables", None))
        if function.args.kwarg is not None:
            env[function.args.kwarg.arg] = Value(DICT, data={})
        self.inside(Frame(env, module, class_name), lambda: self.run(function.body))

    def spoil(self, statement, refused):
        """A statement that makes a slot must be understood; others may fail."""
        if any(dotted(n.func) in _MAKERS for n in ast.walk(statement) if isinstance(n, ast.Call)):
            raise refused
        super().spoil(statement, refused)

    def default_of(self, value):
        """Slots depend on no default."""
        return None

    def _if(self, node, rest):
        test = self.value(node.test)
        truth = self.truth_of(test)
        if truth is not None:
            chosen = node.body if truth else node.orelse
            if any(isinstance(s, ast.Return) for s in chosen):
                return None, True
            self.run(chosen)
            return None, False
        test = self.read(test, node)
        text = write(test.node)
        self.conditions.append(text)
        self.run(node.body)
        self.conditions[-1] = "not " + text if isinstance(test.node, (ast.Attribute, ast.Name)) else "not (%s)" % text
        self.run(node.orelse)
        self.conditions.pop()
        return None, False

    def _do_For(self, node):
        self.bind_loop(node.target, node.iter)
        self.run(node.body)

    def bind_loop(self, target, iterated):
        """Bind what a loop over the variables runs through."""
        bind_loop(self, target, iterated)

    def list_of(self, element, node):
        """The list of slots that a comprehension makes."""
        if element.kind == HANDLE:
            return Value(LIST, data=("slots", element.data))
        return super().list_of(element, node)

    def self_attribute(self, name, node):
        """``self.name``, with the methods that make slots."""
        if "self." + name in _MAKERS:
            return Value(FUNCTION, data=("own_slot", name))
        return super().self_attribute(name, node)

    def own_slot(self, how, node):
        """add_slot, add_variable_from_reference, add_optimizer_variables."""
        parts = dict(zip(_MAKERS["self." + how], node.args))
        parts.update((k.arg, k.value) for k in node.keywords)
        if how == "add_optimizer_variables":
            return self._several(parts, node)
        name = parts.get("slot_name") or parts.get("variable_name") or parts.get("name")
        if name is None or not is_literal(name):
            raise Refused("a slot's name is computed", node)
        initializer = parts.get("initializer") or parts.get("initial_value")
        shape = parts.get("shape")
        key = self.model.add_slot(
            literal(name), self._init(initializer, node), self._shape(shape, node), self.conditions, node
        )
        return Value(HANDLE, data=key)

    def _several(self, parts, node):
        names = literal(parts["name"])
        many = isinstance(names, (list, tuple))
        made = []
        for name in names if many else [names]:
            init = parts.get("initializer")
            key = self.model.add_slot(name, self._init(init, node), None, self.conditions, node)
            made.append(Value(LIST, data=("slots", key)))
        return Value(LIST, data=made) if many else made[0]

    def _init(self, node, where):
        """The text of a slot's first value."""
        if node is None:
            return None
        if is_literal(node):
            found = literal(node)
            if found in ("zeros", "ones", None):
                return None if found != "ones" else '"ones"'
            if isinstance(found, (int, float)):
                return write(node)
            raise Refused("the initializer %r is not understood" % found, where)
        if isinstance(node, ast.Name):
            value = self.value(node)
            if value.kind == NOTHING and isinstance(value.data, tuple):
                return value.data[1]
            if value.kind == HANDLE and value.data == "var":
                return '"variable"'
        if isinstance(node, ast.Call):
            made = self.value(node)
            if made.kind == NOTHING and isinstance(made.data, tuple):
                return made.data[1]
        raise Refused("the first value of a slot is not understood", where)

    def _call_Constant(self, node):
        argument = node.args[0] if node.args else node.keywords[0].value
        return Value(NOTHING, data=("initializer", self._number(self.computed(argument), node)))

    _call_constant_initializer = _call_Constant

    def _call_Ones(self, node):
        return Value(NOTHING, data=("initializer", '"ones"'))

    _call_ones_initializer = _call_ones_like = _call_ones = _call_Ones

    def _call_zeros(self, node):
        return Value(NOTHING, data=("initializer", None))

    _call_Zeros = _call_zeros_initializer = _call_zeros_like = _call_zeros

    def _call_constant(self, node):
        if isinstance(node.func, ast.Attribute) and "initializers" in (dotted(node.func) or ""):
            return self._call_Constant(node)
        return self.value(node.args[0])

    def _call_fill(self, node):
        return Value(NOTHING, data=("initializer", self._number(self.computed(node.args[1]), node)))

    _call_full_like = _call_full = _call_fill

    def _call_identity(self, node):
        found = self.value(node.args[0])
        return Value(NOTHING, data=("initializer", '"variable"')) if found.kind == HANDLE else found

    _call_convert_to_tensor = _call_identity

    def _number(self, value, node):
        """A number, or the static hyperparameter that holds it, as text."""
        if is_literal(value.node):
            return write(value.node)
        spec = self.model.spec_of(value)
        if spec is None:
            raise Refused("a slot starts at a computed value", node)
        if not spec.static:
            raise Restart({name for name, other in self.model.hypers.items() if other is spec})
        return spec.name

    def _shape(self, node, where):
        if node is None:
            return None
        if is_literal(node) and literal(node) in ([], ()):
            return "lambda shape: ()"
        if is_literal(node) and literal(node) is None:
            return None
        try:
            if self.value(node).kind == SHAPE:
                return None
        except Refused:
            pass
        raise Refused("a slot has a shape of its own", where)

    def method_call(self, name, owner, node):
        """A method call; appending a slot to a list names the list after it."""
        if owner.kind == LIST and name == "append":
            element = self.value(node.args[0])
            if element.kind == HANDLE:
                owner.data = ("slots", element.data)
            return EFFECT
        if owner.kind == LIST and name in ("extend", "insert"):
            return EFFECT
        return super().method_call(name, owner, node)


_MAKERS = {
    "self.add_slot": ("var", "slot_name", "initializer", "shape"),
    "self.add_variable_from_reference": ("model_variable", "variable_name", "shape", "initial_value"),
    "self.add_optimizer_variables": ("trainable_variables", "name", "initializer"),
}


def bind_loop(executor, target, iterated):
    """Bind the target of a loop over variables: ``for p``, ``for p, g in zip(...)``, ``for i, p in enumerate(...)``."""
    name = dotted(iterated.func) if isinstance(iterated, ast.Call) else None
    if name == "enumerate" and isinstance(target, (ast.Tuple, ast.List)):
        executor.bind(target.elts[0], Value(UNKNOWN, data="a variable's number"), iterated)
        return bind_loop(executor, target.elts[1], iterated.args[0])
    if name == "zip" and isinstance(target, (ast.Tuple, ast.List)):
        for part, source in zip(target.elts, iterated.args):
            bind_loop(executor, part, source)
        return None
    if name == "range":
        return executor.bind(target, Value(UNKNOWN, data="a variable's number"), iterated)
    found = executor.value(iterated)
    if found.kind == LIST and isinstance(found.data, tuple):
        what, key = found.data
        element = Value(HANDLE, data="var" if what == "variables" else key)
    elif found.kind == LIST and len(found.data) == 1:
        element = found.data[0]
    elif found.kind == NOTHING:
        element = found
    else:
        raise Refused("a loop over something other than the variables", iterated)
    return executor.bind(target, element, iterated)
