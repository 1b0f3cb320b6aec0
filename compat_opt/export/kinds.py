"""What an expression of a rule is: a Python number, a boolean tensor, or a tensor; without running the rule.

"number" stands for everything that Python computes by itself (numbers, shapes, strings, flags), "tensor" for
what may be a tensor. "unknown" meets whatever comes.
"""

import ast

from compat_opt.export.operations import BOOLEAN
from compat_opt.export.printer import constant

NUMBER, TENSOR, BOOL, UNKNOWN = "number", "tensor", "bool", "unknown"


def join(first, second):
    """The kind of what is one or the other."""
    if first == second or second == UNKNOWN:
        return first
    return second if first == UNKNOWN else TENSOR


class Kinds:
    """Kinds of a function's expressions.

    Args:
        node: its FunctionDef.
        parameters: {parameter: kind, or list of kinds}.
        of_role: ``f(attribute node) -> kind or None`` for ``hyper.x``, ``slots.x``, ``self.x``, ``shared.x``.
        of_call: ``f(call node, kinds) -> kind or list of kinds or None`` for helpers of the rule.
        operation: ``f(call node) -> operation name or None``.
    """

    def __init__(self, node, parameters, of_role, of_call, operation):
        self.names = dict(parameters)
        self._of_role, self._of_call, self._operation = of_role, of_call, operation
        for _ in range(3):
            for statement in ast.walk(node):
                self._learn(statement)

    def _learn(self, node):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind(target, node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "update":
            if isinstance(node.func.value, ast.Name) and self._each_of([k.value for k in node.keywords]) != NUMBER:
                self._note(node.func.value.id, TENSOR)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self._note(node.target.id, self.of(node.value))
        elif isinstance(node, (ast.For, ast.comprehension)):
            for name in ast.walk(node.target):
                if isinstance(name, ast.Name):
                    self._note(name.id, NUMBER)

    def _bind(self, target, value):
        if isinstance(target, ast.Name):
            self._note(target.id, self.of(value))
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            if self._one(value) != NUMBER:
                self._note(target.value.id, TENSOR)
        elif isinstance(target, ast.Tuple):
            if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
                for each, part in zip(target.elts, value.elts):
                    self._bind(each, part)
                return
            kind = self.of(value)
            kinds = kind if isinstance(kind, list) else [kind] * len(target.elts)
            for each, part in zip(target.elts, kinds):
                if isinstance(each, ast.Name):
                    self._note(each.id, part)

    def _note(self, name, kind):
        if isinstance(kind, list):
            self.names[name] = kind
        else:
            old = self.names.get(name, UNKNOWN)
            self.names[name] = join(TENSOR if isinstance(old, list) else old, kind)

    def of(self, node):
        """The kind of an expression; of a tuple a list."""
        if constant(node)[0]:
            return NUMBER
        if isinstance(node, ast.Name):
            return self.names.get(node.id, NUMBER)
        if isinstance(node, ast.Attribute):
            known = self._of_role(node)
            if known is not None:
                return known
            return NUMBER if node.attr in ("shape", "ndim", "size") else self.of(node.value)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Compare):
            if all(isinstance(o, (ast.In, ast.NotIn, ast.Is, ast.IsNot)) for o in node.ops):
                return NUMBER
            return BOOL if any(self.of(n) != NUMBER for n in [node.left] + node.comparators) else NUMBER
        if isinstance(node, ast.Tuple):
            return [self.of(each) for each in node.elts]
        if isinstance(node, ast.IfExp):
            return join(self._one(node.body), self._one(node.orelse))
        if isinstance(node, ast.BinOp):
            left, right = self._one(node.left), self._one(node.right)
            if isinstance(node.op, (ast.BitAnd, ast.BitOr)) and BOOL in (left, right):
                return BOOL
            if UNKNOWN in (left, right):
                return join(left, right)
            return NUMBER if left == right == NUMBER else TENSOR
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand)
        if isinstance(node, ast.Subscript):
            return self._one(node.value)
        if isinstance(node, (ast.Dict, ast.List)):
            return self._each_of(node.values if isinstance(node, ast.Dict) else node.elts)
        return NUMBER if not isinstance(node, (ast.ListComp, ast.DictComp, ast.GeneratorExp)) else self._each(node)

    def _each_of(self, nodes):
        return TENSOR if any(self._one(node) != NUMBER for node in nodes) else NUMBER

    def _each(self, node):
        return self._one(node.value if isinstance(node, ast.DictComp) else node.elt)

    def _one(self, node):
        kind = self.of(node)
        if isinstance(kind, list):
            return TENSOR if any(k != NUMBER for k in kind) else NUMBER
        return kind

    def _call(self, node):
        name = self._operation(node)
        if name is not None:
            if name in BOOLEAN:
                return BOOL if any(self._one(argument) != NUMBER for argument in node.args) else NUMBER
            if name in ("eigh", "qr"):
                return [TENSOR, TENSOR]
            if name in ("zeros", "ones", "full", "eye", "random_normal", "random_uniform"):
                return TENSOR
            return TENSOR if any(self._one(argument) != NUMBER for argument in node.args) else NUMBER
        known = self._of_call(node, self)
        if known is not None:
            return known
        return TENSOR if any(self._one(argument) not in (NUMBER, UNKNOWN) for argument in node.args) else NUMBER
