"""The slots of a rule as source: which exist for a shape, their shapes, and their first values."""

import ast
import copy
import inspect

from compat_opt.export.printer import constant, text_of
from compat_opt.export.refusal import refuse
from compat_opt.export.source import SourceFile, global_value
from compat_opt.spec import Hyper


class SlotSource:
    """The slots of one rule.

    Args:
        translation: the `Translation` of the rule.
        settings: {hyperparameter: value} that are fixed in the exported source.
        attribute: ``f(name) -> source`` of a hyperparameter that is read where slots are made.

    Attributes:
        entries: [(name, shape source, condition node or None)].
        initial: {name: source of the first value, or None for a copy of the variable}.
        functions: {name: FunctionDef} of module functions that shapes and conditions use.
    """

    def __init__(self, translation, settings, attribute):
        self.translation, self.settings, self.attribute = translation, settings, attribute
        self.entries, self.initial, self.functions = [], {}, {}
        rule = translation.rule
        for name, slot in rule.slots().items():
            shape, condition = ast.Name("shape"), None
            if slot.shape is not None:
                shape = self._expression(name, "shape")
            if slot.when is not None:
                condition = self._expression(name, "when")
            if slot.dtype not in (None, "real"):
                refuse(None, "its slot %s has the dtype %s, whatever the variable's" % (name, slot.dtype))
            known, value = constant(condition) if condition is not None else (True, True)
            if known and not value:
                continue
            self.entries.append((name, text_of(shape), None if known else condition))
            self._first_value(name, slot.init)

    @property
    def plain(self):
        """Whether all slots are zeros of the variable's shape, and the shape has no part in whether there are any."""
        read = [n.id for _, _, node in self.entries if node is not None for n in ast.walk(node) if isinstance(n, ast.Name)]
        same = all(shape == "shape" for _, shape, _ in self.entries)
        return bool(self.entries) and same and not self.initial and "shape" not in read

    def names(self, indent):
        """Lines that collect the names of plain slots, and source that gives them."""
        fixed = [name for name, _, condition in self.entries if condition is None]
        source = "(%s)" % ", ".join('"%s"' % name for name in fixed) if len(fixed) != 1 else '("%s",)' % fixed[0]
        if len(fixed) == len(self.entries):
            return [], source
        lines = [" " * indent + "names = [%s]" % ", ".join('"%s"' % name for name in fixed)]
        for name, _, condition in self.entries:
            if condition is not None:
                lines += [" " * indent + "if %s:" % text_of(condition)]
                lines += [" " * (indent + 4) + 'names.append("%s")' % name]
        return lines, "names"

    def _first_value(self, name, init):
        if isinstance(init, Hyper):
            fixed = init.name in self.settings
            self.initial[name] = repr(self.settings[init.name]) if fixed else "self." + init.name
        elif init == "variable":
            self.initial[name] = None
        elif init == "ones":
            self.initial[name] = "1.0"
        elif callable(init):
            refuse(None, "its slot %s starts at what a function returns" % name, "A number can be exported.")
        elif init != "zeros" and init != 0:
            self.initial[name] = repr(float(init))

    def _expression(self, name, argument):
        node, file, closed = self.translation.functions.source.slot_argument(name, argument)
        given = [each.arg for each in node.args.args]
        visitor = _SlotVisitor(self, given, file, closed)
        return fold(visitor.visit(copy.deepcopy(node.body)))


class _SlotVisitor(ast.NodeTransformer):
    def __init__(self, slots, parameters, file, closed):
        self.slots, self.file, self.closed = slots, file, closed
        self.rule = parameters[0] if len(parameters) == 2 else None
        self.shape = parameters[-1]
        self.bound = set(parameters)

    def visit_Name(self, node):
        if node.id == self.shape:
            return ast.copy_location(ast.Name("shape"), node)
        if node.id == self.rule:
            refuse(node, "a slot's condition uses the rule as a value")
        if node.id in self.closed:
            value = self.closed[node.id]
            if not isinstance(value, (int, float, str, bool)):
                refuse(node, "a slot's shape or condition uses %s from outside" % node.id)
            return ast.copy_location(ast.parse(repr(value), mode="eval").body, node)
        kind, value = global_value(node, node.id, self.file)
        if kind == "function":
            self._add(value)
        elif kind == "constant":
            self.slots.translation.constants[node.id] = value
        return node

    def _add(self, function):
        file = SourceFile.of(function)
        node = file.function_node(function.__name__)
        if node is None or function.__name__ in self.slots.functions:
            return
        self.slots.functions[function.__name__] = node
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        names |= {argument.arg for argument in node.args.args}
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and each.id not in names:
                kind, value = global_value(each, each.id, file)
                if kind == "function" and inspect.isfunction(value):
                    self._add(value)
                elif kind == "constant":
                    self.slots.translation.constants[each.id] = value

    def visit_Attribute(self, node):
        if isinstance(node.value, ast.Name) and node.value.id == self.rule:
            if node.attr in self.slots.settings:
                return ast.parse(repr(self.slots.settings[node.attr]), mode="eval").body
            return ast.parse(self.slots.attribute(node.attr), mode="eval").body
        return self.generic_visit(node)

    def visit_comprehension(self, node):
        refuse(None, "a slot's shape or condition has a comprehension")


def fold(node):
    """An expression with what is known already computed: sums of numbers, comparisons, and, or, not."""
    return _Fold().visit(node)


class _Fold(ast.NodeTransformer):
    def _known(self, *nodes):
        return all(constant(node)[0] for node in nodes)

    def _made(self, value):
        return ast.parse(repr(value), mode="eval").body

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if self._known(node.left, node.right) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
            left, right = constant(node.left)[1], constant(node.right)[1]
            operations = {ast.Add: left.__add__, ast.Sub: left.__sub__, ast.Mult: left.__mul__}
            return self._made(operations[type(node.op)](right))
        return node

    def visit_Compare(self, node):
        self.generic_visit(node)
        if len(node.ops) == 1 and self._known(node.left, node.comparators[0]):
            left, right = constant(node.left)[1], constant(node.comparators[0])[1]
            known = {
                ast.Eq: left == right, ast.NotEq: left != right, ast.Is: left is right, ast.IsNot: left is not right,
            }  # fmt: skip
            if type(node.ops[0]) in known:
                return self._made(known[type(node.ops[0])])
        return node

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and self._known(node.operand):
            return self._made(not constant(node.operand)[1])
        return node

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        stop = isinstance(node.op, ast.Or)
        kept = []
        for value in node.values:
            known, found = constant(value)
            if known and bool(found) == stop:
                if not kept:
                    return self._made(found)
                kept.append(value)
                break
            if not known:
                kept.append(value)
        if not kept:
            return self._made(not stop)
        return kept[0] if len(kept) == 1 else ast.BoolOp(node.op, kept)

    def visit_IfExp(self, node):
        self.generic_visit(node)
        known, value = constant(node.test)
        return (node.body if value else node.orelse) if known else node

    def visit_If(self, node):
        node.test = self.visit(node.test)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        known, value = constant(node.test)
        return (node.body if value else node.orelse) if known else node

    def visit_For(self, node):
        node.body = self.block(node.body)
        return node

    def block(self, statements):
        """A list of statements, folded; what follows a return that always runs is left out."""
        found = []
        for statement in statements:
            new = self.visit(statement)
            found += new if isinstance(new, list) else [new]
            if found and isinstance(found[-1], ast.Return):
                break
        return found


def fix_settings(statements, settings):
    """Statements with ``self.<name>`` of `settings` replaced by its value, and folded."""

    class Fixed(ast.NodeTransformer):
        def visit_Attribute(self, node):
            own = isinstance(node.value, ast.Name) and node.value.id == "self"
            if own and node.attr in settings:
                return ast.parse(repr(settings[node.attr]), mode="eval").body
            return self.generic_visit(node)

    if not settings:
        return statements
    return _Fold().block([Fixed().visit(statement) for statement in statements])
