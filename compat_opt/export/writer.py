"""What the exported classes of all three APIs have in common; each API's folder has a subclass of `Writer`."""

import ast
import copy
import inspect
import re
import textwrap

from compat_opt._version import __version__
from compat_opt.export.printer import broken, constant, docstring, literal, pieces, statements, text_of
from compat_opt.export.refusal import refuse
from compat_opt.export.slots import SlotSource, fix_settings
from compat_opt.export.translate import Translation, expression


class Writer:
    """Writes one rule as one class.

    Args:
        rule: an `UpdateRule` subclass.
        settings: {hyperparameter: value}; static ones are fixed in the source, others become defaults.

    Subclasses define `dialect`, `live(rule)`, `scalars`, and the sections that they put together in `source`.
    """

    dialect = None
    scalars = "scalars"

    def __init__(self, rule, settings):
        self.rule = rule
        self.given = dict(settings)
        self.instance = rule(**settings)
        self.fixed = {n: v for n, v in settings.items() if rule.hypers()[n].static}
        self.translation = Translation(rule, self.dialect, self.live(rule), self.scalars)
        self.functions = self.translation.functions
        self.shared = list(rule.shared())
        self.measures = rule.overrides("measure")
        self.per_step = bool(self.shared) or self.measures
        self.slots = SlotSource(self.translation, self.fixed, self.hyper_attribute)
        self._check_names()

    # What subclasses say

    def live(self, rule):
        """Hyperparameters that are tensors in this API."""
        raise NotImplementedError

    def hyper_attribute(self, name):
        """Source that reads a hyperparameter where slots are made."""
        return "self.%s" % name

    def source(self):
        """The whole file."""
        raise NotImplementedError

    def stores_value(self):
        """Source that stores ``x`` in the variable, where there are no slots."""
        raise NotImplementedError

    def stored(self, node, visitor):
        """(statements, call): what stores the pair that a return of update() gives."""
        made = []
        if isinstance(node.value, ast.Tuple) and len(node.value.elts) == 2:
            value, slots = [visitor.visit(each) for each in node.value.elts]
        else:
            made.append(ast.Assign([expression("(new_var, new_slots)")], visitor.visit(node.value)))
            value, slots = ast.Name("new_var"), ast.Name("new_slots")
        if self.slots.entries:
            return made, ast.Call(expression("self._assign"), [ast.Name("variable"), value, slots], [])
        return made, put(expression(self.stores_value()), "x", value)

    # Names

    def _check_names(self):
        returned = self.prepared_names()
        for name in returned:
            if name in self.rule.hypers():
                refuse(
                    self.functions.top["prepare"].node,
                    "its prepare() returns %s, which is a hyperparameter, too" % name,
                    "Give it a name of its own.",
                )

    def prepared_names(self):
        """Keys of the dict that prepare() returns."""
        if "prepare" not in self.functions.top:
            return []
        returned = self._prepared()
        names = []
        for key in returned.keys:
            known, value = constant(key)
            if not known:
                refuse(returned, "its prepare() returns names that are not written out")
            names.append(value)
        return names

    def _prepared(self):
        node = self.functions.top["prepare"].node
        returns = [n for n in ast.walk(node) if isinstance(n, ast.Return)]
        if len(returns) != 1 or node.body[-1] is not returns[0] or not isinstance(returns[0].value, ast.Dict):
            refuse(node, "its prepare() does not end with one return {...}", "Put the dict there, with its names.")
        return returns[0].value

    # Sections

    def hypers(self):
        """{name: default} of the constructor, without weight_decay and what is fixed."""
        return {
            name: getattr(self.instance, name)
            for name in self.rule.hypers()
            if name != "weight_decay" and name not in self.fixed
        }

    def class_docstring(self, extra):
        """The rule's docstring, with `extra` lines at the end of its arguments."""
        text = inspect.getdoc(self.rule) if "__doc__" in vars(self.rule) and self.rule.__doc__ else None
        text = text or "%s." % self.rule.__name__
        lines, found = _without_complex(text.splitlines()), []
        inside = False
        entry = "    "
        for line in lines:
            if inside and not line.strip():
                found += [entry + each for each in extra]
                inside = False
            if inside and line.startswith(entry) and line[4] != " ":
                dropped = line.strip().split(":")[0] in self.fixed
            elif not inside:
                dropped = False
            if inside and dropped:
                continue
            found.append(line)
            if line == "Args:":
                inside, dropped = True, False
        if inside:
            found += [entry + each for each in extra]
        if "Args:" not in lines:
            found += ["", "Args:"] + [entry + each for each in extra]
        return docstring("\n".join(found), 4)

    def signature(self, tail):
        """Lines of ``def __init__(...)``; `tail`: arguments behind the hyperparameters."""
        parts = ["self"] + ["%s=%s" % (name, literal(default)) for name, default in self.hypers().items()]
        return self._call_like("def __init__", parts + tail, 4, ":")

    def _call_like(self, start, parts, indent, end=""):
        line = " " * indent + "%s(%s)%s" % (start, ", ".join(parts), end)
        if len(line) <= 100:
            return [line]
        inner = [" " * (indent + 4) + part + "," for part in parts]
        return [" " * indent + start + "("] + inner + [" " * indent + ")" + end]

    def slots_for(self):
        """The method that says which slots a variable has."""
        lines = ["    def _slots_for(self, shape):", '        """Names and shapes of the slots of one variable."""']
        plain = []
        for name, shape, condition in self.slots.entries:
            if condition is not None:
                break
            plain.append((name, shape))
        dict_source = "{%s}" % ", ".join('"%s": %s' % pair for pair in plain)
        rest = self.slots.entries[len(plain) :]
        if not rest:
            return lines + broken("return ", pieces(expression(dict_source)), 8)
        lines += broken("slots = ", pieces(expression(dict_source)), 8)
        for name, shape, condition in rest:
            put = '            slots["%s"] = %s' % (name, shape)
            if condition is None:
                lines.append(put[4:])
                continue
            head = broken("if ", pieces(condition), 8)
            head[-1] += ":"
            lines += head + [put]
        return lines + ["        return slots"]

    def helper_methods(self):
        """Lines of the rule's helper methods, and FunctionDefs of its module functions."""
        methods, functions = self.translation.helper_definitions()
        lines = []
        for node in methods:
            node.body = fix_settings(node.body, self.fixed)
            lines += [""] + statements([node], 4)
        return lines, list(self.slots.functions.values()) + functions

    def module_functions(self, functions, extra=()):
        """Lines of the private functions behind the class."""
        lines, written = [], set()
        for name in ("random_normal", "random_uniform"):
            if name in self.translation.helpers:
                self.translation.helpers.append("size")
        texts = list(extra) + [self.dialect.helpers[name] for name in self.translation.helpers]
        for node in functions:
            if node.name not in written:
                written.add(node.name)
                lines += ["", ""] + statements([node], 0)
        for text in texts:
            if text not in written:
                written.add(text)
                lines += ["", ""] + text.rstrip("\n").splitlines()
        return lines

    def constants(self):
        """Lines of the module's constants that the rule uses."""
        return ["%s = %s" % (name, literal(value)) for name, value in self.translation.constants.items()]

    def provenance(self, api):
        """The module's docstring."""
        what = "compat_opt %s" % __version__
        settings = " with %s" % ", ".join("%s=%r" % item for item in self.given.items()) if self.given else ""
        text = "%s for %s, exported by %s from the rule %s%s." % (
            self.rule.__name__, api, what, self.rule.__qualname__, settings,
        )  # fmt: skip
        lines = textwrap.wrap(text, 94)
        if len(lines) == 1:
            return ['"""%s"""' % lines[0]]
        return ['"""' + lines[0]] + lines[1:] + ['"""']

    # Scalars of a step

    def needs_scalars(self):
        """Whether the update reads scalars that are computed once per step."""
        return bool(self.translation.keys["update"])

    def scalar_lines(self, read_input, context="update", indent=8):
        """Lines that compute a dict of scalars in wide precision, and the dict (source).

        Args:
            read_input: ``f(name) -> source`` of an input: a hyperparameter, step, a measured sum, a shared scalar.
            context: "update": with prepare(); "measure": without.
            indent: of the lines.
        """
        t = self.translation
        wanted = [name for name in t.keys[context]]
        body, entries, inputs = [], {}, []

        def read(name):
            if name not in inputs:
                inputs.append(name)
            return expression(self.input_name(name, context))

        if context == "update" and "prepare" in self.functions.top:
            function = self.functions.top["prepare"]
            body = t.body(function, read, lambda node, visitor: [ast.Pass()])[:-1]
            visitor = t.visitor(function, read)
            for key, value in zip(self.prepared_names(), self._prepared().values):
                entries[key] = visitor.visit(copy.deepcopy(value))
            for name in t.keys["prepare"]:
                read(name)
        known = dict(entries)
        for name in wanted:
            if name not in entries and name not in t.hoists:
                entries[name] = read(name)
        dict_name = "prepared" if self._prepare_passes_hyper() and context == "update" else self.scalars
        later = {}
        for name in wanted:
            if name in t.hoists:
                made = t.in_scalars_scope(*t.hoists[name], read=_reader(known, read, dict_name))
                (later if '%s["' % dict_name in text_of(made) else entries)[name] = made
        body = fix_settings(body, self.fixed)
        lines = self._input_lines(inputs, read_input, context, indent) + statements(body, indent)
        whole = self._dict(entries)
        if later:
            lines += broken("%s = " % dict_name, pieces(whole), indent)
            for name, node in later.items():
                lines += broken('%s["%s"] = ' % (dict_name, name), pieces(node), indent)
            whole = ast.Name(dict_name)
        return lines, whole

    def _dict(self, entries):
        made = fix_settings([ast.Expr(node) for node in entries.values()], self.fixed)
        return ast.Dict([expression('"%s"' % name) for name in entries], [each.value for each in made])

    def _input_lines(self, inputs, read_input, context, indent):
        sources = []
        for name in inputs:
            if name in self.translation.hoists:
                made = self.translation.in_scalars_scope(
                    *self.translation.hoists[name], read=lambda n: expression(read_input(n))
                )
                sources.append((name, text_of(made)))
            else:
                sources.append((name, read_input(name)))
        if self._prepare_passes_hyper() and context == "update":
            given = expression("{%s}" % ", ".join('"%s": %s' % pair for pair in sources))
            return broken("%s = " % self.scalars, pieces(given), indent)
        lines = []
        for name, source in sources:
            target = self.input_name(name, context)
            if target != source:
                lines += broken("%s = " % target, pieces(expression(source)), indent)
        return lines

    def input_name(self, name, context):
        """What an input is called in the statements of prepare()."""
        if context == "measure":
            return name
        if self._prepare_passes_hyper():
            return '%s["%s"]' % (self.scalars, name)
        taken = set()
        if "prepare" in self.functions.top:
            for node in ast.walk(self.functions.top["prepare"].node):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    taken.add(node.id)
        return name if name not in taken else "given_" + name

    def _prepare_passes_hyper(self):
        return "prepare" in self.functions.top and self.functions.passes_hyper(self.functions.top["prepare"])


def without_unused(body):
    """Statements without assignments to names that nothing reads: hoisted expressions leave some behind."""
    written = [node.targets[0] for node in body if isinstance(node, ast.Assign) and len(node.targets) == 1]
    names = [n for each in body for n in ast.walk(each) if isinstance(n, ast.Name)]
    read = {n.id for n in names if not any(n is target for target in written)}

    def is_used(node):
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        return not isinstance(target, ast.Name) or target.id in read

    kept = [node for node in body if is_used(node)]
    return kept if len(kept) == len(body) else without_unused(kept)


def put(node, name, value):
    """A node with a name replaced by another node."""

    class Put(ast.NodeTransformer):
        def visit_Name(self, found):
            return value if found.id == name else found

    return Put().visit(node)


def used_functions(texts, lines):
    """Those private functions, of {name: source}, that lines call."""
    body = "\n".join(lines)
    return [text.lstrip("\n") for name, text in texts.items() if re.search(r"(?<![\w.])%s\(" % name, body)]


def _without_complex(lines):
    """A docstring's lines without what it says of complex variables, which exported classes refuse."""
    kept, inside = [], False
    for line in lines:
        if line.startswith("    complex variables:"):
            inside = True
        elif not line.startswith("        "):
            inside = False
        if not inside:
            kept.append(line)
    return kept


def _reader(known, read, dict_name):
    """How a hoisted expression reads a scalar: what prepare() returned, or an input."""

    def read_for_hoist(name):
        if name not in known:
            return read(name)
        value = known[name]
        return value if isinstance(value, ast.Name) else expression('%s["%s"]' % (dict_name, name))

    return read_for_hoist
