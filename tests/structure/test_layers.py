"""Imports go down the declared layers, without cycles; what the core and the version knowledge may contain."""

import ast
import re

import pytest
from sources import MODULES, PACKAGE, files, imports, module_name, relative, tree

#: DESIGN.md, "Layers": a module imports from its own package and from layers above its own, no others.
LAYERS = [
    ["errors", "_version"],
    ["spec", "env"],
    ["codemod", "ops", "rules", "transforms"],
    ["schedules"],
    ["adapters"],
    ["state", "bridge", "export"],
    ["testing"],
    ["cli", "optimizers", "__init__"],
    ["__main__"],
]
LEVEL = {name: number for number, layer in enumerate(LAYERS) for name in layer}

#: Modules that know a framework. All others reach it through these, or inside a function.
FRAMEWORK_FILES = re.compile(
    r"ops/\w+_executor\.py"  # one framework's arrays
    r"|adapters/(optimizer_v2|keras2|keras3)/\w+\.py"
    r"|adapters/tensorflow_\w+\.py"
    r"|bridge/(held|hosts)/\w+\.py"  # what an API needs of a framework
    r"|adapters/quirks\.py"
    r"|adapters/analysis\.py"  # NumPy: values with which a rule is tried out before it is compiled
    r"|testing/.*"
)
FRAMEWORKS = ("tensorflow", "keras", "tf_keras", "jax", "torch", "numpy", "sklearn")

#: Where versions are compared: detection, dated quirk records, and the matrix, whose subject they are.
VERSION_FILES = re.compile(r"env/\w+\.py|(.*/)?quirks\.py|testing/matrix/.*")


def part_of(module):
    """The entry of LAYERS to which a module belongs."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def own_imports(path, **how):
    # ``import compat_opt`` alone is no step up: every import of a module in it makes it.
    return sorted(name for name in imports(path, **how) if name.startswith("compat_opt."))


@pytest.mark.parametrize("path", files(), ids=relative)
def test_imports_go_down(path):
    own = part_of(module_name(path))
    assert own in LEVEL, "%s is in no layer: DESIGN.md and this table say which" % own
    for name in own_imports(path):
        other = part_of(name)
        assert other in LEVEL, "%s imports %s, which is no module" % (relative(path), name)
        assert other == own or LEVEL[other] < LEVEL[own], "%s (%s) imports %s (%s)" % (relative(path), own, name, other)


def test_no_cycles():
    graph = {name: own_imports(path, at_module_level=True) for name, path in MODULES.items()}
    done, trail = set(), []

    def visit(name):
        assert name not in trail, "a cycle: %s" % " -> ".join(trail[trail.index(name) :] + [name])
        if name in done:
            return
        trail.append(name)
        for other in graph.get(name, ()):
            if other != name:
                visit(other)
        done.add(trail.pop())

    for name in sorted(graph):
        visit(name)


@pytest.mark.parametrize("path", files(), ids=relative)
def test_the_core_imports_no_framework(path):
    if FRAMEWORK_FILES.fullmatch(relative(path)):
        return
    found = [name for name in imports(path, at_module_level=True) if name.split(".")[0] in FRAMEWORKS]
    assert not found, "%s imports %s when it is imported" % (relative(path), ", ".join(found))


def version_comparisons(path):
    """Lines with a comparison that looks at a version."""
    return [node.lineno for node in ast.walk(tree(path)) if isinstance(node, ast.Compare) and _on_version(node)]


def _on_version(comparison):
    for node in ast.walk(comparison):
        name = getattr(node, "id", getattr(node, "attr", None))
        if name in ("__version__", "version_info", "Version", "LooseVersion", "parse_version", "VERSION"):
            return True
    named = " ".join(getattr(n, "id", getattr(n, "attr", "")) for n in ast.walk(comparison))
    if "version" not in named and "release" not in named:
        return False
    for operand in [comparison.left] + comparison.comparators:
        numbers = operand.elts if isinstance(operand, ast.Tuple) else []
        if len(numbers) > 1 and all(isinstance(getattr(n, "n", None), int) for n in numbers):
            return True
    return False


@pytest.mark.parametrize("path", files(), ids=relative)
def test_versions_are_compared_in_few_places(path):
    if not VERSION_FILES.fullmatch(relative(path)):
        assert not version_comparisons(path)


def test_the_search_for_version_comparisons_finds_them():
    found = {relative(path) for path in files() if version_comparisons(path)}
    assert "env/detect.py" in found


def test_generations_have_the_same_file_names():
    folders = sorted(path.parent for path in (PACKAGE / "adapters").glob("*/adapter.py"))
    assert [folder.name for folder in folders] == ["keras2", "keras3", "optimizer_v2"]
    for folder in folders:
        assert {"__init__.py", "adapter.py", "layout.py", "quirks.py"} <= {path.name for path in folder.iterdir()}
