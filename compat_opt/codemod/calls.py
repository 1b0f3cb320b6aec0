"""Calls of functions of TensorFlow, Keras, NumPy and Python inside the old class."""

import ast

from compat_opt.codemod import functions
from compat_opt.codemod.evaluate import BUILTINS, ELSEWHERE, Evaluator
from compat_opt.codemod.syntax import dotted, expression, is_literal, literal, write
from compat_opt.codemod.values import (
    COMPUTED, DECAY, EFFECT, FUNCTION, HANDLE, LIST, MODULE, NONE, NOTHING, PLACE, ROWS, ROW_NUMBERS, SCALAR, SHAPE,
    STATIC, SUPER, TENSOR, UNKNOWN, WRAPPED, Refused, Value, static, truth, widest,
)  # fmt: skip


class Calls(Evaluator):
    """Evaluates calls; those of the class itself are followed by a subclass."""

    def _on_Call(self, node):
        name = dotted(node.func)
        if name == "super" and "super" not in self.frame.env:
            return Value(SUPER, data=self.frame.class_name)
        if name == "isinstance":
            return static(self.is_instance(node))
        if name == "getattr" and len(node.args) >= 2 and is_literal(node.args[1]):
            owner = self.value(node.args[0])
            if owner.kind == HANDLE and literal(node.args[1]) in ELSEWHERE:
                return NONE
            return self.attribute(owner, literal(node.args[1]), node)
        if name == "hasattr":
            return self.has_attribute(node)
        if name == "dict" and "dict" not in self.frame.env:
            return self._call_dict(node)
        if name == "sum" and name not in self.frame.env:
            return self.sum_of(node)
        if name in ("list", "tuple", "zip", "set", "sorted") and name not in self.frame.env:
            values = [self.value(a) for a in node.args]
            if len(values) == 1 and name in ("list", "tuple") and values[0].kind == STATIC and not is_literal(values[0].node):
                return Value(STATIC, expression("tuple(A)", A=values[0].node))
            return values[0] if len(values) == 1 and name != "zip" else Value(LIST, data=[])
        if name == "callable":
            self.value(node.args[0])
            return static(False)
        function = self.value(node.func)
        if function.kind == MODULE:
            return self.framework_call(function.data, node)
        if function.kind == FUNCTION:
            return self.call(function, node)
        if function.kind == NOTHING:
            for argument in node.args:
                self.value(argument)
            return function
        if function.kind == SUPER:
            return function
        if function.kind in (UNKNOWN, SCALAR):
            raise Refused(function.data or "a hyperparameter is called", node)
        raise Refused("this call is not understood: %s" % (name or type(node.func).__name__), node)

    def sum_of(self, node):
        """Python's sum of a list that is written out."""
        found = self.value(node.args[0])
        if found.kind != LIST or not isinstance(found.data, list):
            raise Refused("sum of something other than a list that is written out", node)
        starts = list(node.args[1:]) + [k.value for k in node.keywords]
        values = [self.computed(part) for part in starts] + [self.read(v, node) for v in found.data]
        total = values[0]
        for value in values[1:]:
            total = self.binary(ast.Add(), total, value, node)
        return total

    def is_instance(self, node):
        """isinstance(x, IndexedSlices) says which hook is asked for; schedules are resolved before the rule runs."""
        text = write(node.args[1])
        value = self.value(node.args[0])
        if value.kind == WRAPPED:
            return text != "str"
        if "IndexedSlices" in text:
            return bool(self.sparse)
        if "Schedule" in text or "Dict" in text or "dict" in text:
            return False
        if value.kind in COMPUTED and ("Variable" in text or "Tensor" in text):
            return False
        raise Refused("isinstance of %s is not understood" % text, node)

    def framework_call(self, full_name, node):
        """A call of a function of TensorFlow, Keras, NumPy or Python."""
        last = full_name.split(".")[-1]
        special = getattr(self, "_call_" + last, None)
        if special is not None:
            return special(node)
        if full_name in BUILTINS:
            return self.built_in(full_name, node)
        if not self.module.is_framework(full_name):
            raise Refused("the function %s comes from a module that is not known" % last, node)
        kernel = self.kernel(last, node)
        if kernel is not None:
            return kernel
        if functions.passes_through(last):
            self.check_cast(last, node)
            first = self.value(node.args[0] if node.args else node.keywords[0].value)
            if first.kind in COMPUTED and first.kind != STATIC and first.data == "bool" and last == "cast":
                return Value(first.kind, expression("ops.where(A, 1.0, 0.0)", A=first.node))
            if first.kind == ROWS and first.data == "slices":
                return Value(TENSOR, expression("ops.where(touched, A, 0.0)", A=first.node))
            return self.read(first, node) if first.kind in (HANDLE, TENSOR) else first
        if last in functions.NUMBERS and not node.args:
            return Value(STATIC, functions.NUMBERS[last])
        if last in ("cond", "switch", "where"):
            return self._choose(node)
        arguments = [self.computed(a) for a in node.args]
        keywords = {k.arg: self.computed(k.value) for k in node.keywords if k.arg not in functions.NEUTRAL}
        values = arguments + list(keywords.values())
        kind = widest(*values)
        if DECAY in values and kind == TENSOR:
            raise Refused("decay, which Keras's base class has for the learning rate, is used for something else", node)
        if functions.reduces(last):
            if kind == ROWS:
                raise Refused("a sum over the rows of a sparse gradient", node)
        if kind == STATIC and full_name.split(".")[0] == "math":
            kind = STATIC
        built = functions.lower(last, [v.node for v in arguments], {k: v.node for k, v in keywords.items()})
        if kind == STATIC:  # an operation on plain numbers
            kind = SCALAR
        return Value(kind, built, "bool" if isinstance(built, ast.Compare) or _is_logical(built) else None)

    def check_cast(self, name, node):
        """Refuse a cast that changes a value: only steps are whole numbers for certain."""
        dtypes = node.args[1:2] + [k.value for k in node.keywords if k.arg == "dtype"]
        text = " ".join(write(dtype) for dtype in dtypes)
        if "int" in text or "bool" in text:
            value = self.value(node.args[0] if node.args else node.keywords[0].value)
            if "bool" in text or not self.is_whole(value):
                raise Refused("a cast to whole numbers or bools", node)

    def is_whole(self, value):
        """Whether a value is a whole number for certain: of steps, or one that is whole by default."""
        if value.kind not in COMPUTED:
            return False
        if value.kind == STATIC and is_literal(value.node):
            return type(literal(value.node)) is int
        default = self.default_of(value)
        return value.text() in ("hyper.step", "hyper.step - 1") or default is not None and type(default[0]) is int

    def _made_whole(self, name, value):
        """int(x), which rounds towards zero, or bool(x)."""
        if value.kind == STATIC:
            return Value(STATIC, ast.Call(ast.Name(name, ast.Load()), [value.node], []))
        if name == "bool":
            return truth(value)
        return Value(value.kind, expression("ops.sign(A) * ops.floor(ops.abs(A))", A=value.node))

    def has_attribute(self, node):
        """hasattr(self, name): known where the constructor sets it, or where Keras' build asks whether it has run."""
        name = literal(node.args[1]) if len(node.args) == 2 and is_literal(node.args[1]) else None
        if name in ("_built", "built"):
            return static(False)
        if dotted(node.args[0]) == "self" and name in self.model.attributes:
            return static(True)
        raise Refused("hasattr is not understood here", node)

    def _choose(self, node):
        named = {k.arg: k.value for k in node.keywords if k.arg not in functions.NEUTRAL}
        parts = functions.in_order("where", list(node.args), named)
        if len(parts) != 3:
            raise Refused("a choice without two values", node)
        test = self.computed(parts[0])
        branches = []
        for part in parts[1:]:
            value = self.value(part)
            if value.kind == FUNCTION:
                called = ast.copy_location(ast.Call(part, [], []), part)
                value = self.changing_nothing(lambda: self.value(called), part)
            branches.append(self.read(value, part))
        kind = widest(test, *branches)
        built = expression("ops.where(A, B, C)", A=test.node, B=branches[0].node, C=branches[1].node)
        return Value(SCALAR if kind == STATIC else kind, built)

    def built_in(self, name, node):
        """A built-in function of Python."""
        arguments = [self.computed(a) for a in node.args]
        kind = widest(*arguments)
        nodes = [a.node for a in arguments]
        if name in ("float", "int", "bool") and len(nodes) == 1:
            if is_literal(nodes[0]):
                return static({"float": float, "int": int, "bool": bool}[name](literal(nodes[0])))
            unchanged = name == "float" or name == "int" and self.is_whole(arguments[0])
            return arguments[0] if unchanged else self._made_whole(name, arguments[0])
        if kind == STATIC:
            return Value(STATIC, ast.Call(ast.Name(name, ast.Load()), nodes, []))
        if name == "pow":
            return Value(kind, ast.BinOp(nodes[0], ast.Pow(), nodes[1]))
        if name == "abs":
            return Value(kind, expression("ops.abs(A)", A=nodes[0]))
        if name in ("max", "min") and len(nodes) == 2:
            return Value(kind, expression("ops.%simum(A, B)" % name, A=nodes[0], B=nodes[1]))
        raise Refused("%s of a value of the step is not understood" % name, node)

    def _call_sparse_adds(self, node):
        raise Refused("sparse tensors are not understood", node)

    def _call_executing_eagerly(self, node):
        return static(True)

    def _call_int_shape(self, node):
        return Value(SHAPE, data="shape")

    _call_shape = _call_get_variable_shape = _call_int_shape

    def _call_floatx(self, node):
        return PLACE

    _call_dtype = _call_standardize_dtype = _call_floatx

    def _call_rank(self, node):
        return Value(STATIC, expression("len(var.shape)"))

    _call_ndim = _call_rank

    def _call_group(self, node):
        for argument in node.args:
            self.value(argument)
        return EFFECT

    _call_no_op = _call_control_dependencies = _call_name_scope = _call_print = _call_debug = _call_info = _call_group

    def _call_gather(self, node):
        value = self.computed(node.args[0])
        chosen = node.args[1] if len(node.args) > 1 else {k.arg: k.value for k in node.keywords}.get("indices")
        if not self.sparse or chosen is None or self.value(chosen).kind != ROW_NUMBERS:
            raise Refused("tf.gather outside the rows of a sparse gradient", node)
        return Value(ROWS, value.node)

    def _call_IndexedSlices(self, node):
        found = self.computed(node.args[0] if node.args else node.keywords[0].value)
        return Value(found.kind, found.node, "slices")

    def _call_unsorted_segment_sum(self, node):
        """The sum of a gradient's rows by their numbers is the gradient, made dense."""
        parts = dict(zip(("data", "segment_ids"), node.args), **{k.arg: k.value for k in node.keywords})
        rows, numbers = [self.value(parts[name]) for name in ("data", "segment_ids")]
        if not self.sparse or rows.kind != ROWS or numbers.kind != ROW_NUMBERS:
            raise Refused("a sum of segments that are not the rows of a sparse gradient", node)
        return Value(TENSOR, expression("ops.where(touched, B, 0.0)", B=rows.node))

    def _call_squeeze(self, node):
        """squeeze(gather(expand_dims(x, 0), indices, axis=1), 0) is the rows of x."""
        found = self.value(node.args[0])
        if found.kind != ROWS:
            raise Refused("squeeze is not understood", node)
        return found

    def _call_expand_dims(self, node):
        if not self.sparse:
            raise Refused("expand_dims is not understood", node)
        return self.computed(node.args[0])

    def _call_unique(self, node):
        raise Refused("repeated rows are summed before the rule runs; this sums them itself", node)


def _is_logical(node):
    return isinstance(node, ast.Call) and node.func.attr in ("logical_and", "logical_or", "logical_not", "isnan", "isfinite")
