"""A whole file: its optimizer classes become rules, and the fixers go over the rest."""

import ast
import collections
import re
import textwrap

from compat_opt.codemod.fixers import fix
from compat_opt.codemod.migrate import NOTES, REFUSED, migrate_class, optimizer_classes
from compat_opt.codemod.model import ENGINE_ARGUMENTS
from compat_opt.codemod.module import Module
from compat_opt.codemod.syntax import dotted, inside_f_strings
from compat_opt.codemod.tokens import Edit, Source, edited

#: text: the new source; classes: [ClassResult]; fixes: [Fix].
Migration = collections.namedtuple("Migration", "text classes fixes")

_NAMES = ("Hyper", "Shared", "Slot", "UpdateRule", "checks", "compile_rule")


def migrate_text(text, only=None, path=None):
    """Migrate the source of one file.

    Args:
        text: the source.
        only: the name of the one class to be migrated; then nothing else is changed.
        path: where it lies, so that functions of its package's other files are found.

    Returns:
        A `Migration`. Its text is `text` itself where nothing was to be done.

    Raises:
        SyntaxError: `text` is no Python.
    """
    mark, newline = text[: text.startswith("\ufeff")], _newline(text)
    whole, text = text, text[len(mark) :].replace(newline, "\n")
    module = Module(text, path)
    results = [migrate_class(module, name) for name in optimizer_classes(module) if only in (None, name)]
    results = [_with_calls_noted(module, result) for result in _without_bases_of_others(module, results)]
    converted = [result for result in results if result.text]
    new = _with_rules(module, converted) if converted else text
    refused = [result.name for result in results if result.outcome == REFUSED]
    fixes = []
    if only is None:
        new, fixes = fix(new, refused)
    compile(new, "<migrated>", "exec")
    return Migration(mark + new.replace("\n", newline) if new != text else whole, results, fixes)


def _newline(text):
    """How the lines of a file end; a file that mixes its ends keeps them as they are."""
    return "\r\n" if text.count("\r\n") == text.count("\n") > 0 else "\n"


def _without_bases_of_others(module, results):
    """Refuse a class that another class of the file derives from, where that one stays as it is."""
    while True:
        converted = {result.name for result in results if result.text}
        needed = {}
        for name, found in module.classes.items():
            if name not in converted:
                needed.update((dotted(base), name) for base in found.bases if dotted(base) in converted)
        if not needed:
            return results
        for place, result in enumerate(results):
            if result.name in needed:
                reason = "%s derives from it, and is not migrated" % needed[result.name]
                line = module.classes[needed[result.name]].node.lineno
                results[place] = result._replace(outcome=REFUSED, reason=reason, line=line, text=None, notes=[])


def _with_rules(module, converted):
    source = Source(module.text)
    inside = {inner for result in converted for inner in ast.walk(module.classes[result.name].node)}
    inside |= inside_f_strings(module.tree)
    whole = {result.name for result in converted if result.beneath is None}
    uses = [n for n in ast.walk(module.tree) if isinstance(n, ast.Name) and n not in inside and n.id in whole]
    # A rule is no optimizer: where the file speaks of one, it means the class compiled from the rule.
    edits = [source.replace(source.index(use), source.index(use) + 1, use.id + "Optimizer") for use in uses]
    made, written = {use.id for use in uses}, []
    for result in converted:
        if result.beneath is None:
            for call, _ in _calls_of(module, inside, {result.name}):
                edits += _renamed_arguments(source, call, result)
    for result in converted:
        node = module.classes[result.name].node
        text = result.text.rstrip("\n")
        if result.name in made:
            text += "\n\n\n%sOptimizer = compile_rule(%s)" % (result.name, result.name)
        text = textwrap.indent(text, source.indentation(node), lambda line: bool(line.strip()))
        first = min([node.lineno] + [decorator.lineno for decorator in node.decorator_list])
        last = source.end_of_block(node)
        edits.append(Edit((first, 0), (last, len(source.lines[last - 1].rstrip("\r\n"))), text))
        written.append(text)
    for result in converted:
        for call, statement in _calls_of(module, inside, {result.name}):
            words = _call_note(module, call, result)
            if words:
                above = (statement.lineno, 0)
                edits.append(Edit(above, above, "%s# NOTE: %s\n" % (source.indentation(statement), words)))
    text = _with_import(edited(source, edits), "\n".join(written))
    return _without_unused_imports(text, module)


def _with_calls_noted(module, result):
    """A rule, with notes on the calls of its old class that a person has to look at."""
    if not result.text:
        return result
    inside = set(ast.walk(module.classes[result.name].node)) | inside_f_strings(module.tree)
    calls = _calls_of(module, inside, {result.name})
    found = [(call.lineno, _call_note(module, call, result)) for call, _ in calls]
    notes = sorted(result.notes + [note for note in found if note[1]])
    if not notes:
        return result
    return result._replace(outcome=NOTES, notes=notes, reason="; ".join("line %d: %s" % note for note in notes))


def _call_note(module, call, result):
    """What a person has to know about a call of the old class; "" where it goes on as it is."""
    if result.beneath is not None:
        return "%s is a rule over another now: this has to make its optimizer by compile_rule" % result.name
    new = [hyper["old"] for hyper in result.hypers]
    constructor = module.method_table(result.name).get("__init__")
    old = [a.arg for a in constructor[0].args.args[1:]] if constructor is not None else new
    same = next((place for place, pair in enumerate(zip(old, new)) if pair[0] != pair[1]), min(len(old), len(new)))
    passed = [keyword.arg for keyword in call.keywords]
    unknown = [name for name in passed if name is not None and name in old and name not in new + list(ENGINE_ARGUMENTS)]
    if unknown:
        return "the rule has no %s" % " and no ".join(unknown)
    if None in passed or any(isinstance(argument, ast.Starred) for argument in call.args):
        return "see whether the arguments are those of the rule"
    return "the rule's arguments have another order" if len(call.args) > same else ""


def _renamed_arguments(source, call, result):
    """Edits of the keyword arguments of a call that have another name in the rule."""
    for hyper in result.hypers:
        found = source.keyword(call, hyper["old"]) if hyper["old"] not in (hyper["new"], "lr") else None
        if found:
            yield source.replace(found[0], found[0] + 1, hyper["new"])


def _calls_of(module, inside, names):
    """``[(call, statement)]`` of the calls of some classes that are not among the nodes `inside`."""
    found = {}
    for statement in ast.walk(module.tree):  # from the outside in: the innermost statement counts
        if isinstance(statement, ast.stmt) and statement not in inside:
            for call in ast.walk(statement):
                if isinstance(call, ast.Call) and call not in inside and dotted(call.func) in names:
                    found[call] = statement
    return list(found.items())


def _with_import(text, written):
    """`text` with an import of what `written`, the rules, use, after the file's other imports."""
    names = [name for name in _NAMES if re.search(r"\b%s\b" % name, written)]
    line = "from compat_opt import %s\n" % ", ".join(names)
    tree, source = ast.parse(text), Source(text)
    after = 0
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            after = _last_line(source, node)
        elif isinstance(node, ast.ClassDef):
            break
    if not after and ast.get_docstring(tree) is not None:
        after = _last_line(source, tree.body[0])
        line = "\n" + line
    lines = source.lines
    gap = "\n\n" if not after and not line.startswith("\n") else ""
    return "".join(lines[:after]) + line + gap + "".join(lines[after:])


def _last_line(source, node):
    start = next(i for i, t in enumerate(source.tokens) if t.start[0] >= node.lineno)
    return next(t.end[0] for t in source.tokens[start:] if t.type == 4)  # NEWLINE


def _without_unused_imports(text, before):
    """Take out imports that only the migrated classes used."""
    tree, source = ast.parse(text), Source(text)
    used = _names_used(tree)
    used_before = _names_used(before.tree)
    edits = []
    for node in tree.body:
        if not isinstance(node, (ast.Import, ast.ImportFrom)) or getattr(node, "module", "") == "compat_opt":
            continue
        kept = [a for a in node.names if _bound(a) in used or _bound(a) not in used_before or a.name == "*"]
        if len(kept) == len(node.names):
            continue
        last = _last_line(source, node)
        if not kept:
            edits.append(Edit((node.lineno, 0), (last + 1, 0) if last < len(source.lines) else (last, len(source.lines[-1])), ""))
            continue
        names = ", ".join(a.name + (" as " + a.asname if a.asname else "") for a in kept)
        start = "import " if isinstance(node, ast.Import) else "from %s%s import " % ("." * node.level, node.module or "")
        edits.append(Edit((node.lineno, 0), (last, len(source.lines[last - 1].rstrip("\r\n"))), start + names))
    return edited(source, edits)


def _bound(alias):
    return alias.asname or alias.name.split(".")[0]


def _names_from_outside(node):
    """Names in a node, less those that are arguments of the functions around them."""
    if isinstance(node, ast.Name):
        return {node.id}
    body = node.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
    inside = set().union(*[_names_from_outside(child) for child in body])
    if body:
        inside -= {argument.arg for argument in node.args.args + node.args.kwonlyargs}
    return inside.union(*[_names_from_outside(child) for child in ast.iter_child_nodes(node) if child not in body])


def _names_used(tree):
    names = _names_from_outside(tree)
    for node in ast.walk(tree):  # __all__ and other lists of names
        if isinstance(node, ast.Assign) and any(dotted(t) == "__all__" for t in node.targets):
            names |= {str(getattr(n, "value", getattr(n, "s", ""))) for n in ast.walk(node.value)}
    return names
