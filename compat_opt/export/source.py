"""The source of a rule: its methods along the MRO, the functions and constants they use, their comments."""

import ast
import inspect
import io
import tokenize

from compat_opt.export.printer import constant
from compat_opt.errors import ExportError
from compat_opt.export.refusal import refuse

#: Modules that an exported file may import, too.
KNOWN_MODULES = ("math",)


class SourceFile:
    """One parsed module.

    Attributes:
        path: where it lies.
        tree: its syntax tree; statements carry the comments before and behind them.
        globals: the module's namespace.
    """

    #: Kept, with the namespace and so with the module's id, because functions are told apart by their nodes.
    _read = {}

    def __init__(self, path, namespace):
        self.path = path
        self.globals = namespace
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        self.tree = ast.parse(text, path)
        for node in ast.walk(self.tree):
            node.source_file = path
        _attach_comments(self.tree, text)

    @classmethod
    def of(cls, owner):
        """The file in which a class or function is defined."""
        try:
            path = inspect.getsourcefile(owner)
            module = inspect.getmodule(owner)
        except TypeError:
            path = module = None
        if path is None or module is None:
            raise ExportError(
                "This rule can't be exported: the source of %s can't be read." % owner.__qualname__,
                "a class in a Python file",
                "module=%s" % owner.__module__,
            )
        key = (path, id(vars(module)))
        if key not in cls._read:
            cls._read[key] = cls(path, vars(module))
        return cls._read[key]

    def class_node(self, owner):
        """The definition of a class at the module's top level."""
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef) and node.name == owner.__qualname__:
                return node
        raise ExportError(
            "This rule can't be exported: %s is made at run time, by a function." % owner.__qualname__,
            "a class at the top level of its file",
            "module=%s" % owner.__module__,
            "Transformed rules have no source of their own: export the rule and write the rest by hand.",
        )

    def function_node(self, name):
        """The definition of a function at the module's top level, or None."""
        found = [n for n in self.tree.body if isinstance(n, ast.FunctionDef) and n.name == name]
        return found[-1] if found else None


def _attach_comments(tree, text):
    """Give each statement `comments_before` (lines) and `comment_after`."""
    alone, behind = {}, {}
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            own = not lines[row - 1][:column].strip()
            (alone if own else behind)[row] = token.string
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            before, row = [], node.lineno - 1
            while row in alone:
                before.insert(0, alone[row])
                row -= 1
            node.comments_before = before
            if not isinstance(node, (ast.If, ast.For, ast.FunctionDef, ast.ClassDef)):
                last = max(getattr(each, "lineno", node.lineno) for each in ast.walk(node))
                inside = [behind[r] for r in range(node.lineno, last + 1) if r in behind]
                inside += [alone[r] for r in range(node.lineno + 1, last + 1) if r in alone]
                node.comments_before = before + (inside if len(inside) > 1 else [])
                node.comment_after = inside[0] if len(inside) == 1 else None
            elif node.lineno in behind:
                node.comments_before = before + [behind[node.lineno]]


class RuleSource:
    """What the export reads off a rule class.

    Args:
        rule: an `UpdateRule` subclass.
    """

    def __init__(self, rule):
        self.rule = rule

    def method(self, name, after=None):
        """``(FunctionDef, SourceFile, owner)`` of a method; `after` a class: the next one in the MRO."""
        mro = self.rule.__mro__
        for owner in mro[mro.index(after) + 1 if after else 0 :]:
            if name in vars(owner):
                if not inspect.isfunction(vars(owner)[name]):
                    refuse(None, "%s.%s is no plain method" % (owner.__name__, name))
                file = SourceFile.of(owner)
                for node in file.class_node(owner).body:
                    if isinstance(node, ast.FunctionDef) and node.name == name:
                        return node, file, owner
                break
        raise ExportError(
            "This rule can't be exported: the source of its %s() can't be found." % name,
            "a method in the class statement of %s or a base class" % self.rule.__name__,
        )

    def slot_argument(self, slot_name, argument):
        """``(lambda node, file, {free variable: value})`` of a Slot's `shape` or `when`."""
        function = getattr(self.rule.slots()[slot_name], argument)
        code = function.__code__
        file = SourceFile.of(function)
        closed = dict(zip(code.co_freevars, [cell.cell_contents for cell in function.__closure__ or ()]))
        if code.co_name != "<lambda>":
            node = file.function_node(code.co_name)
            if node is not None and len(node.body) == 1 and isinstance(node.body[0], ast.Return):
                return ast.copy_location(ast.Lambda(node.args, node.body[0].value), node), file, closed
            refuse(node, "the %s of its slot %s is more than one expression" % (argument, slot_name))
        found = []
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Call):
                found += [
                    keyword.value
                    for keyword in node.keywords
                    if keyword.arg == argument
                    and isinstance(keyword.value, ast.Lambda)
                    and keyword.value.lineno == code.co_firstlineno
                ]
        if len(found) != 1:
            refuse(found[0] if found else None, "the %s of its slot %s can't be found" % (argument, slot_name))
        return found[0], file, closed


def global_value(node, name, file):
    """What a global name of the rule's file is: ``(kind, value)``.

    Kinds: "function" (of the file or one it imports from), "constant", "module", "builtin".
    """
    if name not in file.globals:
        import builtins

        if hasattr(builtins, name):
            return "builtin", getattr(builtins, name)
        refuse(node, "it uses the name %s, which its file does not define" % name)
    value = file.globals[name]
    if inspect.isfunction(value):
        return "function", value
    if inspect.ismodule(value) and value.__name__ in KNOWN_MODULES:
        return "module", value
    if _is_plain(value):
        return "constant", value
    refuse(
        node,
        "it uses %s, a %s from outside of the rule" % (name, type(value).__name__),
        "Functions of the rule's file, numbers, strings and the module math can be exported.",
    )


def _is_plain(value):
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str))


def is_docstring(node):
    """Whether a statement is a bare string."""
    return isinstance(node, ast.Expr) and isinstance(constant(node.value)[1], str)
