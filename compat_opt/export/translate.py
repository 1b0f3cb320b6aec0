"""A rule's functions as functions of an optimizer class: hyper.x, slots.x, ops.f and what is returned, rewritten."""

import ast
import copy
import inspect

from compat_opt.export import hoist
from compat_opt.export.calls import OperationCalls
from compat_opt.export.functions import Functions
from compat_opt.export.kinds import BOOL, NUMBER, TENSOR, Kinds
from compat_opt.export.refusal import refuse
from compat_opt.export.source import global_value, is_docstring
from compat_opt.export.taken import BASE_METHODS, LOCAL, WRITTEN
from compat_opt.ops.table import OPERATIONS


def expression(text):
    """A source text as an expression node."""
    return ast.parse(text, mode="eval").body


class Translation:
    """The translation of one rule into one API.

    Args:
        rule: an `UpdateRule` subclass.
        dialect: the `Dialect` of tensor functions.
        live: names of the hyperparameters that are tensors in the update; the others are Python numbers.
        scalars: the name of the dict in which the update finds its scalars.

    Attributes:
        functions: the `Functions` of the rule.
        hoists: {name: expression} of scalars that the update reads, in terms of the rule.
        keys: {context: names} that functions read from the dict.
        helpers: names of the dialect's private functions in use.
        constants: {name: value} of module constants in use.
        modules: modules to import.
    """

    def __init__(self, rule, dialect, live, scalars):
        self.rule = rule
        self.dialect = dialect
        self.scalars = scalars
        self.functions = Functions(rule)
        self.static = [n for n, h in rule.hypers().items() if h.static]
        self.numbers = [n for n in rule.hypers() if n not in live and n not in self.static]
        self.live = live
        self.hoists = {}
        self.keys = {"update": [], "measure": [], "prepare": []}
        self.helpers, self.constants, self.modules = [], {}, set()
        self.calls = OperationCalls(self)
        self._find_parameter_kinds()

    # Kinds

    def is_number(self, name):
        """Whether ``hyper.<name>`` is a Python value in this API."""
        return name in self.static or name in self.numbers

    def _find_parameter_kinds(self):
        """Kinds of helpers' parameters: joined over the calls, until nothing changes."""
        everything = list(self.functions.top.values()) + list(self.functions.found.values())
        for function in self.functions.top.values():
            function.parameter_kinds = {p: TENSOR for p, role in function.roles.items() if role is None}
        for _ in range(4):
            for function in everything:
                function.kinds = self.kinds_of(function)
                for node in ast.walk(function.node):
                    if isinstance(node, ast.Call):
                        self._note_call(node, function)

    def _note_call(self, call, caller):
        callee = self.functions.callee(call, caller)
        if callee is None:
            return
        names = [a.arg for a in callee.node.args.args if callee.roles.get(a.arg) != "self"]
        for parameter, argument in self.functions.bind(call, names).items():
            if callee.roles[parameter] is None:
                kind = caller.kinds.of(argument)
                old = callee.parameter_kinds.get(parameter)
                same = old is None or old == kind
                callee.parameter_kinds[parameter] = kind if same else TENSOR

    def kinds_of(self, function):
        """`Kinds` of one function."""

        def of_role(node):
            role = function.role(node.value)
            if role == "hyper":
                return NUMBER if self.is_number(node.attr) else TENSOR
            if role in ("slots", "shared"):
                return TENSOR
            return NUMBER if role == "self" else None

        def of_call(call, kinds):
            callee = self.functions.callee(call, function)
            if callee is None or callee.kinds is None:
                return None
            found = [callee.kinds.of(n.value) for n in ast.walk(callee.node) if isinstance(n, ast.Return) and n.value]
            if not found:
                return NUMBER
            if all(isinstance(kind, list) and len(kind) == len(found[0]) for kind in found):
                return [parts[0] if len(set(parts)) == 1 else TENSOR for parts in zip(*found)]
            return found[0] if all(kind == found[0] for kind in found) else TENSOR

        parameters = dict(function.parameter_kinds)
        parameters.update((p, TENSOR) for p, role in function.roles.items() if role == "slots")
        return Kinds(function.node, parameters, of_role, of_call, lambda c: self.operation(c, function))

    def operation(self, call, function):
        """The operation's name of ``ops.<name>(...)``, or None."""
        target = call.func
        if isinstance(target, ast.Attribute) and function.role(target.value) == "ops":
            if target.attr not in OPERATIONS:
                refuse(call, "there is no operation ops.%s" % target.attr)
            return target.attr
        return None

    # Functions

    def helper_definitions(self):
        """FunctionDefs of the rule's helper methods and module functions: two lists."""
        methods, functions = [], []
        for function in self.functions.found.values():
            as_method = "self" in function.roles.values() or self.takes_scalars(function) or self.needs_self(function)
            node = ast.FunctionDef()
            node.name = self.name_of(function)
            names = ["self"] if as_method else []
            for argument in function.node.args.args:
                role = function.roles.get(argument.arg)
                if role is None or role == "slots":
                    names.append(argument.arg)
                elif role == "hyper" and self.takes_scalars(function):
                    names.append(self.scalars)
                elif role == "shared":
                    refuse(function.node, "it passes shared to %s()" % function.name)
            if function.node.args.defaults:
                refuse(function.node, "%s() has parameters with defaults" % function.name)
            node.args = ast.arguments()
            node.args.args = [ast.arg(arg=name, annotation=None) for name in names]
            node.body = self.body(function)
            node.comments_before = []
            (methods if as_method else functions).append(node)
        return methods, functions

    def needs_self(self, function):
        """Whether a helper reads Python hyperparameters, or calls a method."""
        for name in self.functions.hypers_read([function]):
            if self.is_number(name):
                return True
        for node in ast.walk(function.node):
            if isinstance(node, ast.Call):
                callee = self.functions.callee(node, function)
                if callee is not None and ("self" in callee.roles.values() or self.takes_scalars(callee)):
                    return True
                if callee is not None and self.needs_self(callee):
                    return True
        return False

    def takes_scalars(self, function):
        """Whether a helper, or one that it calls, reads a scalar that is a tensor."""
        if any(not self.is_number(name) for name in self.functions.hypers_read([function])):
            return True
        for node in ast.walk(function.node):
            if isinstance(node, ast.Call):
                callee = self.functions.callee(node, function)
                if callee is not None and "hyper" in callee.roles.values() and self.takes_scalars(callee):
                    return True
        return False

    def name_of(self, function):
        """What a helper is called in the exported file."""
        name = function.name if function.name.startswith("_") else "_" + function.name
        return name + "_of_rule" if name in BASE_METHODS | WRITTEN else name

    def body(self, function, read=None, on_return=None):
        """Statements of a function, without its docstring's role in the rule.

        Args:
            function: a `Function`.
            read: ``f(name) -> node``: how the function reads ``hyper.<name>``; default: from the dict.
            on_return: ``f(node) -> statements`` for a return; default: the same return, translated.
        """
        statements = function.node.body
        if is_docstring(statements[0]) and function.name in ("update", "prepare", "measure"):
            statements = statements[1:]
        visitor = _Visitor(self, function, read, on_return)
        return visitor.block(statements)

    def hoisted(self, node, function):
        """The name under which a scalar expression of a function is computed once per step, or None."""
        return hoist.name_for(node, function, self)

    def read_key(self, name, function):
        """``scalars["name"]``, and note that the contexts of the function need it."""
        for context in function.contexts:
            if name not in self.keys[context]:
                self.keys[context].append(name)
        return expression('%s["%s"]' % (self.scalars, name))

    def visitor(self, function, read=None):
        """What translates single expressions of a function."""
        return _Visitor(self, function, read, None)

    def in_scalars_scope(self, node, function, read):
        """A scalar expression of the rule (a hoist), translated where ``read(name)`` reads hyper.<name>."""
        return _Visitor(self, function, read, None, hoisting=False).visit(copy.deepcopy(node))


class _Visitor(ast.NodeTransformer):
    def __init__(self, translation, function, read, on_return, hoisting=True):
        self.t, self.function, self.on_return = translation, function, on_return
        self.read = read or (lambda name: translation.read_key(name, function))
        self.hoisting = hoisting and function.name != "prepare"
        self.kinds = function.kinds
        self.bound = set(function.roles)
        for node in ast.walk(function.node):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.bound.add(node.id)
                if node.id in LOCAL:
                    refuse(node, "it has a variable %s, a name that the exported method needs" % node.id, "Rename it.")

    def block(self, statements):
        found = []
        for node in statements:
            new = self.visit(copy.deepcopy(node))
            found += new if isinstance(new, list) else [new]
        return found

    def visit(self, node):
        if self.hoisting and isinstance(node, ast.expr):
            name = self.t.hoisted(node, self.function)
            if name is not None:
                return self.t.read_key(name, self.function)
        return super().visit(node)

    def visit_If(self, node):
        node.test = self.visit(node.test)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return node

    def visit_For(self, node):
        node.iter = self.visit(node.iter)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return node

    def visit_Return(self, node):
        if self.on_return is None or node.value is None:
            return self.generic_visit(node)
        made = self.on_return(node, self)
        for name in ("comments_before", "comment_after"):
            setattr(made[0], name, getattr(node, name, None) or ())
        return made

    def visit_Name(self, node):
        role = self.function.role(node)
        if role in ("hyper", "ops", "shared"):
            refuse(node, "it uses %s other than as %s.<name>" % (node.id, node.id))
        if role == "self":
            refuse(node, "it uses the rule itself as a value")
        if node.id not in self.bound and not role:
            self._global(node)
        return node

    def _global(self, node):
        kind, value = global_value(node, node.id, self.function.file)
        if kind == "constant":
            self.t.constants[node.id] = value
        elif kind == "module":
            self.t.modules.add(value.__name__)
        elif kind == "function":
            refuse(node, "it passes the function %s on" % node.id)

    def visit_Attribute(self, node):
        role = self.function.role(node.value)
        if role == "hyper":
            return self._hyper(node)
        if role == "slots":
            return expression('%s["%s"]' % (node.value.id, node.attr))
        if role == "shared":
            return expression('shared["%s"]' % node.attr)
        if role == "self":
            return self._own(node)
        value = self.visit(node.value)
        if node.attr == "ndim":
            return ast.Call(ast.Name("len"), [ast.Attribute(value, "shape")], [])
        if node.attr == "size":
            self.t.helpers.append("size")
            return ast.Call(ast.Name("_size"), [ast.Attribute(value, "shape")], [])
        node.value = value
        return node

    def _hyper(self, node):
        if node.attr == "weight_decay":
            refuse(node, "it reads hyper.weight_decay, which is the base class's", "Give it a name of its own.")
        if self.t.is_number(node.attr):
            return expression("self.%s" % node.attr)
        return self.read(node.attr)

    def _own(self, node):
        if node.attr in self.t.static or node.attr in self.t.numbers:
            return expression("self.%s" % node.attr)
        value = getattr(self.t.rule, node.attr, None)
        if constant_like(value):
            self.t.constants[node.attr] = value
            return ast.Name(node.attr)
        refuse(node, "it reads self.%s, which is no static hyperparameter" % node.attr)

    def visit_Subscript(self, node):
        if self.function.role(node.value) == "slots":
            node.slice = self.visit(node.slice)
            return node
        return self.generic_visit(node)

    def visit_Compare(self, node):
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            if self.function.role(node.comparators[0]) == "slots":
                node.left = self.visit(node.left)
                return node
        equal = isinstance(node.ops[0], (ast.Eq, ast.NotEq)) and self.kinds.of(node) == BOOL
        if equal and self.t.dialect.prefix == "tf":
            name = "equal" if isinstance(node.ops[0], ast.Eq) else "not_equal"
            tensor_first = self.kinds.of(node.left) != NUMBER
            sides = [node.left, node.comparators[0]] if tensor_first else [node.comparators[0], node.left]
            return ast.Call(expression("tf.%s" % name), [self.visit(side) for side in sides], [])
        return self.generic_visit(node)

    def visit_Call(self, node):
        name = self.t.operation(node, self.function)
        if name is not None:
            return self.t.calls.translate(name, node, self)
        callee = self.t.functions.callee(node, self.function)
        if callee is not None:
            return self._helper_call(node, callee)
        if isinstance(node.func, ast.Attribute) and self.function.role(node.func.value) is not None:
            if self.function.role(node.func.value) != "slots":
                refuse(node, "it calls %s.%s()" % (node.func.value.id, node.func.attr))
        if isinstance(node.func, ast.Name) and node.func.id in ("getattr", "setattr", "vars", "eval", "exec"):
            refuse(node, "it calls %s()" % node.func.id)
        return self.generic_visit(node)

    def _helper_call(self, node, callee):
        method = "self" in callee.roles.values() or self.t.takes_scalars(callee) or self.t.needs_self(callee)
        name = self.t.name_of(callee)
        arguments = []
        for argument in node.args:
            arguments += self._argument(argument, callee)
        keywords = []
        for keyword in node.keywords:
            for value in self._argument(keyword.value, callee):
                keywords.append(ast.keyword(keyword.arg, value))
        return ast.Call(expression("self." + name if method else name), arguments, keywords)

    def _argument(self, argument, callee):
        role = self.function.role(argument)
        if role == "ops" or role == "hyper" and not self.t.takes_scalars(callee):
            return []
        if role == "hyper":
            return [ast.Name(self.t.scalars)]
        return [argument if role == "slots" else self.visit(argument)]

    def visit_Lambda(self, node):
        refuse(node, "it has a lambda in %s()" % self.function.name)

    def visit_FunctionDef(self, node):
        refuse(node, "it defines a function in %s()" % self.function.name)


def constant_like(value):
    """Whether a class attribute can stand in the exported file as it is."""
    return value is not None and isinstance(value, (bool, int, float, str)) and not inspect.isfunction(value)
