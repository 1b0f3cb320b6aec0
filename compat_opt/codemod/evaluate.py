"""Names, attributes and operators of the old class, evaluated to expressions of the rule."""

import ast

from compat_opt.codemod import functions
from compat_opt.codemod.syntax import constant, dotted, expression, holds, is_literal, literal, write
from compat_opt.codemod.values import (
    COMPUTED, DECAY, DICT, EFFECT, FUNCTION, HANDLE, INDEX, LIST, MODULE, NONE, NOTHING, PLACE, ROWS, ROW_NUMBERS,
    SCALAR, SELF, SHAPE, STATIC, TENSOR, UNKNOWN, WRAPPED, Refused, Value, hypers_in, named, static, truth, widest,
)  # fmt: skip

#: Attributes of a tensor or variable that say where it is, not what it is.
_PLACES = ("device", "dtype", "base_dtype", "op", "graph", "handle", "initializer")

#: Things that the compiled optimizer does itself, before or after the rule: they are off inside it.
ELSEWHERE = ("constraint", "_constraint")

_STEP = "hyper.step - 1"

#: Why a value is unknown that was made of a variable's name: groups of variables are told apart by it.
NAMED = "the variable's name steers the update"


class Evaluator:
    """Evaluates expressions in a frame; what changes state is left to the subclass, `Executor`."""

    def value(self, node):
        """The `Value` of an expression node."""
        try:
            method = getattr(self, "_on_" + type(node).__name__, None)
            if method is None:
                if is_literal(node):
                    return NONE if literal(node) is None else Value(STATIC, node)
                raise Refused("a %s is not understood here" % type(node).__name__, node)
            return method(node)
        except Refused as refused:
            raise refused.at(node)
        except functions.UnknownFunction as unknown:
            raise Refused(str(unknown), node)

    def computed(self, node):
        """The value of `node` as something to compute with: handles are read."""
        return self.read(self.value(node), node)

    def read(self, value, node):
        """`value`, or what the handle holds now."""
        if value.kind == HANDLE:
            return self.kept(self.current(value.data, node))
        if value.kind == TENSOR and value.data in self.now and not self.deferred:
            return self.kept(self.current(value.data, node))  # assign() returns its variable: it is read here
        if value.kind == SHAPE:
            return Value(STATIC, expression("var.shape"))
        if value.kind == UNKNOWN:
            raise Refused(value.data, node)
        if value.kind not in COMPUTED:
            what = value.data if isinstance(value.data, str) else value.kind
            raise Refused("%s can't be computed with" % what, node)
        return value

    def kept(self, value):
        """What was read of a variable: it stays, whatever is assigned to the variable later."""
        return Value(TENSOR, value.node) if value.kind == TENSOR and value.data in self.now else value

    # -- names and attributes ------------------------------------------------------------------

    def _on_Name(self, node):
        if node.id in self.frame.env:
            return self.frame.env[node.id]
        if node.id in ("True", "False"):
            return static(node.id == "True")
        if node.id in self.module.functions:
            if node.id in self.module.twice:
                raise Refused("%s is defined more than once in this file" % node.id, node)
            return Value(FUNCTION, data=(self.module.functions[node.id], None))
        full = self.module.full_name(node)
        if node.id in self.module.assigned and full == node.id:
            found = self.module.assigned[node.id]
            if len(found) == 1:
                return self.value(found[0])
        found = self.module.elsewhere(node.id)
        if found is not None:
            return self._found_elsewhere(*found)
        if full and full != node.id:
            return Value(MODULE, data=full)
        if node.id in ("tf", "K", "keras", "np", "math") or node.id in BUILTINS:
            return Value(MODULE, data=node.id)
        if len(self.module.assigned.get(node.id, ())) > 1:
            raise Refused("%s is given more than one value in this file" % node.id, node)
        raise Refused("%s is not defined in this file in a way that is understood" % node.id, node)

    def _found_elsewhere(self, found, module):
        if isinstance(found, ast.FunctionDef):
            return Value(FUNCTION, data=(found, (module, None)))
        return self.in_module(module, found)

    def _on_Attribute(self, node):
        full = dotted(node)
        root = full.split(".")[0] if full else None
        if root is not None and root not in self.frame.env and root not in self.module.functions:
            name = self.module.full_name(node) or full
            if name != full or root in ("tf", "K", "keras", "np", "math"):
                if name.split(".")[-1] == "pi":
                    return static(3.141592653589793)
                return Value(MODULE, data=name)
        owner = self.value(node.value)
        return self.attribute(owner, node.attr, node)

    def attribute(self, owner, name, node):
        """``owner.name``."""
        if owner.kind == SELF:
            return self.self_attribute(name, node)
        if owner.kind == MODULE:
            return Value(MODULE, data="%s.%s" % (owner.data, name))
        if owner.kind == HANDLE:
            if name == "handle":
                return owner
            if name in ELSEWHERE:
                return NONE
            if name in ("name", "path", "ref", "_unique_id"):
                return Value(UNKNOWN, data=NAMED)
            if name == "shape":
                return Value(SHAPE, data="shape")
            if name in ("value", "read_value"):
                return Value(FUNCTION, data=("read", owner))
        if owner.kind == WRAPPED and name in ("learning_rate", "lr"):
            return self.model.hyper_value("learning_rate", node)
        if owner.kind == WRAPPED and name == "iterations":
            return named(SCALAR, _STEP)
        if name in _PLACES or owner.kind == NOTHING:
            return PLACE
        if name == "shape" and owner.kind in (TENSOR, ROWS):
            return Value(SHAPE, data="shape")
        if owner.kind == SHAPE and name in ("rank", "ndims"):
            return Value(STATIC, expression("len(var.shape)"))
        if owner.kind in COMPUTED and name == "values" and self.sparse:
            return owner
        if owner.kind in COMPUTED and name == "indices" and self.sparse:
            return Value(ROW_NUMBERS)
        return Value(FUNCTION, data=("method " + name, owner))

    def _on_Subscript(self, node):
        owner = self.value(node.value)
        index = node.slice
        index = getattr(index, "value", index) if type(index).__name__ == "Index" else index
        if owner.kind == DICT:
            return self.look_up(owner, index, node)
        if owner.kind == LIST and isinstance(owner.data, tuple) and owner.data[0] == "slots":
            self.value(index)
            return Value(HANDLE, data=owner.data[1])
        if owner.kind == LIST and is_literal(index) and isinstance(owner.data, list):
            try:
                return owner.data[literal(index)]
            except (IndexError, TypeError):
                raise Refused("the list has no such element", node)
        if owner.kind == NOTHING:
            return owner
        if owner.kind == SHAPE and is_literal(index):
            return Value(STATIC, expression("var.shape[I]", I=index))
        raise Refused("this index is not understood", node)

    def look_up(self, owner, index, node):
        """An element of a dict; keys that are not plain (device, dtype) stand for the only entry."""
        try:
            key = literal(index)
        except ValueError:
            key = None
            if owner.data.get("by place") is not None:
                return owner.data["by place"]
            if isinstance(index, (ast.Name, ast.Call, ast.Attribute)) and self.value(index).kind in (INDEX, NOTHING):
                return Value(INDEX)
        if key is None or key not in owner.data:
            raise Refused("there is no entry %s in this dict" % write(index), node)
        return owner.data[key]

    # -- operators -----------------------------------------------------------------------------

    def _on_BinOp(self, node):
        if isinstance(node.op, ast.Add):
            left, right = self.value(node.left), self.value(node.right)
            if LIST in (left.kind, right.kind) or NOTHING in (left.kind, right.kind):
                return EFFECT
        left, right = self.computed(node.left), self.computed(node.right)
        return self.binary(node.op, left, right, node)

    def binary(self, sign, left, right, node):
        """``left <sign> right``."""
        kind = widest(left, right)
        if DECAY in (left, right):
            return self._with_decay(sign, right if left is DECAY else left, node)
        if isinstance(sign, ast.Add) and left.text() == _STEP and right.text() in ("1", "1.0"):
            return named(SCALAR, "hyper.step")
        if isinstance(sign, ast.Add) and right.text() == _STEP and left.text() in ("1", "1.0"):
            return named(SCALAR, "hyper.step")
        if kind == STATIC and is_literal(left.node) and is_literal(right.node) and isinstance(sign, ast.Mod):
            return PLACE  # a formatted message
        if isinstance(sign, (ast.FloorDiv, ast.Mod)) and kind != STATIC:
            whole = expression("ops.floor(A / B)", A=left.node, B=right.node)
            if isinstance(sign, ast.FloorDiv):
                return Value(kind, whole)
            return Value(kind, expression("A - B * W", A=left.node, B=right.node, W=whole))
        if not isinstance(sign, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.FloorDiv, ast.Mod)):
            raise Refused("the operator %s is not understood" % type(sign).__name__, node)
        return Value(kind, ast.BinOp(left.node, sign, right.node))

    def _with_decay(self, sign, other, node):
        """``decay * step`` is 0; anything else is no decay of the learning rate."""
        if not isinstance(sign, ast.Mult) or other.kind not in (STATIC, SCALAR) or not hypers_in(other.node) <= {"step"}:
            raise Refused("decay, which Keras's base class has for the learning rate, is used for something else", node)
        return static(0.0)

    def _on_UnaryOp(self, node):
        if is_literal(node):
            return Value(STATIC, node)
        operand = self.value(node.operand)
        if isinstance(node.op, ast.Not) and self.truth_of(operand) is not None:
            return static(not self.truth_of(operand))
        operand = self.read(operand, node)
        if isinstance(node.op, ast.Not) and operand.kind != STATIC:
            return Value(operand.kind, expression("ops.logical_not(A)", A=truth(operand).node), "bool")
        return Value(operand.kind, ast.UnaryOp(node.op, operand.node))

    def _on_BoolOp(self, node):
        is_or = isinstance(node.op, ast.Or)
        first = self.value(node.values[0])
        if first.kind in (DICT, LIST) or first.kind == NOTHING:
            truth = bool(first.data) and first is not NONE
            return first if truth == is_or else self.value(node.values[-1])
        values = []
        for part in node.values:
            value = self.changing_nothing(lambda: self.value(part), part)
            known = self.truth_of(value)
            if known is None:
                values.append(self.read(value, part))
            elif known == is_or:
                if not values:
                    return value if value.kind in COMPUTED else static(known)
                values.append(static(known))
        if not values:
            return static(not is_or)
        if len(values) == 1:
            return values[0]
        kind = widest(*values)
        if kind == STATIC:
            return Value(STATIC, ast.BoolOp(node.op, [v.node for v in values]))
        if any(v.kind == STATIC for v in values):
            raise Refused("Python's and/or joins a flag and a step's value", node)
        joined = truth(values[0]).node
        for value in values[1:]:
            joined = expression("ops.%s(A, B)" % ("logical_or" if is_or else "logical_and"), A=joined, B=truth(value).node)
        return Value(kind, joined, "bool")

    def truth_of(self, value):
        """True or False where it is known without running, else None."""
        if value is NONE:
            return False
        if value.kind in (FUNCTION, MODULE, HANDLE, SELF, WRAPPED):
            return True
        if value.kind in (LIST, DICT) and not isinstance(value.data, tuple):
            return bool(value.data)
        if value.kind == STATIC and is_literal(value.node):
            return bool(literal(value.node))
        return None

    def _on_Compare(self, node):
        sides = [self.value(n) for n in [node.left] + node.comparators]
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)) and NONE in sides:
            other = sides[1] if sides[0] is NONE else sides[0]
            same = isinstance(node.ops[0], (ast.Is, ast.Eq))
            default = self.default_of(other)
            if other is NONE or other.kind != STATIC or is_literal(other.node):
                if default is None:
                    return static((other is NONE) == same)
            if default is not None and default[0] is not None:
                return static(not same)
            return Value(STATIC, ast.Compare(other.node, node.ops, [constant(None)]))
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            return self.membership(node, sides)
        if any(side.kind == NOTHING for side in sides):
            raise Refused("a dtype, device or operation is compared", node)
        values = [self.read(side, node) for side in sides]
        kind = widest(*values)
        if all(is_literal(v.node) for v in values) and not any(isinstance(o, (ast.Is, ast.IsNot)) for o in node.ops):
            return static(holds([literal(v.node) for v in values], node.ops))
        if kind != STATIC and len(values) > 2:
            raise Refused("a chained comparison of values of the step", node)
        return Value(kind, ast.Compare(values[0].node, node.ops, [v.node for v in values[1:]]), "bool")

    def membership(self, node, sides):
        """``x in y``."""
        if sides[1].kind == DICT and is_literal(node.left):
            return static((literal(node.left) in sides[1].data) == isinstance(node.ops[0], ast.In))
        if sides[1].kind in (DICT, LIST) and sides[1].data in ({}, []) and self.stays_empty(node.comparators[0]):
            return static(isinstance(node.ops[0], ast.NotIn))
        values = [side if side.kind == STATIC else None for side in sides]
        if None in values:
            raise Refused("this test of membership is not understood", node)
        return Value(STATIC, ast.Compare(values[0].node, node.ops, [values[1].node]))

    def _on_IfExp(self, node):
        test = self.value(node.test)
        truth = self.truth_of(test)
        if truth is not None:
            return self.value(node.body if truth else node.orelse)
        test = self.steering(self.read(test, node), node)
        first, second = [self.changing_nothing(lambda: self.value(part), part) for part in (node.body, node.orelse)]
        if first.same(second):
            return first
        first, second = self.read(first, node), self.read(second, node)
        if test.kind == STATIC:
            return Value(widest(first, second), ast.IfExp(test.node, first.node, second.node))
        kind = widest(test, first, second)
        return Value(kind, expression("ops.where(A, B, C)", A=test.node, B=first.node, C=second.node))

    def changing_nothing(self, action, node):
        """What `action` gives, on one side of a condition: an assignment there would not always happen."""
        before = dict(self.now)
        found = action()
        if self.now != before:
            raise Refused("an assignment inside a conditional operation", node)
        return found

    def _on_Lambda(self, node):
        return Value(FUNCTION, data=(node, self.frame))

    def _on_List(self, node):
        return Value(LIST, data=[self.value(element) for element in node.elts])

    _on_Tuple = _on_List

    def _on_Set(self, node):
        return self._on_List(node)

    def _on_Dict(self, node):
        entries = {}
        for key, element in zip(node.keys, node.values):
            entries[literal(key)] = self.value(element)
        return Value(DICT, data=entries)

    def _on_JoinedStr(self, node):
        return PLACE

    def _on_Starred(self, node):
        return self.value(node.value)

    def _on_ListComp(self, node):
        if len(node.generators) == 1 and not node.generators[0].ifs:
            rows = self.known_rows(node.generators[0].iter)
            if rows is not None:
                return Value(LIST, data=[self._with_bound(node.generators[0].target, row, node) for row in rows])
        self.frame = self.frame.inner()
        try:
            for generator in node.generators:
                self.bind_loop(generator.target, generator.iter)
            element = self.value(node.elt)
        finally:
            self.frame = self.frame.outer
        return self.list_of(element, node)

    _on_GeneratorExp = _on_ListComp

    def known_rows(self, iterated):
        """What a loop over a list, or a zip of lists, that are written out runs through; None for any other."""
        if isinstance(iterated, ast.Call) and dotted(iterated.func) == "zip":
            columns = [self.known_rows(part) for part in iterated.args]
            if None in columns:
                return None
            return [Value(LIST, data=list(row)) for row in zip(*columns)]
        if not isinstance(iterated, (ast.Name, ast.List, ast.Tuple)):
            return None
        found = self.value(iterated)
        known = found.kind == LIST and isinstance(found.data, list)
        known = known and all(v.kind in COMPUTED or v.kind == HANDLE for v in found.data)
        if not known or isinstance(iterated, ast.Name) and len(found.data) == 1:
            return None
        return [self.read(v, iterated) for v in found.data]

    def _with_bound(self, target, row, node):
        self.frame = self.frame.inner()
        try:
            self.bind(target, row, node)
            return self.value(node.elt)
        finally:
            self.frame = self.frame.outer

    def list_of(self, element, node):
        """The list that a comprehension over the variables makes."""
        if element.kind == NOTHING:
            return EFFECT
        return Value(LIST, data=[element])


BUILTINS = ("float", "int", "bool", "len", "pow", "abs", "max", "min", "range", "str", "print")
