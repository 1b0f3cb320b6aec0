"""The package's source files and what they import, read by syntax tree; nothing is imported."""

import ast
import pathlib

PACKAGE = pathlib.Path(__import__("compat_opt").__file__).resolve().parent
TESTS = pathlib.Path(__file__).resolve().parent.parent


def files(folder=PACKAGE):
    """Every Python file below a folder, sorted."""
    return sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


def relative(path):
    """``adapters/core.py``."""
    return path.relative_to(PACKAGE).as_posix()


def module_name(path):
    """``compat_opt.adapters.core`` for that file; a package for its __init__.py."""
    parts = ("compat_opt",) + path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def tree(path):
    """The file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


MODULES = {module_name(path): path for path in files()}


def imports(path, at_module_level=False):
    """Names of the modules that a file imports; ``from a import b`` is a.b where that is a module of ours."""
    found = set()
    for node in _statements(tree(path), at_module_level):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "%s: relative import" % path
            for alias in node.names:
                inner = "%s.%s" % (node.module, alias.name)
                found.add(inner if inner in MODULES or node.module == "compat_opt" else node.module)
    return found


def _statements(node, at_module_level):
    for child in ast.iter_child_nodes(node):
        yield child
        if at_module_level and isinstance(child, (ast.FunctionDef, ast.Lambda)):
            continue
        for inner in _statements(child, at_module_level):
            yield inner
