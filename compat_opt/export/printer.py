"""Statements as formatted source: long expressions are broken as black breaks them, comments stay."""

import ast

from compat_opt.export.refusal import refuse

WIDTH = 100

_BINARY = {
    ast.Pow: ("**", 14), ast.Mult: ("*", 12), ast.Div: ("/", 12), ast.FloorDiv: ("//", 12), ast.Mod: ("%", 12),
    ast.MatMult: ("@", 12), ast.Add: ("+", 11), ast.Sub: ("-", 11), ast.BitAnd: ("&", 9), ast.BitOr: ("|", 7),
}  # fmt: skip
_UNARY = {ast.USub: ("-", 13), ast.UAdd: ("+", 13), ast.Invert: ("~", 13), ast.Not: ("not ", 5)}
_COMPARE = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_CONSTANTS = tuple(getattr(ast, name) for name in ("Num", "Str", "NameConstant", "Constant") if name in vars(ast))


class Brackets:
    """A bracketed list that may be broken over lines: opening, items (pieces), closing."""

    def __init__(self, opening, items, closing, trailing_comma=True, together=False):
        self.opening, self.items, self.closing = opening, items, closing
        self.trailing_comma = trailing_comma
        self.together = together  # whether all items may stand on one line between the brackets: those of calls


def flat(pieces):
    """Pieces (strings and `Brackets`) as one line."""
    text = ""
    for piece in pieces:
        if isinstance(piece, Brackets):
            inside = ", ".join(flat(item) for item in piece.items)
            single = piece.opening == "(" and piece.closing == ",)"
            text += piece.opening + inside + (piece.closing if single or piece.closing != ",)" else ")")
        else:
            text += piece
    return text


def constant(node):
    """``(True, value)`` of a literal, else ``(False, None)``; the same on Python 3.7."""
    if isinstance(node, _CONSTANTS):
        for field in ("value", "n", "s"):
            if field in node._fields:
                return True, getattr(node, field)
    return False, None


def literal(value):
    """A Python value as source; strings in double quotes, exponents without padding."""
    if isinstance(value, str):
        text = repr(value)
        if text[0] == "'" and '"' not in text:
            text = '"' + text[1:-1].replace("\\'", "'") + '"'
        return text
    if isinstance(value, float):
        if value in (float("inf"), float("-inf")):
            return 'float("%s")' % value
        return repr(value).replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
    if isinstance(value, tuple):
        return "(%s)" % (", ".join(map(literal, value)) + ("," if len(value) == 1 else ""))
    return repr(value)


def pieces(node, level=0):
    """An expression as strings and `Brackets`; in parentheses where it binds less than `level`."""
    inner, own = _pieces(node)
    return [Brackets("(", [inner], ")", trailing_comma=False)] if own < level else inner


def text_of(node):
    """An expression on one line."""
    return flat(pieces(node))


def _comma(nodes):
    return [pieces(node) for node in nodes]


def _pieces(node):
    known, value = constant(node)
    if known:
        return [literal(value)], 15 if not isinstance(value, (int, float)) or value >= 0 else 13
    method = globals().get("_of_" + type(node).__name__.lower())
    if method is None:
        refuse(node, "the export has no form for this expression (%s)" % type(node).__name__)
    return method(node)


def _of_name(node):
    return [node.id], 16


def _of_attribute(node):
    return pieces(node.value, 16) + ["." + node.attr], 16


def _of_subscript(node):
    key = node.slice
    if type(key).__name__ == "Index":
        key = key.value
    if type(key).__name__ == "ExtSlice":
        inside = [piece for k, part in enumerate(key.dims) for piece in ([", "] if k else []) + _slice(part)]
    elif isinstance(key, ast.Tuple):
        inside = [piece for k, part in enumerate(key.elts) for piece in ([", "] if k else []) + _slice(part)]
    else:
        inside = _slice(key)
    return pieces(node.value, 16) + ["["] + inside + ["]"], 16


def _slice(key):
    if type(key).__name__ == "Index":
        return _slice(key.value)
    if not isinstance(key, ast.Slice):
        return pieces(key)
    simple = all(p is None or isinstance(p, (ast.Name, ast.UnaryOp)) or constant(p)[0] for p in (key.lower, key.upper))
    colon = ":" if simple else " : "
    found = (pieces(key.lower) if key.lower else []) + [colon if key.lower else colon.lstrip()]
    found += pieces(key.upper) if key.upper else []
    return found + ([":"] + pieces(key.step) if key.step else [])


def _of_call(node):
    arguments = _comma(node.args)
    for keyword in node.keywords:
        start = [keyword.arg + "="] if keyword.arg else ["**"]
        arguments.append(start + pieces(keyword.value))
    if len(node.args) == 1 and not node.keywords and isinstance(node.args[0], ast.GeneratorExp):
        return pieces(node.func, 16) + arguments[0], 16
    return pieces(node.func, 16) + [Brackets("(", arguments, ")", together=True)], 16


def _of_starred(node):
    return ["*"] + pieces(node.value, 7), 16


def _of_binop(node):
    symbol, level = _BINARY[type(node.op)]
    if isinstance(node.op, ast.Pow):
        left, right = pieces(node.left, level + 1), pieces(node.right, level - 1)
    else:
        # (a * b) @ c keeps its parentheses: few know that the two operators bind alike.
        mixed = isinstance(node.left, ast.BinOp) and "@" in (symbol, _BINARY[type(node.left.op)][0])
        differs = mixed and type(node.left.op) is not type(node.op)
        left, right = pieces(node.left, level + 1 if differs else level), pieces(node.right, level + 1)
    close = isinstance(node.op, ast.Pow) and _is_simple(node.left) and _is_simple(node.right)
    return left + [symbol if close else " %s " % symbol] + right, level


def _is_simple(node):
    """Whether black puts no spaces between this operand and ``**``: names, their attributes, numbers, and -x of them."""
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        return _is_simple(node.operand)
    while isinstance(node, ast.Attribute):
        node = node.value
    known, value = constant(node)
    return isinstance(node, ast.Name) or known and isinstance(value, (int, float)) and not isinstance(value, bool)


def _of_unaryop(node):
    symbol, level = _UNARY[type(node.op)]
    return [symbol] + pieces(node.operand, level), level


def _of_compare(node):
    found = pieces(node.left, 7)
    for operator, right in zip(node.ops, node.comparators):
        found += [" %s " % _COMPARE[type(operator)]] + pieces(right, 7)
    return found, 6


def _of_boolop(node):
    word, level = (" and ", 4) if isinstance(node.op, ast.And) else (" or ", 3)
    found = []
    for value in node.values:
        found += ([word] if found else []) + pieces(value, level + 1)
    return found, level


def _of_ifexp(node):
    return pieces(node.body, 3) + [" if "] + pieces(node.test, 3) + [" else "] + pieces(node.orelse, 2), 2


def _of_tuple(node):
    closing = ",)" if len(node.elts) == 1 else ")"
    return [Brackets("(", _comma(node.elts), closing)], 16


def _of_list(node):
    return [Brackets("[", _comma(node.elts), "]")], 16


def _of_dict(node):
    items = [pieces(key) + [": "] + pieces(value) for key, value in zip(node.keys, node.values)]
    return [Brackets("{", items, "}")], 16


def _of_lambda(node):
    names = ", ".join(argument.arg for argument in node.args.args)
    return ["lambda" + (" " + names if names else "") + ": "] + pieces(node.body), 1


def _for(generators):
    found = []
    for generator in generators:
        found += [" for "] + _target(generator.target) + [" in "] + pieces(generator.iter, 3)
        for condition in generator.ifs:
            found += [" if "] + pieces(condition, 3)
    return found


def _of_listcomp(node):
    return [Brackets("[", [pieces(node.elt) + _for(node.generators)], "]", trailing_comma=False)], 16


def _of_generatorexp(node):
    return [Brackets("(", [pieces(node.elt) + _for(node.generators)], ")", trailing_comma=False)], 16


def _of_dictcomp(node):
    inside = pieces(node.key) + [": "] + pieces(node.value) + _for(node.generators)
    return [Brackets("{", [inside], "}", trailing_comma=False)], 16


def _target(node):
    if isinstance(node, ast.Tuple):
        return [", ".join(flat(_target(each)) for each in node.elts)]
    return pieces(node)


def broken(start, found, indent, behind=0):
    """Lines of ``start + found``, broken at brackets or before operators where one line is too long.

    Args:
        start: what stands before the expression, such as ``x = ``; "" inside brackets.
        found: the expression's pieces.
        indent: spaces before the first line.
        behind: characters that will be put behind the last line.
    """
    line = " " * indent + start + flat(found)
    if len(line) + behind <= WIDTH:
        return [line]
    candidates = []
    if not _breaks(found):
        candidates.append(_at_last_bracket(start, found, indent))
    if start:
        inside = broken("", found, indent + 4)
        candidates.append([" " * indent + start + "("] + inside + [" " * indent + ")"])
    elif _breaks(found):
        candidates.append(_at_operators(found, indent))
    candidates.append(_at_last_bracket(start, found, indent))
    candidates = [lines for lines in candidates if lines]
    fitting = [lines for lines in candidates if max(map(len, lines)) <= WIDTH]
    return (fitting or candidates or [[line]])[0]


#: Operators before which a line may be broken, the weakest first.
_BREAKABLE = ([" for "], [" if ", " else "], [" or "], [" and "], [" + ", " - "], [" * ", " / ", " @ ", " // "])


def _breaks(found):
    """The operators at which these pieces are broken, or None."""
    for group in _BREAKABLE:
        if any(piece in group for piece in found if isinstance(piece, str)):
            return group
    return None


def _at_last_bracket(start, found, indent):
    """Broken inside its last bracket that has items, or None."""
    places = [k for k, piece in enumerate(found) if isinstance(piece, Brackets) and piece.items]
    if not places:
        return None
    k = places[-1]
    head, brackets, tail = start + flat(found[:k]), found[k], flat(found[k + 1 :])
    lines = [" " * indent + head + brackets.opening]
    inside = " " * (indent + 4) + ", ".join(flat(item) for item in brackets.items)
    if len(inside) <= WIDTH and (brackets.together or brackets.opening == "(" and not brackets.trailing_comma):
        lines.append(inside)
    else:
        alone = len(brackets.items) == 1 and len(brackets.items[0]) == 1 and isinstance(brackets.items[0][0], Brackets)
        comma = "," if brackets.trailing_comma and not (alone and brackets.opening == "(") else ""
        for item in brackets.items:
            lines += broken("", item, indent + 4, behind=len(comma))
            lines[-1] += comma
    return lines + [" " * indent + brackets.closing.lstrip(",") + tail]


def _at_operators(found, indent):
    """A chain of operands inside brackets, each on its own line behind its operator."""
    group, parts = _breaks(found), [[]]
    for piece in found:
        if isinstance(piece, str) and piece in group:
            parts.append([piece.lstrip()])
        else:
            parts[-1].append(piece)
    lines = []
    for part in parts:
        lines += broken("", part, indent) if not isinstance(part[0], str) or len(part) == 1 else (
            broken(part[0], part[1:], indent)
        )
    return lines


def statements(body, indent):
    """Lines of a list of statements, with the comments that were attached to them."""
    lines = []
    for node in body:
        for comment in getattr(node, "comments_before", ()):
            lines.append(" " * indent + comment if comment else "")
        method = globals().get("_print_" + type(node).__name__.lower())
        if method is None:
            refuse(node, "the export has no form for this statement (%s)" % type(node).__name__)
        own = method(node, indent)
        after = getattr(node, "comment_after", None)
        if after and len(own) == 1 and len(own[0]) + 2 + len(after) <= WIDTH:
            own[0] += "  " + after
        elif after:
            own.insert(0, " " * indent + after)
        lines += own
    return lines


def _print_assign(node, indent):
    start = "".join(flat(_target(target)) + " = " for target in node.targets)
    value = node.value
    if isinstance(value, ast.Tuple) and len(value.elts) > 1:
        line = " " * indent + start + ", ".join(text_of(each) for each in value.elts)
        if len(line) <= WIDTH:
            return [line]
    return broken(start, pieces(value), indent)


def _print_augassign(node, indent):
    return broken("%s %s= " % (text_of(node.target), _BINARY[type(node.op)][0]), pieces(node.value), indent)


def _print_expr(node, indent):
    known, value = constant(node.value)
    if known and isinstance(value, str):
        return docstring(value, indent)
    return broken("", pieces(node.value), indent)


def docstring(value, indent):
    """Lines of a docstring, whose own indentation has been taken off."""
    lines = value.strip().splitlines()
    if len(lines) == 1:
        return [" " * indent + '"""%s"""' % lines[0]]
    found = [" " * indent + '"""' + lines[0]] + [(" " * indent + line).rstrip() for line in lines[1:]]
    return found + [" " * indent + '"""']


def _print_return(node, indent):
    if node.value is None:
        return [" " * indent + "return"]
    if isinstance(node.value, ast.Tuple) and len(node.value.elts) > 1:
        line = " " * indent + "return " + ", ".join(text_of(each) for each in node.value.elts)
        if len(line) <= WIDTH:
            return [line]
    return broken("return ", pieces(node.value), indent)


def _print_pass(node, indent):
    return [" " * indent + "pass"]


def _print_if(node, indent, word="if"):
    lines = _head(word + " ", pieces(node.test), indent) + statements(node.body, indent + 4)
    if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        return lines + _print_if(node.orelse[0], indent, "elif")
    if node.orelse:
        lines += [" " * indent + "else:"] + statements(node.orelse, indent + 4)
    return lines


def _head(start, found, indent):
    lines = broken(start, found, indent, behind=1)
    lines[-1] += ":"
    return lines


def _print_for(node, indent):
    if node.orelse:
        refuse(node, "the export has no form for for/else")
    start = "for %s in " % flat(_target(node.target))
    return _head(start, pieces(node.iter), indent) + statements(node.body, indent + 4)


def _print_functiondef(node, indent):
    signature = "def %s(%s):" % (node.name, ", ".join(argument.arg for argument in node.args.args))
    return [" " * indent + signature] + statements(node.body, indent + 4)
