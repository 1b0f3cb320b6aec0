"""Writes the rule's class out of what was followed."""

import ast
import copy
import re
import textwrap

from compat_opt.codemod.program import Branch, Line, split_off_scalars, with_names_from_step, without_unused
from compat_opt.codemod.values import Refused
from compat_opt.codemod.syntax import expression, names_in, number, write

WIDTH = 100


def write_rule(model, executor):
    """The source text of the rule class that follows `executor`.

    Args:
        model: the `ClassModel`.
        executor: the `Executor` that has followed the dense hook.
    """
    used = hypers_read(model, executor)
    slots = {key: value for key, value in executor.now.items() if key not in ("var", "grad")}
    results = set()
    for value in executor.now.values():
        results |= names_in(value.node)
    kept = {name.strip("_"): value.node for name, value in model.shared_new.items()}
    for node in kept.values():
        results |= names_in(node)
    lines, _ = without_unused(executor.out, results)
    # A rule over another leaves prepare to that one: the names that it prepares are not known.
    step, variable, shared = ([], lines, set()) if model.beneath is not None else split_off_scalars(lines, results)
    renamed = _apart_from_hypers(model, shared)
    if renamed:
        parts = {old: ast.Name(new, ast.Load()) for old, new in renamed.items()}
        _rename(step + variable, parts, renamed)
        shared = {renamed.get(name, name) for name in shared}
        for value in executor.now.values():
            value.node = _replace(value.node, parts)
    with_names_from_step(variable, shared)
    parts = {name: expression("hyper." + name) for name in shared}
    for value in executor.now.values():
        value.node = _replace(value.node, parts)
    if any("shared" in line.reads() for line in variable) or any("shared" in names_in(v.node) for v in executor.now.values()):
        raise Refused("a variable of the optimizer is read where the old value is gone", model.node)
    if any(names_in(node) & set().union(*[line.writes() for line in variable] or [set()]) for node in kept.values()):
        raise Refused("a variable of the optimizer gets a value of one variable's update", model.node)
    methods = []
    if model.measure:
        methods.append(["def measure(self, grad, var, slots, hyper, ops):"] + ["    " + line for line in model.measure])
    if step or kept:
        methods.append(_prepare(step, _in_order(step, shared), kept))
    methods.append(model.hook_comments + _update(model, executor, variable, slots))
    body = _docstring(model)
    declarations = _declarations(model, used)
    text = "class %s(%s):\n" % (model.node.name, model.beneath.base if model.beneath is not None else "UpdateRule")
    if body:
        text += _indented(body) + "\n\n"
    notes = _comments_of(model, None)
    if notes:
        text += _indented("\n".join(notes)) + "\n\n"
    if declarations:
        text += _indented("\n".join(declarations)) + "\n\n"
    return text + "\n\n".join(_indented("\n".join(m)) for m in methods) + "\n"


def _replace(node, parts):
    class Replace(ast.NodeTransformer):
        def visit_Name(self, name):
            return parts.get(name.id, name)

    return Replace().visit(node)


def _in_order(step, shared):
    ordered = []
    for line in step:
        ordered += [name for name in sorted(line.writes()) if name in shared and name not in ordered]
    return ordered


def _apart_from_hypers(model, shared):
    """New names for step scalars that are called like a hyperparameter."""
    taken = {spec.name for spec in model.hypers.values()} | {"step", "weight_decay", "learning_rate"}
    return {name: name + "_t" for name in shared if name in taken}


def _rename(lines, parts, renamed):
    for line in lines:
        if isinstance(line, Branch):
            line.test = _replace(line.test, parts)
            _rename(line.body, parts, renamed)
            _rename(line.orelse, parts, renamed)
        else:
            line.name = renamed.get(line.name, line.name)
            if line.node is not None:
                line.node = _replace(line.node, parts)


# -- methods -----------------------------------------------------------------------------------


def _prepare(step, names, kept):
    step, inline = list(step), {}
    for name in names:  # a scalar that only the result reads stands in the result
        writers = [line for line in step if name in line.writes()]
        readers = [line for line in step if name in line.reads()] + [n for n in kept.values() if name in names_in(n)]
        if len(writers) == 1 and isinstance(writers[0], Line) and not readers and not writers[0].comments:
            later = step[step.index(writers[0]) + 1 :]
            if not any(line.writes() & writers[0].reads() for line in later):
                inline[name] = writers[0].node
                step.remove(writers[0])
    lines = ["def prepare(self, shared, hyper, ops):"]
    lines += body_lines(step, 1)
    entries = [(name, inline.get(name, ast.Name(name, ast.Load()))) for name in names]
    lines += _returned_dict("return ", list(kept.items()) + entries, 1)
    return lines


def _update(model, executor, lines, slots):
    lines = list(lines)
    new_var = executor.now["var"].node if "var" in executor.now else ast.Name("var", ast.Load())
    text = ["def update(self, grad, var, slots, hyper, ops):"]
    entries, comments = [], []
    for key, value in slots.items():
        if key not in model.conditional:
            entries.append((model.slot(key, None).name, value.node))
    order = {spec.name: i for i, spec in enumerate(model.slot_specs.values())}
    entries.sort(key=lambda entry: order[entry[0]])
    ends_in_line = bool(lines) and isinstance(lines[-1], Line) and not lines[-1].beneath
    if isinstance(new_var, ast.Name) and ends_in_line and lines[-1].name == new_var.id:
        used = any(new_var.id in names_in(node) for _, node in entries)
        others = any(new_var.id in line.reads() | line.writes() for line in lines[:-1])
        if not used and not others:
            last = lines.pop()
            new_var, comments = last.node, ["    " + comment for comment in last.comments]
    if model.beneath is not None:
        return text + _over_another(lines, entries, new_var, comments)
    if model.conditional:
        return text + _with_new_slots(lines, entries, new_var, comments)
    text += body_lines(lines, 1)
    return text + comments + _final(new_var, entries)


def _final(new_var, entries):
    pairs = "{%s}" % ", ".join('"%s": %s' % (name, write(node)) for name, node in entries)
    line = "    return %s, %s" % (write(new_var), pairs)
    if len(line) <= WIDTH - 4:
        return [line]
    if isinstance(new_var, (ast.Name, ast.Attribute)):
        return ["    return %s, {" % write(new_var)] + [
            '        "%s": %s,' % (name, write(node)) for name, node in entries
        ] + ["    }"]  # fmt: skip
    lines = _assignment("new_var = ", new_var, 1)
    return lines + _final(ast.Name("new_var", ast.Load()), entries)


def _with_new_slots(lines, entries, new_var, comments):
    first = next(i for i, line in enumerate(lines) if any(w.startswith("new_slots[") for w in line.writes()))
    bound = set()
    for line in lines[:first]:
        bound |= line.writes()
    later = set()
    for line in lines[first:]:
        later |= line.writes()
    early = [(n, node) for n, node in entries if not names_in(node) & later]
    late = [entry for entry in entries if entry not in early]
    out = body_lines(lines[:first], 1)
    out += _returned_dict("new_slots = ", early, 1)
    out += body_lines(lines[first:], 1)
    for name, node in late:
        out.append('    new_slots["%s"] = %s' % (name, write(node)))
    out += comments
    line = "    return %s, new_slots" % write(new_var)
    if len(line) > WIDTH - 4:
        return out + _assignment("new_var = ", new_var, 1) + ["    return new_var, new_slots"]
    return out + [line]


def _over_another(lines, entries, new_var, comments):
    """The lines around ``new_var, new_slots = super().update(...)``."""
    place = next(i for i, line in enumerate(lines) if isinstance(line, Line) and line.beneath)
    if any(w.startswith("new_slots[") for line in lines[:place] for w in line.writes()):
        raise Refused("a slot that does not always exist changes before the update beneath")
    if place == len(lines) - 1 and not entries and isinstance(new_var, ast.Name) and new_var.id == lines[place].name:
        last = lines[place]
        return body_lines(lines[:place], 1) + ["    " + c for c in last.comments] + ["    return " + write(last.node)]
    out = body_lines(lines, 1)
    out += ['    new_slots["%s"] = %s' % (name, write(node)) for name, node in entries]
    return out + comments + ["    return %s, new_slots" % write(new_var)]


def _returned_dict(start, entries, depth):
    pad = "    " * depth
    line = "%s%s{%s}" % (pad, start, ", ".join('"%s": %s' % (n, write(node)) for n, node in entries))
    if len(line) <= WIDTH - 4:
        return [line]
    return [pad + start + "{"] + ['%s    "%s": %s,' % (pad, n, write(node)) for n, node in entries] + [pad + "}"]


def body_lines(lines, depth):
    """The text of lines and branches, a list of lines."""
    pad, out = "    " * depth, []
    for line in lines:
        out += [pad + comment for comment in line.comments]
        if isinstance(line, Branch):
            out += _branch(line, depth)
        elif line.text is not None:
            out.append(pad + line.text)
        elif line.beneath:
            out += _assignment("%s, new_slots = " % line.name, line.node, depth)
        else:
            out += _assignment("%s = " % line.name, line.node, depth)
    return out


def _branch(line, depth):
    pad = "    " * depth
    if not line.body:
        line.test, line.body, line.orelse = ast.UnaryOp(ast.Not(), line.test), line.orelse, []
    out = ["%sif %s:" % (pad, write(line.test))] + body_lines(line.body, depth + 1)
    while len(line.orelse) == 1 and isinstance(line.orelse[0], Branch) and not line.orelse[0].comments:
        line = line.orelse[0]
        if not line.body:
            line.test, line.body, line.orelse = ast.UnaryOp(ast.Not(), line.test), line.orelse, []
        out += ["%selif %s:" % (pad, write(line.test))] + body_lines(line.body, depth + 1)
    if line.orelse:
        out += [pad + "else:"] + body_lines(line.orelse, depth + 1)
    return out


def _assignment(start, node, depth):
    return _wrapped("    " * depth, start, node, "")


def _wrapped(pad, start, node, end):
    """``start + node + end`` in lines of at most WIDTH."""
    text = pad + start + write(node) + end
    if len(text) <= WIDTH - 4:
        return [text]
    if isinstance(node, ast.Call) and len(node.args) + len(node.keywords) > 1:
        inner = []
        for argument in node.args:
            inner += _wrapped(pad + "    ", "", argument, ",")
        for keyword in node.keywords:
            inner += _wrapped(pad + "    ", keyword.arg + "=", keyword.value, ",")
        return [pad + start + write(node.func) + "("] + inner + [pad + ")" + end]
    parts = _chain(node)
    if len(parts) > 1:
        return [pad + start + "("] + [pad + "    " + part for part in parts] + [pad + ")" + end]
    return [text]


def _chain(node):
    """The operands of the loosest operator, each with the sign before it."""
    for signs in ((ast.Add, ast.Sub), (ast.Mult, ast.Div)):
        if isinstance(node, ast.BinOp) and isinstance(node.op, signs):
            whole = write(node)
            left = write(node.left)
            left = left if whole.startswith(left + " ") else "(%s)" % left
            rest = whole[len(left) :].strip()
            return (_chain(node.left) if isinstance(node.left, ast.BinOp) and isinstance(node.left.op, signs) else [left]) + [rest]
    return [write(node)]


# -- declarations ------------------------------------------------------------------------------


def _docstring(model):
    """The class's docstring, and its constructor's after it."""
    texts = []
    for node in (model.node, next((n for k, (n, o, m) in _functions(model) if k == "__init__" and o == model.name), None)):
        text = ast.get_docstring(node) if node is not None else None
        if text:
            texts.append(text)
    if not texts:
        return None
    text = "\n\n".join(texts)
    raw = "r" if "\\" in text else ""
    closing = "\n" if "\n" in text or text.endswith('"') else ""
    return '%s"""%s%s"""' % (raw, text.replace('"""', "'''"), closing)


def _functions(model):
    return [(k, e) for k, e in model.methods if isinstance(e, tuple)]


def hypers_read(model, executor):
    """Names of the hyperparameters that the rule's methods and slots read."""
    results = set()
    nodes = [value.node for value in executor.now.values()] + [v.node for v in model.shared_new.values()]
    for node in nodes:
        results |= names_in(node)
    lines, _ = without_unused(copy.deepcopy(executor.out), results)
    text = "\n".join(body_lines(lines, 0) + [write(node) for node in nodes])
    text += "\n".join(spec.condition or "" for spec in model.slot_specs.values())
    found = set(re.findall(r"\b(?:hyper|self)\.(\w+)", text))
    return found | {spec.init for spec in model.slot_specs.values()}


def _declarations(model, used):
    slots = list(model.slot_specs.values())
    lines = []
    for name, spec in model.hypers.items():
        if spec.name not in used and not (spec.name == "weight_decay" and model.engine_decay is not None):
            continue
        if spec.name == "weight_decay" and spec.default is None or spec.inherited:
            continue  # every rule has it, or the one beneath
        arguments = [_default(spec.default)]
        if spec.static:
            arguments.append("static=True")
        if spec.check:
            arguments.append("check=%s" % spec.check)
        text = "%s = Hyper(%s)" % (spec.name, ", ".join(arguments))
        lines += _comments_of(model, spec)
        lines.append(text)
    if model.beneath is None and "weight_decay" in model.hypers and model.hypers["weight_decay"].name != "weight_decay":
        lines.append("weight_decay = None  # the old one is %s: it acts inside the update" % model.hypers["weight_decay"].name)
    if slots:
        lines.append("")
    for name, first in model.shared.items():
        lines.append("%s = Shared(%s)" % (name, number(first)))
    for key, spec in model.slot_specs.items():
        arguments = [] if spec.init is None else [spec.init]
        if spec.shape:
            arguments.append("shape=" + spec.shape)
        if spec.condition:
            condition = re.sub(r"\b(hyper|self)\.", "rule.", spec.condition).replace("var.shape", "shape")
            arguments.append("when=lambda rule, shape: %s" % condition)
        text = "%s = Slot(%s)" % (spec.name, ", ".join(arguments))
        if spec.name != key:
            text += '  # "%s" in the old class' % key
        lines.append(text)
    return lines


def _comments_of(model, spec):
    """The notes about one declaration, or (None) about the class, as comments."""
    lines = []
    for _, text, about in sorted(model.notes, key=lambda note: note[0]):
        if about == (spec.name if spec is not None else None):
            lines += textwrap.wrap(text, WIDTH - 4, initial_indent="# NOTE: ", subsequent_indent="# ")
    return lines


def _default(value):
    return number(value) if not isinstance(value, str) else '"%s"' % value


def _indented(text):
    return textwrap.indent(text, "    ", lambda line: bool(line.strip()))
