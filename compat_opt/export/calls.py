"""ops.f(...) as a call of the target's namespace, an operator, or Python's own function where only numbers take part."""

import ast

from compat_opt.export.kinds import BOOL, NUMBER
from compat_opt.export.operations import IDENTITIES, ON_NUMBERS, OPERATORS, RANDOM
from compat_opt.export.printer import constant
from compat_opt.export.refusal import refuse

#: Keywords of the table's operations that the frameworks call otherwise, and so go by position.
_BY_POSITION = ("x", "x1", "x2", "condition", "shape", "axes", "value", "n", "arrays", "min", "max")
#: Defaults of the table that are not those of the frameworks.
_DEFAULTS = {"concat": ("axis", "0"), "expand_dims": ("axis", "0"), "tensordot": ("axes", "2")}
_CREATE = ("zeros", "ones", "eye", "full")


def _name(text):
    return ast.parse(text, mode="eval").body


class OperationCalls:
    """Translates calls of operations.

    Args:
        translation: the `Translation` they are a part of.
    """

    def __init__(self, translation):
        self.t = translation

    def translate(self, name, call, visitor):
        """The node for ``ops.<name>(...)`` in the function that `visitor` visits."""
        kinds = [visitor.kinds._one(argument) for argument in call.args]
        arguments = [visitor.visit(argument) for argument in call.args]
        keywords = []
        for keyword in call.keywords:
            value = visitor.visit(keyword.value)
            if keyword.arg in _BY_POSITION or name == "astype":
                arguments.append(value)
                kinds.append(visitor.kinds._one(keyword.value))
            else:
                keywords.append(ast.keyword(keyword.arg, value))
        if name in IDENTITIES:
            return arguments[0]
        if name in RANDOM:
            return self._random(name, call, arguments, keywords, visitor)
        if name in OPERATORS and len(arguments) == 2:
            operator = OPERATORS[name]()
            if isinstance(operator, ast.cmpop):
                return ast.Compare(arguments[0], [operator], [arguments[1]])
            return ast.BinOp(arguments[0], operator, arguments[1])
        if name == "negative":
            return ast.UnaryOp(ast.USub(), arguments[0])
        if all(kind == NUMBER for kind in kinds) and name not in _CREATE:
            return self._on_numbers(name, call, arguments)
        special = getattr(self, "_" + name, None)
        if special is not None:
            return special(call, arguments, kinds, visitor)
        if name in _CREATE and not any(keyword.arg == "dtype" for keyword in keywords):
            keywords.append(ast.keyword("dtype", self.dtype(call, visitor)))
        if name in _DEFAULTS and len(arguments) < 2 and not keywords:
            keywords.append(ast.keyword(_DEFAULTS[name][0], _name(_DEFAULTS[name][1])))
        return ast.Call(self.function(name, call), arguments, keywords)

    def function(self, name, call):
        """The function of the dialect, or the private helper that stands in for it."""
        dialect = self.t.dialect
        if name in dialect.functions:
            return _name("%s.%s" % (dialect.prefix, dialect.functions[name]))
        if name in dialect.helpers:
            self.t.helpers.append(name)
            return ast.Name("_" + name)
        refuse(call, "ops.%s has no counterpart in %s" % (name, {"tf": "TensorFlow", "ops": "keras.ops"}[dialect.prefix]))

    def dtype(self, call, visitor):
        """What the compute dtype is called in a function."""
        function = visitor.function
        if function.name == "update":
            return ast.Name("dtype")
        if function.name == "prepare":
            return _name("tf.float64" if self.t.dialect.prefix == "tf" else "_scalar_dtype()")
        for argument in function.node.args.args:
            if function.roles.get(argument.arg) is None and function.parameter_kinds.get(argument.arg) == "tensor":
                return _name("%s.dtype" % argument.arg)
        refuse(call, "a helper makes a tensor of numbers only, whose dtype can't be told")

    def constant(self, node, call, visitor):
        """A Python number as a tensor of the compute dtype."""
        make = "tf.constant" if self.t.dialect.prefix == "tf" else "ops.convert_to_tensor"
        return ast.Call(_name(make), [node, self.dtype(call, visitor)], [])

    def _on_numbers(self, name, call, arguments):
        if name in ("square", "abs_square"):
            return ast.BinOp(arguments[0], ast.Pow(), _name("2"))
        if name == "where":
            return ast.IfExp(arguments[0], arguments[1], arguments[2])
        if name == "reciprocal":
            return ast.BinOp(_name("1"), ast.Div(), arguments[0])
        if name == "clip":
            low = ast.Call(ast.Name("max"), [arguments[0], arguments[1]], [])
            return ast.Call(ast.Name("min"), [low, arguments[2]], [])
        if name not in ON_NUMBERS:
            refuse(call, "ops.%s of numbers alone has no counterpart in Python" % name)
        if ON_NUMBERS[name].startswith("math."):
            self.t.modules.add("math")
        return ast.Call(_name(ON_NUMBERS[name]), arguments, [])

    def _where(self, call, arguments, kinds, visitor):
        condition, first, second = arguments
        if kinds[0] == NUMBER:
            return ast.IfExp(condition, first, second)
        if kinds[0] != BOOL:
            condition = ast.Call(self.function("astype", call), [condition, _name('"bool"')], [])
        both = kinds[1] == kinds[2] == NUMBER
        if both or self.t.dialect.prefix == "tf":
            first = self.constant(first, call, visitor) if kinds[1] == NUMBER else first
            second = self.constant(second, call, visitor) if kinds[2] == NUMBER else second
        return ast.Call(self.function("where", call), [condition, first, second], [])

    def _larger_or_smaller(self, name, call, arguments, kinds):
        # TensorFlow takes the dtype of the first argument.
        if kinds[0] == NUMBER and self.t.dialect.prefix == "tf":
            arguments = arguments[::-1]
        return ast.Call(self.function(name, call), arguments, [])

    def _maximum(self, call, arguments, kinds, visitor):
        return self._larger_or_smaller("maximum", call, arguments, kinds)

    def _minimum(self, call, arguments, kinds, visitor):
        return self._larger_or_smaller("minimum", call, arguments, kinds)

    def _clip(self, call, arguments, kinds, visitor):
        x, low, high = arguments + [_name("None")] * (3 - len(arguments))
        if constant(low) == (True, None):
            return ast.Call(self.function("minimum", call), [x, high], [])
        if constant(high) == (True, None):
            return ast.Call(self.function("maximum", call), [x, low], [])
        return ast.Call(self.function("clip", call), [x, low, high], [])

    def _random(self, name, call, arguments, keywords, visitor):
        if visitor.function.name != "update":
            refuse(call, "it draws random numbers outside of update()")
        seeds = [keyword.value for keyword in keywords if keyword.arg == "seed"] + arguments[1:]
        seed = seeds[0] if seeds else _name("0")
        step = visitor.read("step")
        key = [seed] + ([] if name == "random_normal" else [_name("0")]) + [step, ast.Name("index")]
        self.t.helpers += [name, "size"]
        self.t.modules.add("math")
        drawn = ast.Call(ast.Name("_" + name), [arguments[0]] + key, [])
        return ast.Call(self.function("astype", call), [drawn, ast.Name("dtype")], [])
