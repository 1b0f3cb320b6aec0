"""Each file: its length, its syntax, its documentation, and words that must not stand in it."""

import ast
import inspect
import sys

import pytest
from sources import TESTS, files, relative, tree

import compat_opt
from compat_opt import errors

EVERY = [(relative(path), path) for path in files()] + [
    ("tests/" + path.relative_to(TESTS).as_posix(), path) for path in files(TESTS)
]
SOURCES = [(relative(path), path) for path in files()]
LONGEST = 400

FORBIDDEN = ["/" + "work/", "/" + "root/", "/" + "tmp/", "." * 2 + "/shared", "pypi" + ".org", "pythonhosted" + ".org"]


def by_path(pairs):
    return pytest.mark.parametrize("path", [path for _, path in pairs], ids=[name for name, _ in pairs])


@by_path(SOURCES)
def test_can_be_read_at_one_go(path):
    with open(str(path), encoding="utf-8") as stream:
        assert len(stream.readlines()) <= LONGEST


@by_path(EVERY)
def test_python_3_7_reads_it(path):
    version = {} if sys.version_info < (3, 8) else {"feature_version": (3, 7)}
    ast.parse(path.read_text(encoding="utf-8"), str(path), **version)


@by_path(SOURCES)
def test_public_things_are_documented(path):
    missing = []
    module = tree(path)
    if not ast.get_docstring(module):
        missing.append("the module")

    def look(body, owner):
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                rule_method = relative(path).startswith(("rules/", "schedules/", "transforms/")) and isinstance(node, ast.FunctionDef)
                override = owner and node.name in _DOCUMENTED_ONCE
                known = owner and (rule_method or override) or _is_documented_elsewhere(node)
                if not ast.get_docstring(node) and not known:
                    missing.append(owner + node.name)
                if isinstance(node, ast.ClassDef):
                    look(node.body, node.name + ".")

    look(module.body, "")
    assert not missing, "without docstring: %s" % ", ".join(missing)


def _is_documented_elsewhere(node):
    """Setters (by their getters), pytest's hooks, and patterns of fused kernels (by `Kernel.pattern`)."""
    if isinstance(node, ast.ClassDef):
        return False
    setter = any(isinstance(d, ast.Attribute) and d.attr == "setter" for d in node.decorator_list)
    pattern = [argument.arg for argument in node.args.args] == ["ops", "grad", "var", "slots", "s"]
    return setter or pattern or node.name.startswith("pytest_")


def _methods_of(names):
    found = set()
    for module, base in names:
        for node in ast.walk(tree([p for n, p in SOURCES if n == module][0])):
            if isinstance(node, ast.ClassDef) and node.name == base:
                found.update(n.name for n in node.body if isinstance(n, ast.FunctionDef) and ast.get_docstring(n))
    return found


#: Methods that override one whose docstring says it all: executors, lowerings, layouts, pytest's hooks.
_DOCUMENTED_ONCE = _methods_of(
    [
        ("ops/executor.py", "Executor"),
        ("adapters/update.py", "Lowering"),
        ("adapters/tensorflow_layout.py", "TensorFlowLayout"),
        ("spec/rule.py", "UpdateRule"),
    ]
)


@by_path(EVERY)
def test_no_words_of_one_machine(path):
    text = path.read_text(encoding="utf-8")
    assert not [word for word in FORBIDDEN if word in text]


def test_every_public_name_is_documented():
    for name in compat_opt.__all__:
        if name not in ("__version__", "optimizers"):
            assert inspect.getdoc(getattr(compat_opt, name)), name


def test_every_exception_has_the_form():
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and issubclass(kind, Exception):
            assert issubclass(kind, errors.CompatOptError), name
            parts = ["problem", "expected", "received", "remedy", "environment"]
            assert list(inspect.signature(kind).parameters) == parts
            error = kind(*parts)
            assert [getattr(error, part) for part in parts] == parts


def raised_classes():
    for path in files():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                yield relative(path), node.lineno, getattr(node.exc.func, "id", getattr(node.exc.func, "attr", None))


def test_what_is_raised_is_ours_or_pythons_protocol():
    """Others: AttributeError of __getattr__, what imports raise, NotImplementedError of base classes, asserts of the laws, pytest's."""
    ours = {name for name, kind in vars(errors).items() if inspect.isclass(kind)}
    protocol = {"AttributeError", "ImportError", "ModuleNotFoundError", "RunFirst", "KeyError", "AssertionError", "LawBroken", "UsageError", "TypeError"}
    for where, line, name in raised_classes():
        if not where.startswith(("testing/", "codemod/", "cli/")):
            assert name in ours | protocol | {"NotImplementedError"}, "%s:%d raises %s" % (where, line, name)
