"""Follows the methods in which a class declares things: the constructor, and where its slots are made."""

import ast

from compat_opt.codemod.execute import SHARED, Executor, Frame
from compat_opt.codemod.model import ENGINE_ARGUMENTS, Restart, folded
from compat_opt.codemod.syntax import NotLiteral, dotted, expression, is_literal, literal, names_in, write
from compat_opt.codemod.values import (
    COMPUTED, DICT, EFFECT, FUNCTION, HANDLE, LIST, NONE, NOTHING, PLACE, SCALAR, SELF, SHAPE, STATIC, UNKNOWN, Refused,
    Value, static,
)  # fmt: skip

_CHECKS = {
    "{0} < 0": "non_negative",
    "{0} < 0.0": "non_negative",
    "not {0} >= 0.0": "non_negative",
    "not 0 <= {0}": "non_negative",
    "not 0.0 <= {0}": "non_negative",
    "{0} <= 0": "positive",
    "{0} <= 0.0": "positive",
    "not 0.0 <= {0} < 1.0": "unit_interval",
    "not 0 <= {0} < 1": "unit_interval",
    "{0} < 0.0 or {0} >= 1.0": "unit_interval",
    "{0} < 0 or {0} >= 1": "unit_interval",
    "{0} < 0.0 or {0} > 1.0": "closed_unit_interval",
    "{0} < 0 or {0} > 1": "closed_unit_interval",
    "not 0.0 <= {0} <= 1.0": "closed_unit_interval",
    "not 0 <= {0} <= 1": "closed_unit_interval",
}


class _Declaring(Executor):
    """What the two share: attributes may be set, and a statement that is not understood only spoils what it sets."""

    def __init__(self, model):
        super().__init__(model, comments=False)

    def run(self, statements):
        for position, statement in enumerate(statements):
            try:
                if isinstance(statement, ast.Return):
                    return None
                if isinstance(statement, ast.If):
                    self._if(statement, statements[position + 1 :])
                else:
                    self.statement(statement)
            except Refused as refused:
                self.spoil(statement, refused)
        return None

    def spoil(self, statement, refused):
        """Remember why attributes and names that this statement sets are not known."""
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and dotted(node.value) == "self":
                self.model.attributes[node.attr] = Value(UNKNOWN, data="self.%s: %s" % (node.attr, refused.reason))
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.frame.env[node.id] = Value(UNKNOWN, data="%s: %s" % (node.id, refused.reason))

    def local(self, name, value):
        return value

    def named_entry(self, key, value):
        return value

    def bind_attribute(self, target, value, node):
        if dotted(target.value) != "self":
            raise Refused("an attribute of another object is set", node)
        if isinstance(value.data, list) and value.kind == LIST:
            value = Value(LIST, data=list(value.data))
        self.model.attributes[target.attr] = value


class Constructor(_Declaring):
    """Follows ``__init__``: its arguments become hyperparameters, ``self.x`` is remembered."""

    def follow_constructor(self):
        """Follow the constructor of the class, if it has one that is known."""
        method = self.model.method("__init__")
        if method is None:
            return
        function, class_name, module = method
        parameters = function.args.args[1:] + function.args.kwonlyargs
        defaults = function.args.defaults
        plain = function.args.args[1:]
        found = dict(zip([a.arg for a in plain][::-1], defaults[::-1]))
        found.update((a.arg, d) for a, d in zip(function.args.kwonlyargs, function.args.kw_defaults) if d is not None)
        env = {"self": Value(SELF)}
        for parameter in parameters:
            env[parameter.arg] = self._parameter(parameter, found.get(parameter.arg), module)
        for extra in (function.args.vararg, function.args.kwarg):
            if extra is not None:
                env[extra.arg] = Value(DICT, data={})
        frame = Frame(env, module, class_name)
        self.inside(frame, lambda: self.run(function.body))

    def _parameter(self, parameter, default, module):
        name = parameter.arg
        if name in ENGINE_ARGUMENTS and name not in ("decay", "lr"):
            return NONE
        if default is None:
            value = self.model.declare(name, 0.001 if name in ("learning_rate", "lr") else None, parameter, required=True)
            return value
        try:
            return self.model.declare(name, folded(default), parameter)
        except NotLiteral:
            return Value(UNKNOWN, data="the default %s of %s is not understood" % (write(default), name))

    def default_of(self, value):
        """(default,) of the hyperparameter that a value reads, or None."""
        spec = self.model.spec_of(value) if value.node is not None else None
        return None if spec is None else (spec.default,)

    def bind(self, target, value, node):
        if isinstance(target, ast.Name):
            old = self.frame.env.get(target.id)
            spec = self.model.spec_of(old) if old is not None else None
            if spec is not None and spec.default is None and value.kind in COMPUTED and target.id in self.model.hypers:
                return self._new_default(target.id, spec, value, node)
        return super().bind(target, value, node)

    def _new_default(self, name, spec, value, node):
        """``if epsilon is None: epsilon = 1e-7``: the default is that."""
        other = self.model.spec_of(value)
        if other is not None:
            self.model.note(node, "%s defaulted to %s; it is a number of its own here" % (spec.name, other.name))
            spec.default = other.default
        elif is_literal(value.node):
            spec.default = literal(value.node)
        else:
            self.frame.env[name] = value
            return
        spec.static = self.model.is_static(name, spec.default)
        self.frame.env[name] = self.model.value_of(name)

    def _on_BoolOp(self, node):
        if isinstance(node.op, ast.Or) and len(node.values) == 2:
            first = self.value(node.values[0])
            spec = self.model.spec_of(first) if first.node is not None else None
            if spec is not None and not isinstance(spec.default, (bool, str)) and _gives_number(node.values[1]):
                try:
                    second = self.value(node.values[1])
                except Refused:
                    if not spec.default:
                        raise
                    return first  # what stands after `or` is never reached with the default
                if second.kind == STATIC and is_literal(second.node):
                    if not spec.default:
                        spec.default = literal(second.node)
                        spec.static = spec.name in self.model.forced_static
                        return Value(STATIC if spec.static else SCALAR, expression("hyper.%s" % spec.name))
                    spec.comment = "0 stays 0; the old class took %s for it" % write(second.node)
                    return first
        return super()._on_BoolOp(node)

    def _if(self, node, rest):
        if all(isinstance(s, ast.Raise) for s in node.body) and not node.orelse:
            self._check(node)
            return None, False
        test = self.value(node.test)
        truth = self.truth_of(test)
        if truth is None and isinstance(node.test, ast.Compare) and "is None" in write(node.test):
            truth = True
        if truth is not None:
            self.run(node.body if truth else node.orelse)
            return None, False
        test = self.read(test, node)
        before = dict(self.model.attributes)
        env = dict(self.frame.env)
        self.run(node.body)
        one, self.model.attributes = self.model.attributes, dict(before)
        env_one, self.frame.env = self.frame.env, dict(env)
        self.run(node.orelse)
        two = self.model.attributes
        self.model.attributes = {
            name: _either(test, one.get(name), two.get(name)) for name in list(dict.fromkeys(list(one) + list(two)))
        }
        self.frame.env = {name: _either(test, env_one.get(name), value) for name, value in self.frame.env.items()}
        return None, False

    def _check(self, node):
        """A check of an argument: a `check=` where it is a usual one, else a note."""
        text = write(node.test)
        for name, spec in self.model.hypers.items():
            for pattern, check in _CHECKS.items():
                if text == pattern.format(name) or text == pattern.format("self." + name):
                    spec.check = "checks." + check
                    return
        names = names_in(node.test) - {"isinstance", "int", "float"}
        if len(names) == 1 and names <= set(self.model.hypers) and "is None" not in text:
            spec = self.model.hypers[names.pop()]
            if spec.check is None and isinstance(spec.default, (int, float)):
                spec.check = "lambda %s: not (%s)" % (spec.key, text)
                return
        self.model.note(node, "the constructor's check `if %s: raise` is not carried over" % text)

    # -- calls ---------------------------------------------------------------------------------

    def self_attribute(self, name, node):
        own = {"_set_hyper": "own_set_hyper", "_build_learning_rate": "own_same"}.get(name)
        if own:
            return Value(FUNCTION, data=(own, name))
        return super().self_attribute(name, node)

    def own_set_hyper(self, _, node):
        """self._set_hyper(name, value)."""
        name = literal(node.args[0])
        try:
            self.model.hyper_values[name] = self._numeric(self.value(node.args[1]), name, node)
        except Refused as refused:
            self.model.hyper_values[name] = Value(UNKNOWN, data=refused.reason)
        return NONE

    def _numeric(self, value, name, node):
        if name == "decay":
            return static(0.0)
        if value is NONE and name in ENGINE_ARGUMENTS:
            return NONE
        return value

    def own_same(self, _, node):
        return self.value(node.args[0])

    def _call_variable(self, node):
        found = self.value(node.args[0] if node.args else node.keywords[0].value)
        if found.kind == STATIC and is_literal(found.node):
            return Value(UNKNOWN, found.node, SHARED)
        return found

    _call_Variable = _call_variable

    def super_call(self, name, owner, node):
        if name == "_set_hyper":
            return self.own_set_hyper(name, node)
        if name != "__init__":
            return super().super_call(name, owner, node)
        method = self.model.method("__init__", after=owner.data)
        if method is not None:
            function, class_name, module = method
            given = self.arguments(function, node)
            for parameter, value in list(given.items()):
                # Arguments that the class does not pass on are its **kwargs': the base's own, with its defaults.
                if value.kind == STATIC and is_literal(value.node) and not _passed(parameter, function, node):
                    found = dict(zip([a.arg for a in function.args.args][::-1], function.args.defaults[::-1]))
                    if parameter in found and is_literal(found[parameter]):
                        given[parameter] = (
                            NONE if parameter in ENGINE_ARGUMENTS
                            else self.model.declare(parameter, literal(found[parameter]), node)
                        )  # fmt: skip
            return self.follow(function, given, module, class_name)
        for keyword in node.keywords:
            if keyword.arg in ("learning_rate", "lr"):
                self.model.hyper_values["learning_rate"] = self.value(keyword.value)
            elif keyword.arg == "weight_decay":
                self.model.engine_decay = self.value(keyword.value)
                if self.model.engine_decay is not NONE:
                    spec = self.model.spec_of(self.model.engine_decay)
                    if spec is not None:
                        spec.name, spec.static = "weight_decay", False
                    self.model.attributes["weight_decay"] = self.model.engine_decay
        return NONE


def _passed(parameter, function, node):
    names = [a.arg for a in function.args.args[1:]]
    return parameter in [k.arg for k in node.keywords] or parameter in names[: len(node.args)]


def _gives_number(node):
    return is_literal(node) or (isinstance(node, ast.Call) and not node.args)


def _either(test, first, second):
    """What an attribute is after an if that sets it on one side or both."""
    if first is None or second is None or first is second or first.same(second):
        return first or second
    if first.kind == STATIC and second.kind == STATIC and is_literal(first.node) and is_literal(second.node):
        if (literal(first.node), literal(second.node)) == (True, False):
            return test
        if (literal(first.node), literal(second.node)) == (False, True):
            return Value(test.kind, expression("not A", A=test.node))
        return Value(STATIC, ast.IfExp(test.node, first.node, second.node))
    return Value(UNKNOWN, data="it depends on a condition in the constructor")


class SlotMaker(_Declaring):
    """Follows ``_create_slots`` or ``build``: what is made per variable becomes a slot."""

    def follow_slots(self, method_name):
        """Follow the method that makes the slots, if there is one."""
        method = self.model.method(method_name)
        if method is None:
            return
        function, class_name, module = method
        env = {"self": Value(SELF)}
        for parameter in function.args.args[1:]:
            env[parameter.arg] = Value(LIST, data=("variables", None))
        if function.args.kwarg is not None:
            env[function.args.kwarg.arg] = Value(DICT, data={})
        self.inside(Frame(env, module, class_name), lambda: self.run(function.body))

    def spoil(self, statement, refused):
        if any(dotted(n.func) in _MAKERS for n in ast.walk(statement) if isinstance(n, ast.Call)):
            raise refused
        super().spoil(statement, refused)

    def default_of(self, value):
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
        if element.kind == HANDLE:
            return Value(LIST, data=("slots", element.data))
        return super().list_of(element, node)

    def self_attribute(self, name, node):
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

    def _initializer(kind):
        def call(self, node):
            if kind is not None:
                return Value(NOTHING, data=("initializer", kind))
            argument = node.args[0] if node.args else node.keywords[0].value
            return Value(NOTHING, data=("initializer", self._number(self.computed(argument), node)))

        return call

    _call_Zeros = _call_zeros_initializer = _call_zeros_like = _call_zeros = _initializer(None and "")
    _call_Ones = _call_ones_initializer = _call_ones_like = _call_ones = _initializer('"ones"')
    _call_Constant = _call_constant_initializer = _initializer(None)

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


__all__ = ["Constructor", "PLACE", "SlotMaker", "bind_loop"]
