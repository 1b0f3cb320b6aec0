"""What exported files are: readable Python without this package, whose names are all defined."""

import ast
import re
import builtins

import pytest

from compat_opt import rules
from compat_opt.errors import ArgumentError
from compat_opt.export import export_rule, generations


@pytest.fixture(scope="module")
def sources():
    """{(rule, generation): source} of every shipped rule."""
    return {(n, g): export_rule(getattr(rules, n), g) for n in rules.names() for g in generations()}


def test_there_are_three_apis():
    assert generations() == ["keras2", "keras3", "optimizer_v2"]


def test_every_rule_becomes_one_class(sources):
    for (name, generation), source in sources.items():
        classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
        assert [node.name for node in classes] == [name], generation
        assert ast.get_docstring(classes[0]).startswith(rules.__dict__.get(name, getattr(rules, name)).__doc__[:20])
        methods = {node.name for node in classes[0].body if isinstance(node, ast.FunctionDef)}
        hooks = {"optimizer_v2": {"_create_slots", "_resource_apply_dense", "_resource_apply_sparse"}}
        assert hooks.get(generation, {"update_step"}) | {"__init__", "get_config"} <= methods


def test_lines_are_short_and_the_package_is_not_imported(sources):
    allowed = {"keras": {"keras", "math"}, "tf": {"tensorflow", "tf_keras", "math"}}
    for (name, generation), source in sources.items():
        long = [line for line in source.splitlines() if len(line) > 100 or line != line.rstrip()]
        assert not long, "%s, %s: %s" % (name, generation, long)
        imported = set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                imported.update(alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module.split(".")[0])
        assert imported <= allowed["keras" if generation == "keras3" else "tf"]


def test_every_name_is_defined_and_every_private_function_used(sources):
    for (name, generation), source in sources.items():
        module = ast.parse(source)
        top = {node.name for node in module.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        stored, loaded = set(top), set()
        for node in ast.walk(module):
            if isinstance(node, ast.Name):
                (loaded if isinstance(node.ctx, ast.Load) else stored).add(node.id)
            elif isinstance(node, ast.arg):
                stored.add(node.arg)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                stored.update(alias.asname or alias.name for alias in node.names)
        undefined = {n for n in loaded - stored if not hasattr(builtins, n)}
        assert not undefined, "%s, %s: %s" % (name, generation, undefined)
        unused = top - loaded - {name}
        assert not unused, "%s, %s: %s" % (name, generation, unused)
        for function in [n for n in ast.walk(module) if isinstance(n, ast.FunctionDef)]:
            named = [n for n in ast.walk(function) if isinstance(n, ast.Name)]
            idle = {n.id for n in named if isinstance(n.ctx, ast.Store)} - {n.id for n in named if isinstance(n.ctx, ast.Load)}
            assert not idle - {"_"}, "%s, %s: %s" % (name, generation, idle)
        own = [n for n in ast.walk(module) if isinstance(n, ast.ClassDef)][0]
        methods = {n.name for n in own.body if isinstance(n, ast.FunctionDef)}
        called = {n.attr for n in ast.walk(own) if isinstance(n, ast.Attribute) and getattr(n.value, "id", "") == "self"}
        invented = {m for m in methods if m.startswith("_") and m not in HOOKS}
        assert invented <= called, "%s, %s: %s" % (name, generation, invented - called)


#: Methods that base classes call.
HOOKS = {
    "__init__", "_create_slots", "_prepare_local", "_resource_apply_dense", "_resource_apply_sparse",
    "_distributed_apply", "_internal_apply_gradients", "_backend_update_step", "_apply_weight_decay",
}  # fmt: skip


def test_an_unknown_target_is_named():
    with pytest.raises(ArgumentError, match="Did you mean 'keras3'"):
        export_rule(rules.Lion, "keras_3")


def test_a_fixed_flag_leaves_out_what_it_rules_out():
    plain = export_rule(rules.SGD, "keras3")
    nesterov = export_rule(rules.SGD, "keras3", {"nesterov": True, "momentum": 0.9})
    assert "if self.nesterov" in plain and "nesterov=False," in plain
    assert "self.nesterov" not in nesterov and "nesterov=False" not in nesterov
    assert "momentum=0.9," in nesterov
    assert "var + velocity" not in nesterov.partition("def __init__")[2]
    amsgrad = export_rule(rules.Adam, "optimizer_v2", {"amsgrad": False})
    assert "velocity_hat" not in amsgrad.partition("def __init__")[2]


def test_the_hash_of_random_numbers_stands_in_the_file(sources):
    for generation in generations():
        assert sources["SGLD", generation].count("def _hash(") == 1
        assert "def _hash(" not in sources["Lion", generation]


def test_the_form_is_that_of_black(sources):
    """As far as it can be said without black: powers of names and numbers, blank lines, no comma behind one dict."""
    for (name, generation), text in sources.items():
        code = text.partition("def __init__")[2]
        assert not re.search(r"[\w.]+ \*\* [\w.]+(?![\w.(\[])", re.sub('"""[^"]*"""', "", code)), (name, generation)
        assert "\n\n\n    " not in text and "            },\n        )\n        return config" not in text, (name, generation)


def test_the_newer_apis_find_the_class_again_when_a_model_is_loaded(sources):
    assert '@keras.saving.register_keras_serializable(package="exported")\nclass Lion(' in sources["Lion", "keras3"]
    assert '@keras.utils.register_keras_serializable(package="exported")\nclass Lion(' in sources["Lion", "keras2"]


def test_slots_that_every_variable_has_are_made_in_a_line(sources):
    """Slots by shape or with a first value take a method that says which."""
    for generation in generations():
        assert "_slots_for" not in sources["Lion", generation]
        assert "_slots_for" not in sources["Adam", generation]
        assert '        if self.amsgrad:\n            names.append("velocity_hat")' in sources["Adam", generation]
        assert "_slots_for" in sources["Adafactor", generation] and "_slots_for" in sources["Adagrad", generation]
