"""Follows the constructor: its arguments become hyperparameters, ``self.x`` is remembered."""

import ast

from compat_opt.codemod.beneath import sets_beneath, wrapped
from compat_opt.codemod.execute import Executor
from compat_opt.codemod.following import is_own
from compat_opt.codemod.handles import Frame
from compat_opt.codemod.model import ENGINE_ARGUMENTS, folded
from compat_opt.codemod.own import SHARED
from compat_opt.codemod.syntax import NotLiteral, dotted, expression, is_literal, literal, names_in, write
from compat_opt.codemod.values import (
    COMPUTED, DECAY, DICT, FUNCTION, LIST, NONE, SCALAR, SELF, STATIC, UNKNOWN, Refused, Value, unknown,
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


#: What Keras itself takes for arguments that every compiled optimizer has; those not listed are off.
_KERAS_DEFAULTS = {"ema_momentum": 0.99, "jit_compile": True}


class Declaring(Executor):
    """What the two share: attributes may be set, and a statement that is not understood only spoils what it sets."""

    def __init__(self, model):
        super().__init__(model, comments=False)

    def run(self, statements):
        """Follow statements one by one; one that is not understood only spoils what it sets."""
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
        names = [n.id for n in ast.walk(statement) if isinstance(n, ast.Name)]
        read = [self.frame.env[name] for name in names if name in self.frame.env]
        read += [self.model.attributes[n.attr] for n in ast.walk(statement) if is_own(n) and n.attr in self.model.attributes]
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and dotted(node.value) == "self":
                self.model.attributes[node.attr] = unknown("self.%s: %s" % (node.attr, refused.reason), *read)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.frame.env[node.id] = unknown("%s: %s" % (node.id, refused.reason), *read)

    def _read(self, name):
        pass  # before the update

    def local(self, name, value):
        """Names are remembered; nothing is written down here."""
        return value

    def named_entry(self, key, value):
        """Entries are remembered; nothing is written down here."""
        return value

    def bind_attribute(self, target, value, node):
        """Remember ``self.x = value``."""
        if dotted(target.value) != "self":
            raise Refused("an attribute of another object is set", node)
        if isinstance(value.data, list) and value.kind == LIST:
            value = Value(LIST, data=list(value.data))
        if isinstance(getattr(node, "value", None), ast.Call) and (dotted(node.value.func) or "").lower().endswith("variable"):
            self.model.variables.add(target.attr)
        self.model.attributes[target.attr] = value


class Constructor(Declaring):
    """Follows ``__init__``: its arguments become hyperparameters, ``self.x`` is remembered."""

    def follow_constructor(self):
        """Follow the constructor of the class, if it has one that is known."""
        method = self.model.method("__init__")
        if method is None:
            return
        function, class_name, module = method
        self.refuse_decorated(function, module)
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
                env[extra.arg] = self.others = Value(DICT, data={})
        frame = Frame(env, module, class_name)
        self.inside(frame, lambda: self.run(function.body))

    def _parameter(self, parameter, default, module):
        name = parameter.arg
        if self.model.beneath is not None and name == self.model.beneath.argument:
            return wrapped()
        if name in ENGINE_ARGUMENTS and name != "lr":
            self._note_own_default(name, default, parameter)
            return DECAY if name == "decay" else NONE
        try:
            if default is None:
                value = self.model.declare(name, 0.001 if name in ("learning_rate", "lr") else None, parameter, required=True)
            else:
                value = self.model.declare(name, self.default_value(default, module), parameter)
            if name == "lr":
                self.model.hypers["learning_rate"].argument = name
            return value
        except NotLiteral:
            return Value(UNKNOWN, data="the default %s of %s is not understood" % (write(default), name))

    def default_value(self, node, module):
        """The Python value of an argument's default; names at the top of its file count. NotLiteral for any other."""
        try:
            return folded(node)
        except NotLiteral as unfolded:
            try:
                found = self.in_module(module, node)
            except Refused:
                raise unfolded
            if found.kind != STATIC:
                raise unfolded
            return folded(found.node)

    def _note_own_default(self, name, default, node):
        """Say that the class turns on what every compiled optimizer has, and has off."""
        if default is None or name not in ENGINE_ARGUMENTS or name in ("lr", "name", "use_locking"):
            return
        if not is_literal(default) or literal(default) not in (None, False, 0, _KERAS_DEFAULTS.get(name)):
            words = "the class had %s=%s; the rule can't say so: give it where the optimizer is made"
            self.model.note(node, words % (name, write(default)))

    def bind_attribute(self, target, value, node):
        """``self.x = value``; arguments of the base class may be set so, too."""
        if target.attr in ENGINE_ARGUMENTS and value.kind == STATIC and is_literal(value.node):
            self._note_own_default(target.attr, value.node, node)
        super().bind_attribute(target, value, node)

    def default_of(self, value):
        """(default,) of the hyperparameter that a value reads, or None."""
        spec = self.model.spec_of(value) if value.node is not None else None
        return None if spec is None else (spec.default,)

    def bind(self, target, value, node):
        """Bind a name; an argument that was None gets its default."""
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
        if self.model.beneath is not None and self.model.beneath.argument in names_in(node.test):
            return  # of the optimizer inside
        names = names_in(node.test) - {"isinstance", "int", "float"}
        if len(names) == 1 and names <= set(self.model.hypers) and "is None" not in text:
            spec = self.model.hypers[names.pop()]
            if spec.check is None and isinstance(spec.default, (int, float)):
                spec.check = "lambda %s: not (%s)" % (spec.key, text)
                return
        self.model.note(node, "the constructor's check `if %s: raise` is not carried over" % text)

    # -- calls ---------------------------------------------------------------------------------

    def self_attribute(self, name, node):
        """``self.name``, with the methods that declare hyperparameters."""
        own = {"_set_hyper": "own_set_hyper", "_build_learning_rate": "own_same"}.get(name)
        if own:
            return Value(FUNCTION, data=(own, name))
        return super().self_attribute(name, node)

    others = None

    def _dict_call(self, name, owner, node):
        """``kwargs.get("x", 0.5)`` is an argument x with that default."""
        if owner is self.others and name in ("get", "pop") and len(node.args) == 2 and is_literal(node.args[0]):
            key, default = literal(node.args[0]), self.value(node.args[1])
            if key not in ENGINE_ARGUMENTS and default.kind == STATIC and is_literal(default.node):
                return self.model.declare(key, literal(default.node), node)
        return super()._dict_call(name, owner, node)

    def own_set_hyper(self, _, node):
        """self._set_hyper(name, value)."""
        name = literal(node.args[0])
        try:
            value = self.model.hyper_values[name] = self.value(node.args[1])
            if value.kind == STATIC and is_literal(value.node):
                self._note_own_default(name, value.node, node)
        except Refused as refused:
            self.model.hyper_values[name] = Value(UNKNOWN, data=refused.reason)
        return NONE

    def own_same(self, _, node):
        """``self._build_learning_rate(x)`` is x."""
        return self.value(node.args[0])

    def _call_variable(self, node):
        found = self.value(node.args[0] if node.args else node.keywords[0].value)
        if found.kind == STATIC and is_literal(found.node) and found is not DECAY:
            return Value(UNKNOWN, found.node, SHARED)
        return found

    _call_Variable = _call_variable

    def super_call(self, name, owner, node):
        """The constructor of the base class, followed where its code is known."""
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
            return self.follow(function, given, module, class_name, node)
        if self.model.beneath is not None and sets_beneath(node):
            reason = "its constructor sets %s of the one beneath it" % sets_beneath(node)
            self.model.reaches = self.model.reaches or Refused(reason, node)
        for keyword in node.keywords:
            if is_literal(keyword.value):
                self._note_own_default(keyword.arg, keyword.value, node)
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
        found = first or second
        return unknown(found.data, test, found) if found.kind == UNKNOWN and found.data != SHARED else found
    if first.kind == STATIC and second.kind == STATIC and is_literal(first.node) and is_literal(second.node):
        if (literal(first.node), literal(second.node)) == (True, False):
            return test
        if (literal(first.node), literal(second.node)) == (False, True):
            return Value(test.kind, expression("not A", A=test.node))
        return Value(STATIC, ast.IfExp(test.node, first.node, second.node))
    return unknown("it depends on a condition in the constructor", test, first, second)
