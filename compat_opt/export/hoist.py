"""Scalar expressions of an update that are computed once per step, before they are rounded to the variable's dtype.

``1 - beta`` has few digits left when beta has been rounded to float32 first.
"""

import ast
import copy

from compat_opt.export.printer import constant

_WORDS = {ast.Add: "plus", ast.Sub: "minus", ast.Mult: "times", ast.Div: "over", ast.Pow: "to_the"}
_NUMBERS = {0: "zero", 1: "one", 2: "two", 3: "three"}
LONGEST = 40


def name_for(node, function, translation):
    """The key of a scalar expression worth computing apart, or None; it is noted in ``translation.hoists``."""
    if not isinstance(node, ast.BinOp) or "hyper" not in function.roles.values():
        return None
    aliases = _aliases(function, translation)
    resolved = _resolve(node, function, translation, aliases)
    if resolved is None or not _loses_digits(resolved) or not _has_tensor(resolved, function, translation):
        return None
    name = _words(resolved, function)
    for target, value in aliases.items():
        if value is not None and ast.dump(value) == ast.dump(resolved):
            name = target
    if len(name) > LONGEST:
        name = "factor_%d" % (len(translation.hoists) + 1)
    base, number = name, 2
    while name in translation.hoists and ast.dump(translation.hoists[name][0]) != ast.dump(resolved):
        name, number = "%s_%d" % (base, number), number + 1
    translation.hoists.setdefault(name, (resolved, function))
    return name


def _aliases(function, translation):
    """{local name: scalar expression} of names that are bound once in a function."""
    if not hasattr(function, "aliases"):
        counts, values = {}, {}
        for node in ast.walk(function.node):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                counts[node.id] = counts.get(node.id, 0) + 1
        for node in ast.walk(function.node):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                target = node.targets[0]
                if isinstance(target, ast.Name):
                    values[target.id] = node.value
                elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    values.update((t.id, v) for t, v in zip(target.elts, node.value.elts) if isinstance(t, ast.Name))
        function.aliases = {}
        for name, value in values.items():
            if counts[name] == 1 and name not in function.roles:
                function.aliases[name] = _resolve(value, function, translation, function.aliases)
    return function.aliases


def _resolve(node, function, translation, aliases):
    """The expression in terms of hyper.<name>, self.<name> and numbers; None if it has anything else."""
    known, value = constant(node)
    if known:
        return node if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    if isinstance(node, ast.Name):
        return copy.deepcopy(aliases.get(node.id))
    if isinstance(node, ast.Attribute):
        role = function.role(node.value)
        named = role == "hyper" or role == "self" and node.attr in translation.static
        return node if named else None
    if isinstance(node, ast.BinOp) and type(node.op) in _WORDS:
        parts = [_resolve(n, function, translation, aliases) for n in (node.left, node.right)]
        return None if None in parts else ast.copy_location(ast.BinOp(parts[0], node.op, parts[1]), node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        part = _resolve(node.operand, function, translation, aliases)
        return None if part is None else ast.copy_location(ast.UnaryOp(node.op, part), node)
    if isinstance(node, ast.Call) and translation.operation(node, function) == "sqrt":
        part = _resolve(node.args[0], function, translation, aliases)
        return None if part is None else ast.copy_location(ast.Call(node.func, [part], []), node)
    return None


def _loses_digits(node):
    return any(isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Sub, ast.Pow)) for n in ast.walk(node))


def _has_tensor(node, function, translation):
    return any(
        isinstance(n, ast.Attribute)
        and function.role(n.value) == "hyper"
        and not translation.is_number(n.attr)
        and n.attr != "weight_decay"
        for n in ast.walk(node)
    )


def _words(node, function):
    known, value = constant(node)
    if known:
        return _NUMBERS.get(value, str(value).replace(".", "_").replace("-", "minus_"))
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.BinOp):
        return "%s_%s_%s" % (_words(node.left, function), _WORDS[type(node.op)], _words(node.right, function))
    if isinstance(node, ast.UnaryOp):
        return "minus_" + _words(node.operand, function)
    return "root_of_" + _words(node.args[0], function)
