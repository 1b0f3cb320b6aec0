"""The functions of a rule and who calls whom: which hyperparameters each needs, and what its parameters are."""

import ast
import inspect

from compat_opt.export.refusal import refuse
from compat_opt.export.source import RuleSource, SourceFile, global_value

#: Parameters by position of the methods that a rule has.
ROLES = {
    "update": ("self", "grad", "var", "slots", "hyper", "ops"),
    "measure": ("self", "grad", "var", "slots", "hyper", "ops"),
    "prepare": ("self", "shared", "hyper", "ops"),
}
VALUES = ("grad", "var")


class Function:
    """One function of the rule.

    Attributes:
        name: its name in the exported file.
        node, file: its definition and where it stands.
        owner: the class that defines it, or None for a function of the module.
        roles: {parameter: "self", "hyper", "ops", "slots", "shared" or None}.
        contexts: of which of update, measure, prepare it is a part.
    """

    def __init__(self, name, node, file, owner, roles):
        self.name, self.node, self.file, self.owner, self.roles = name, node, file, owner, roles
        self.contexts = set()
        self.kinds = None
        self.parameter_kinds = {}

    def role(self, node):
        """The role of a name, or None."""
        return self.roles.get(node.id) if isinstance(node, ast.Name) else None


class Functions:
    """All functions that the update, prepare and measure of a rule reach.

    Args:
        rule: an `UpdateRule` subclass.
    """

    def __init__(self, rule):
        self.rule = rule
        self.source = RuleSource(rule)
        self.found = {}
        self.top = {}
        for name in ("update", "prepare", "measure"):
            if name == "update" or rule.overrides(name):
                node, file, owner = self.source.method(name)
                given = [argument.arg for argument in node.args.args]
                roles = {p: (r if r not in VALUES else None) for p, r in zip(given, ROLES[name])}
                function = Function(name, node, file, owner, roles)
                function.values = dict(zip(ROLES[name], given))
                self.top[name] = function
        for name, function in self.top.items():
            self._reach(function, name)

    def _reach(self, function, context, trail=()):
        if function.node in trail:
            refuse(function.node, "%s() calls itself" % function.name)
        function.contexts.add(context)
        for node in ast.walk(function.node):
            if isinstance(node, ast.Call):
                callee = self.callee(node, function)
                if callee is not None:
                    self._reach(callee, context, trail + (function.node,))

    def callee(self, call, caller):
        """The `Function` that a call reaches, or None if it is none of the rule's."""
        target, name = call.func, None
        owner = None
        if isinstance(target, ast.Attribute) and caller.role(target.value) == "self":
            if inspect.isfunction(getattr(self.rule, target.attr, None)):
                node, file, owner = self.source.method(target.attr)
                name = target.attr
        elif isinstance(target, ast.Attribute) and _is_super(target.value):
            node, file, owner = self.source.method(target.attr, after=caller.owner)
            name = "_%s_%s" % (owner.__name__.lower(), target.attr)
        elif isinstance(target, ast.Name) and target.id not in caller.roles:
            if isinstance(caller.file.globals.get(target.id), type(_is_super)):
                kind, function = global_value(target, target.id, caller.file)
                file = SourceFile.of(function)
                node, name = file.function_node(function.__name__), function.__name__
                if node is None:
                    refuse(call, "the source of %s() can't be found" % target.id)
        if name is None:
            return None
        if name in ("update", "prepare", "measure"):
            refuse(call, "it calls %s() by itself" % name)
        key = (node, name)
        parameters = [argument.arg for argument in node.args.args]
        if owner is not None:
            parameters = parameters[1:]
        if node.args.vararg or node.args.kwarg or node.args.kwonlyargs:
            refuse(node, "%s() has * or keyword-only parameters" % node.name)
        roles = {}
        if owner is not None:
            roles[node.args.args[0].arg] = "self"
        bound = self.bind(call, parameters)
        for parameter, argument in bound.items():
            roles[parameter] = caller.role(argument)
            if roles[parameter] == "self":
                refuse(call, "it passes the rule itself to %s()" % node.name)
        if key not in self.found:
            self.found[key] = Function(name, node, file, owner, roles)
        known = self.found[key].roles
        if {p: r for p, r in roles.items()} != {p: known.get(p) for p in roles}:
            refuse(call, "%s() is called with hyper, slots and ops in different places" % node.name)
        return self.found[key]

    @staticmethod
    def bind(call, parameters):
        """{parameter: argument node} of a call."""
        if len(call.args) > len(parameters) or any(isinstance(a, ast.Starred) for a in call.args):
            refuse(call, "it calls a function with arguments that can't be matched")
        bound = dict(zip(parameters, call.args))
        for keyword in call.keywords:
            if keyword.arg not in parameters:
                refuse(call, "it calls a function with arguments that can't be matched")
            bound[keyword.arg] = keyword.value
        return bound

    def hypers_read(self, functions):
        """Names read as ``hyper.<name>`` in these functions, in the order of their places."""
        names = []
        for function in functions:
            for node in ast.walk(function.node):
                if isinstance(node, ast.Attribute) and function.role(node.value) == "hyper":
                    if node.attr not in names:
                        names.append(node.attr)
        return names

    def passes_hyper(self, function):
        """Whether a function hands `hyper` on, or a helper of it does."""
        for node in ast.walk(function.node):
            if isinstance(node, ast.Call):
                callee = self.callee(node, function)
                if callee is not None and "hyper" in callee.roles.values():
                    return True
        return False


def _is_super(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
