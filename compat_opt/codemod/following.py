"""Calls of the class's own methods, of methods of variables, and of fused kernels."""

import ast

from compat_opt.codemod import kernels
from compat_opt.codemod.beneath import HOOKS, SETTING_UP
from compat_opt.codemod.branches import Branches
from compat_opt.codemod.evaluate import NAMED
from compat_opt.codemod.handles import Frame
from compat_opt.codemod.syntax import dotted, expression, is_literal, literal
from compat_opt.codemod.values import (
    COMPUTED, DICT, EFFECT, HANDLE, INDEX, LIST, MODULE, NONE, NOTHING, ROWS, SCALAR, SELF, SHAPE, STATIC,
    SUPER, TENSOR, UNKNOWN, WRAPPED, Refused, Value, static, widest,
)  # fmt: skip


def is_own(node):
    """Whether a node is ``self.x``."""
    return isinstance(node, ast.Attribute) and dotted(node.value) == "self"


class Following(Branches):
    """Follows calls into the code that they call."""

    def arguments(self, function, node, bound=True):
        """``{parameter: value}`` of a call; `bound` skips self."""
        parameters = [a.arg for a in function.args.args]
        if bound and parameters and parameters[0] == "self":
            parameters = parameters[1:]
        defaults = dict(zip(parameters[::-1], function.args.defaults[::-1]))
        for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults):
            parameters.append(argument.arg)
            if default is not None:
                defaults[argument.arg] = default
        given, extra = {}, {}
        positional = [self.value(a) for a in node.args]
        given.update(zip(parameters, positional))
        for keyword in node.keywords:
            if keyword.arg is None:
                value = self.value(keyword.value)
                if value.kind == DICT:
                    extra.update(value.data)
                continue
            extra[keyword.arg] = self.value(keyword.value)
        for key, value in extra.items():
            if key in parameters:
                given[key] = value
            elif function.args.kwarg is None:
                raise Refused("%s() has no argument %s" % (function.name, key), node)
        for parameter in parameters:
            if parameter not in given:
                given[parameter] = self.value(defaults[parameter]) if parameter in defaults else NONE
        if function.args.kwarg is not None:
            given[function.args.kwarg.arg] = Value(DICT, data={k: v for k, v in extra.items() if k not in parameters})
        if function.args.vararg is not None:
            given[function.args.vararg.arg] = Value(LIST, data=positional[len(parameters) :])
        return given

    def call(self, function, node):
        """A call of something that is not a framework's."""
        what, owner = function.data
        if what == "read":
            return self.read(owner, node)
        if isinstance(what, str) and what.startswith("method "):
            return self.method_call(what[len("method ") :], owner, node)
        if isinstance(what, str):
            return getattr(self, what)(owner, node)
        if isinstance(what, ast.Lambda):
            parameters = [a.arg for a in what.args.args]
            frame = Frame(dict(owner.env), owner.module, owner.class_name, self.frame, self.frame.depth + 1)
            frame.env.update(zip(parameters, [self.value(a) for a in node.args]))
            return self.inside(frame, lambda: self.value(what.body))
        module, class_name, env = self.module, None, {}
        if isinstance(owner, Frame):
            module, class_name, env = owner.module, owner.class_name, dict(owner.env)
        elif owner is not None:
            module, class_name = owner
        static_method = any(dotted(d) == "staticmethod" for d in what.decorator_list)
        given = self.arguments(what, node, bound=class_name is not None and not static_method)
        if any(v.kind == UNKNOWN and v.data == NAMED for v in given.values()):
            return Value(UNKNOWN, ast.Name(what.name, ast.Load()), NAMED)
        return self.follow(what, given, module, class_name, node, env)

    def follow(self, function, given, module, class_name, node=None, env=None):
        """Follow a function with these arguments; its result. `node` is what calls it."""
        if self.frame.depth > 8:
            raise Refused("functions call each other too deeply", function)
        if any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)) for n in ast.walk(function)):
            raise Refused("a generator", function)
        self.refuse_decorated(function, module)
        frame = Frame(dict(env or {}), module, class_name, self.frame, self.frame.depth + 1)
        frame.env.update(given)
        frame.called_at = self.place(node) if node is not None else self.frame.called_at
        if class_name is not None:
            frame.env["self"] = Value(SELF)
        try:
            result = self.inside(frame, lambda: self.run(function.body))
        except Refused as refused:
            if module is not self.module and node is not None:
                refused.line = node.lineno  # the line of another file says nothing here
            raise
        return NONE if result is None else result

    def refuse_decorated(self, function, module):
        """Refuse a function of which a decorator may make another."""
        for name in module.strange_decorators(function):
            raise Refused("%s is decorated by %s, which may change what it does" % (function.name, name), function)

    def place(self, node):
        """`node`, or the call in the class's own file that has led to it."""
        return node if self.module is self.model.module else self.frame.called_at or node

    def in_module(self, module, node):
        """The value of an expression that stands at the top of another file."""
        frame = Frame({}, module, None, self.frame, self.frame.depth + 1)
        return self.inside(frame, lambda: self.value(node))

    def inside(self, frame, action):
        """Do something in another frame."""
        previous, self.frame = self.frame, frame
        hint, target, self.hint, self.target = self.hint, self.target, None, None
        try:
            return action()
        finally:
            self.frame, self.hint, self.target = previous, hint, target

    def method_call(self, name, owner, node):
        """``owner.name(...)`` on a handle, a list, a dict or a tensor."""
        if owner.kind == SUPER:
            return self.super_call(name, owner, node)
        if owner.kind == WRAPPED:
            return self._wrapped_call(name, node)
        if owner.kind == HANDLE:
            return self.handle_call(name, owner, node)
        if owner.kind == DICT:
            return self._dict_call(name, owner, node)
        if owner.kind in (LIST, NOTHING, INDEX, UNKNOWN, SHAPE):
            for argument in node.args:
                if isinstance(argument, ast.Tuple) and name == "append" and len(argument.elts) == 2:
                    self._update_pair(argument)
                    continue
                self.value(argument)
            return Value(SHAPE, data="shape") if owner.kind == SHAPE else EFFECT
        if owner.kind in COMPUTED:
            if name in ("numpy", "read_value", "value"):
                return owner
            if owner.kind == TENSOR and (owner.data == "var" or owner.data in self.model.slot_specs):
                return self.handle_call(name, Value(HANDLE, data=owner.data), node)  # assign() returns its variable
        raise Refused("the method .%s is not understood" % name, node)

    def _wrapped_call(self, name, node):
        """A method of the optimizer inside."""
        if name in HOOKS:
            return self.update_beneath(node)
        if name in SETTING_UP:
            return EFFECT
        if name == "_get_hyper" and node.args and is_literal(node.args[0]) and literal(node.args[0]) == "learning_rate":
            return self.model.hyper_value("learning_rate", node)
        raise Refused("the optimizer inside is asked for %s" % name, node)

    def update_beneath(self, node):
        """The update of the rule beneath this one: it is given a gradient and the variable as they are now."""
        if self.beneath is not None:
            raise Refused("the update beneath is called twice", node)
        if self.conditions or self.deferred:
            raise Refused("the update beneath is called under a condition", node)
        if len(node.args) < 2:
            raise Refused("the arguments of the update beneath are not understood", node)
        grad, variable = self.computed(node.args[0]), self.value(node.args[1])
        if variable.kind != HANDLE or variable.data != "var":
            raise Refused("the update beneath is of another variable", node)
        if grad.kind != (ROWS if self.sparse else TENSOR):
            raise Refused("the gradient of the update beneath is not one of this variable", node)
        given = expression("ops.where(touched, G, 0.0)", G=grad.node) if self.sparse else grad.node
        call = expression("super().update(G, V, slots, hyper, ops)", G=given, V=self.current("var", node).node)
        value = self.emit("new_var", Value(TENSOR, call))
        self.beneath, self.out[-1].beneath = self.out[-1], True
        self.now["var"] = Value(TENSOR, value.node, "var")
        self.updated.add("var")
        return EFFECT

    beneath = None

    def _update_pair(self, node):
        """``self.updates.append((variable, value))``."""
        target, value = self.value(node.elts[0]), self.computed(node.elts[1])
        if target.kind == SCALAR and isinstance(target.data, tuple):
            self.assign_shared(target, value, node)
        else:
            self.assign(target, value, node)

    def _dict_call(self, name, owner, node):
        if name in ("get", "pop"):
            index = node.args[0]
            if not is_literal(index):
                return owner.data.get("by place") or NONE
            if literal(index) in owner.data:
                return owner.data[literal(index)]
            return self.value(node.args[1]) if len(node.args) > 1 else NONE
        if name in ("update", "setdefault"):
            added = {k.arg: self.value(k.value) for k in node.keywords if k.arg}
            for argument in node.args:
                value = self.value(argument)
                if value.kind == DICT:
                    added.update(value.data)
            for key, value in added.items():
                owner.data[key] = self.named_entry(key, value)
            return NONE
        if name == "copy":
            return Value(DICT, data=dict(owner.data))
        if name in ("keys", "values", "items"):
            return Value(LIST, data=list(owner.data.values()))
        raise Refused("the dict method .%s is not understood" % name, node)

    def _call_dict(self, node):
        data = {k.arg: self.named_entry(k.arg, self.value(k.value)) for k in node.keywords if k.arg}
        return Value(DICT, data=data)

    def handle_call(self, name, handle, node):
        """A method of a variable or a slot."""
        if name in ("assign", "assign_add", "assign_sub"):
            return self.assigned(name, handle, self.computed(node.args[0]), node)
        if name in ("scatter_add", "scatter_sub", "scatter_update"):
            slices = self.value(node.args[0])
            self.scattered(name, handle, slices, node)
            return handle
        if name in ("value", "read_value", "numpy", "handle"):
            return self.read(handle, node)
        if name == "get_shape":
            return Value(SHAPE, data="shape")
        raise Refused("the method .%s of a variable is not understood" % name, node)

    def assigned(self, how, handle, value, node):
        """assign, assign_add or assign_sub."""
        if how.endswith("add") or how.endswith("sub"):
            old = self.read(handle, node)
            operator = ast.Add() if how.endswith("add") else ast.Sub()
            value = Value(widest(old, value), ast.BinOp(old.node, operator, value.node))
        return self.assign(handle, value, node)

    def scattered(self, how, handle, value, node):
        """Rows of a handle are changed; the others stay."""
        if not self.sparse:
            raise Refused("rows are scattered outside the sparse hook", node)
        old = self.read(handle, node)
        if value.kind not in (ROWS, SCALAR, STATIC):
            raise Refused("what is scattered is not made of the gradient's rows", node)
        if how.endswith("add"):
            text = "A + ops.where(touched, B, 0.0)"
        elif how.endswith("sub"):
            text = "A - ops.where(touched, B, 0.0)"
        else:
            text = "ops.where(touched, B, A)"
        return self.assign(handle, Value(TENSOR, expression(text, A=old.node, B=value.node)), node)

    def _named_assign(how):
        def call(self, node):
            if dotted(node.args[0]) == "self.iterations":
                return EFFECT
            handle = self.value(node.args[0])
            if handle.kind == SCALAR and isinstance(handle.data, tuple):
                given = self.computed(node.args[1])
                if how != "assign":
                    given = self.binary(ast.Add() if how == "assign_add" else ast.Sub(), handle, given, node)
                return self.assign_shared(handle, given, node)
            if handle.kind in (SCALAR, STATIC) and self._is_variable(node.args[0]):
                self.model.moved[self.model.spec_of(handle).key] = node
                return EFFECT
            value = node.args[1] if len(node.args) > 1 else node.keywords[0].value
            return self.assigned(how, handle, self.computed(value), node)

        return call

    _call_assign = _call_update = _named_assign("assign")
    _call_assign_add = _call_update_add = _named_assign("assign_add")
    _call_assign_sub = _call_update_sub = _named_assign("assign_sub")

    def _call_moving_average_update(self, node):
        raise Refused("moving_average_update is not understood", node)

    def _call_ResourceScatterUpdate(self, node):
        parts = self._by_name(("resource", "indices", "updates"), node)
        how = {"Update": "scatter_update", "Add": "scatter_add", "Sub": "scatter_sub"}
        name = self._called(node).replace("_", "")
        found = [kind for end, kind in how.items() if name.endswith(end.lower())]
        self.scattered(found[0], parts["resource"], parts["updates"], node)
        return EFFECT

    def _called(self, node):
        """The name of the framework's function that is called, however it is called here."""
        return self.value(node.func).data.split(".")[-1].lower()

    def _is_variable(self, node):
        """Whether ``self.x`` is a variable that the constructor gave an argument as its first value."""
        return is_own(node) and node.attr in self.model.variables and self.model.spec_of(self.value(node)) is not None

    def _by_name(self, names, node):
        """The values of a call's arguments by name; ``**`` of a dict that is written out counts."""
        found = {name: self.value(argument) for name, argument in zip(names, node.args)}
        for keyword in node.keywords:
            value = self.value(keyword.value)
            if keyword.arg is not None:
                found[keyword.arg] = value
            elif value.kind == DICT:
                found.update(value.data)
        if not set(names) <= set(found):
            raise Refused("the arguments of this call are not understood", node)
        return found

    def _call_AssignVariableOp(self, node):
        parts = self._by_name(("resource", "value"), node)
        self.assign(parts["resource"], self.read(parts["value"], node), node)
        return EFFECT

    _call_assign_variable_op = _call_AssignVariableOp

    def _call_AssignAddVariableOp(self, node):
        parts = self._by_name(("resource", "value"), node)
        how = "assign_sub" if "sub" in self._called(node) else "assign_add"
        self.assigned(how, parts["resource"], self.read(parts["value"], node), node)
        return EFFECT

    _call_assign_add_variable_op = _call_AssignSubVariableOp = _call_assign_sub_variable_op = _call_AssignAddVariableOp

    _call_ResourceScatterAdd = _call_ResourceScatterSub = _call_ResourceScatterUpdate
    _call_resource_scatter_add = _call_resource_scatter_update = _call_ResourceScatterUpdate
    _call_resource_scatter_sub = _call_ResourceScatterUpdate

    def kernel(self, name, node):
        """A call of a fused update kernel, followed by its formula; None for any other function."""
        known, sparse = kernels.kernel_name(name)
        if known is None:
            return None
        if sparse and not self.sparse:
            raise Refused("a sparse kernel outside the sparse hook", node)
        env = {flag: static(value) for flag, value in kernels.FLAGS.items()}
        parameters = kernels.ARGUMENTS[known].split() + (["indices"] if sparse else [])
        for parameter, argument in zip(parameters, node.args):
            env[parameter] = self.value(argument)
        for keyword in node.keywords:
            env[keyword.arg] = self.value(keyword.value)
        env["tf"] = Value(MODULE, data="tensorflow")
        source = ast.parse("\n".join(line.strip() for line in kernels.KERNELS[known].strip().splitlines()))
        frame = Frame(env, self.module, None, self.frame, self.frame.depth + 1)
        try:
            return self.inside(frame, lambda: (self._sparse_kernel if sparse else self._dense_kernel)(source))
        except Refused as refused:
            refused.line = node.lineno
            raise

    def _dense_kernel(self, source):
        for line in source.body:
            name = line.targets[0].id
            value = self.computed(line.value)
            if name in self.frame.env and self.frame.env[name].kind == HANDLE:
                self.assign(self.frame.env[name], value, line)
            else:
                self.frame.env[name] = self.local(name, value)
        return EFFECT

    def _sparse_kernel(self, source):
        """A sparse kernel works as the dense one on the rows that the gradient has, and leaves the others."""
        handles = {name: value for name, value in self.frame.env.items() if value.kind == HANDLE}
        for name, handle in handles.items():
            self.frame.env[name] = Value(ROWS, self.read(handle, None).node)
        for line in source.body:
            name = line.targets[0].id
            self.frame.env[name] = self.local("rows_" + name, self.computed(line.value))
        for name, handle in handles.items():
            if isinstance(self.frame.env[name].node, ast.Name):
                self.scattered("scatter_update", handle, self.frame.env[name], None)
        return EFFECT
