"""Statements of the old class's methods, followed in order."""

import ast

from compat_opt.codemod.branches import ends_in_return
from compat_opt.codemod.following import is_own
from compat_opt.codemod.handles import TAKEN, Frame, is_atom
from compat_opt.codemod.own import Own
from compat_opt.codemod.program import Line
from compat_opt.codemod.syntax import dotted, is_literal, literal
from compat_opt.codemod.values import COMPUTED, DICT, FUNCTION, LIST, NONE, NOTHING, STATIC, UNKNOWN, Refused, Value

_TOOL_COMMENTS = ("# pylint", "# type:", "# pytype", "# noqa", "# fmt", "# pragma")


class Executor(Own):
    """Follows one hook of a class and writes down the lines that a rule needs for it.

    Args:
        model: the `ClassModel`: attributes, hyperparameters, slots, methods.
        sparse: follow the sparse side: the gradient stands for its rows.
    """

    def __init__(self, model, sparse=False, comments=True):
        self.model, self.sparse = model, sparse
        self.frame = Frame({}, model.module)
        self.out, self.now, self.taken = [], {}, set(TAKEN)
        self.pending, self.comments = [], comments and not sparse
        self.hint, self.always_fresh, self.conditions = None, False, []
        self.deferred, self.updated, self.two_names = False, set(), set()
        self.state = Value(DICT, data={"by place": Value(DICT, data={})})

    @property
    def module(self):
        """The file whose code is being followed."""
        return self.frame.module

    def run(self, statements):
        """Follow statements; the value that they return, or None."""
        for position, statement in enumerate(statements):
            self._note_comments(statement)
            if isinstance(statement, ast.If):
                result, done = self._if(statement, statements[position + 1 :])
                if done:
                    return result
                continue
            if isinstance(statement, ast.Return):
                return NONE if statement.value is None else self.value(statement.value)
            self.statement(statement)
        return None

    def _note_comments(self, statement):
        """Keep the comments above a statement for the next line that is written."""
        if not self.comments or self.module is not self.model.module:
            return
        found = self.module.comments
        line = statement.lineno - 1
        above = []
        while line in found and found[line][1]:
            if not found[line][0].startswith(_TOOL_COMMENTS) and line not in self.model.used_comments:
                above.insert(0, found[line][0])
                self.model.used_comments.add(line)
            line -= 1
        beside = found.get(statement.lineno)
        if beside and not beside[1] and not beside[0].startswith(_TOOL_COMMENTS):
            if statement.lineno not in self.model.used_comments:
                self.model.used_comments.add(statement.lineno)
                above.append(beside[0])
        self.pending += above

    def statement(self, node):
        """One statement that is neither an if nor a return."""
        method = getattr(self, "_do_" + type(node).__name__, None)
        if method is None:
            raise Refused("a %s statement is not understood here" % type(node).__name__, node)
        try:
            return method(node)
        except Refused as refused:
            raise refused.at(node)

    def _do_Pass(self, node):
        pass

    _do_Import = _do_ImportFrom = _do_Assert = _do_Delete = _do_Pass

    def _do_Global(self, node):
        raise Refused("a global name is changed", node)

    def _do_FunctionDef(self, node):
        self.frame.env[node.name] = Value(FUNCTION, data=(node, self.frame))

    def _do_Expr(self, node):
        if is_literal(node.value):
            return
        self.value(node.value)

    def _do_With(self, node):
        for item in node.items:
            value = self.value(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value, node)
        if self.run(node.body) is not None and not ends_in_return(node.body):
            raise Refused("a return in the middle of a with block", node)

    def _do_Raise(self, node):
        self.out.append(Line(None, None, STATIC, text=ast_segment(self.module, node)))

    def _do_Assign(self, node):
        first = node.targets[0]
        if isinstance(first, ast.Name):
            self.target = first.id
            self.hint = (node.value, first.id)
        value = self._value_or_unknown(node)  # once: it may be an assignment to a variable itself
        self.hint = None
        for target in node.targets:
            self.bind(target, value, node)
            self.target = None

    def _value_or_unknown(self, node):
        """The value of an assignment to a name; what calls nothing and is not understood may go unread."""
        try:
            return self.value(node.value)
        except Refused as refused:
            if not isinstance(node.targets[0], ast.Name) or any(isinstance(n, ast.Call) for n in ast.walk(node.value)):
                raise
            return Value(UNKNOWN, data=refused.reason)

    def _do_AnnAssign(self, node):
        if node.value is not None:
            self.bind(node.target, self.value(node.value), node)

    def _do_AugAssign(self, node):
        if isinstance(node.target, ast.Name):
            old = self.value(node.target)
            if old.kind in (LIST, NOTHING):
                self.value(node.value)
                return
            self.target = node.target.id
            value = self.binary(node.op, self.read(old, node), self.computed(node.value), node)
            self.bind(node.target, value, node)
            self.target = None
            return
        if dotted(node.target) in ("self.updates",):
            self.value(node.value)
            return
        if is_own(node.target):
            raise Refused("the update keeps state in the Python attribute self.%s" % node.target.attr, node)
        raise Refused("this augmented assignment is not understood", node)

    def bind(self, target, value, node):
        """Bind a name, an attribute, an entry or several names."""
        if isinstance(target, ast.Name):
            self.target = target.id
            self.frame.env[target.id] = self.local(target.id, value)
            self.target = None
        elif isinstance(target, (ast.Tuple, ast.List)):
            if value.kind == NOTHING:
                values = [value] * len(target.elts)
            elif value.kind == LIST and isinstance(value.data, list) and len(value.data) == len(target.elts):
                values = value.data
            else:
                raise Refused("the values that are unpacked here are not known", node)
            for part, element in zip(target.elts, values):
                self.bind(part, element, node)
        elif isinstance(target, ast.Attribute):
            self.bind_attribute(target, value, node)
        elif isinstance(target, ast.Subscript):
            self.bind_entry(target, value, node)
        else:
            raise Refused("this target of an assignment is not understood", node)

    def local(self, name, value):
        """The value that a local name gets: an atom is only remembered, anything else is written down."""
        if value.kind not in COMPUTED or is_atom(value.node):
            return value
        return self.emit(name, value)

    def bind_attribute(self, target, value, node):
        """``self.x = ...`` inside the update: what the old base class keeps anyway, or what the update never reads."""
        if dotted(target) in ("self.updates", "self.weights", "self._weights"):
            return
        name = target.attr if is_own(target) else None
        if name is None or name in self.model.attributes_read:
            raise Refused("the update keeps state in the Python attribute %s" % (dotted(target) or "of an object"), node)
        self.model.attributes_set[name] = node
        self.model.note(self.place(node), "the update also sets self.%s, which the rule does not" % name)

    def bind_entry(self, target, value, node):
        """``d[key] = value``."""
        owner = self.value(target.value)
        index = target.slice
        index = getattr(index, "value", index) if type(index).__name__ == "Index" else index
        if owner.kind == NOTHING:
            return
        if owner.kind != DICT:
            raise Refused("this element can't be assigned", node)
        if is_literal(index):
            owner.data[literal(index)] = self.named_entry(literal(index), value)
        else:
            owner.data["by place"] = value

    def named_entry(self, key, value):
        """A dict's entry; an expression is written down under its key."""
        if isinstance(key, str) and key.isidentifier():
            self.target = None
            return self.local(key, value)
        return value


def ast_segment(module, node):
    """The source of a simple statement, on one line."""
    last = max(getattr(n, "lineno", node.lineno) for n in ast.walk(node))
    text = " ".join(line.strip() for line in module.lines[node.lineno - 1 : last])
    while True:  # Python 3.7 does not say where a statement ends: the shortest text that parses
        try:
            ast.parse(text)
            return text
        except SyntaxError:
            last += 1
            if last > len(module.lines):
                raise Refused("this raise can't be copied", node)
            text += " " + module.lines[last - 1].strip()
