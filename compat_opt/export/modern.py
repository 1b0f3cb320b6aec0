"""What Keras 2 and Keras 3 have in common: build(), update_step() per variable, weight decay in the base class."""

import ast

from compat_opt.export.operations import filled
from compat_opt.export.printer import broken, literal, pieces, statements, text_of
from compat_opt.export.slots import fix_settings
from compat_opt.export.translate import expression
from compat_opt.export.writer import Writer, used_functions, without_unused

#: Arguments of the base class, as the docstring of the exported class lists them.
BASE_ARGUMENTS = (
    "weight_decay: decoupled decay per unit of learning rate, or None.",
    "name: the optimizer's name.",
    "**kwargs: those of the base class, such as clipnorm and use_ema.",
)


class ModernWriter(Writer):
    """Writes a class with ``build`` and ``update_step``; Keras 2 and 3 fill in their own names."""

    def live(self, rule):
        """Only the learning rate is a tensor; the others are attributes, as in the optimizers that Keras ships."""
        return {"learning_rate"}

    def source(self):
        """The whole file."""
        update = self.update_step()
        methods, functions = self.helper_methods()
        parts = [
            [self.registered, "class %s(%s):" % (self.rule.__name__, self.base)] + self._docstring(),
            self.constructor(),
            self.build(),
        ]
        if self.slots.plain:
            parts.append(self.add_plain_slot.strip("\n").splitlines())
        elif self.slots.entries:
            add_slot = filled(self.add_slot, self.initialized if self.slots.initial else self.zeros)
            parts += [self.slots_for(), add_slot.strip("\n").splitlines()]
        measure = self.measured() if self.measures else []
        if self.per_step:
            parts.append(self.per_step_hook())
        if measure:
            parts.append(measure)
        if self.needs_scalars() or self.per_step:
            parts.append(self.step_scalars())
        parts += [update] + ([methods[1:]] if methods else [])
        if self.slots.entries:
            parts.append(self.assign_method())
        parts.append(self.get_config())
        body = []
        for part in filter(None, parts):
            body += ([""] if body else []) + part
        body = _without_unread(body, self.pass_learning_rate)
        tail = self.module_functions(functions, used_functions(self.functions_used, body))
        imports = sorted("import %s" % name for name in self.translation.modules)
        head = self.provenance(self.api) + [""] + imports + ([""] if imports else []) + self.imports
        constants = self.constants()
        head += ["", ""] + (constants + ["", ""] if constants else [])
        return "\n".join(head + body + tail) + "\n"

    def _docstring(self):
        documented = (self.rule.__doc__ or "").splitlines()
        own = any(line.strip().startswith("weight_decay:") for line in documented)
        return self.class_docstring(BASE_ARGUMENTS[1:] if own else BASE_ARGUMENTS)

    def constructor(self):
        """Lines of ``__init__``."""
        decay = literal(self.instance.weight_decay)
        tail = ["weight_decay=" + decay, 'name="%s"' % self.rule.__name__, "**kwargs"]
        lines = self.signature(tail) + self.constructor_body()
        lines += ["        self.%s = %s" % (name, name) for name in self.hypers() if name != "learning_rate"]
        return lines + (["        self._scalars = None"] if self.per_step else [])

    def build(self):
        """Lines of ``build``."""
        lines = ["    def build(self, %s):" % self.variables, '        """Make the state of these variables."""']
        lines += self.built + self.shared_lines()
        if not self.slots.entries:
            return lines if self.shared else []
        if self.slots.plain:
            names, source = self.slots.names(8)
            entries = "name: self._add_slot(variable, name) for name in names"
            if not names:
                entries = ", ".join('"%s": self._add_slot(variable, "%s")' % (name, name) for name, _, _ in self.slots.entries)
            made = expression("[{%s} for variable in %s]" % (entries, self.variables))
            return lines + names + broken("self._slots = ", pieces(made), 8)
        lines += ["        self._slots = []", "        for variable in %s:" % self.variables]
        if self.slots.initial:
            entries = ['"%s": %s' % (n, self.initializer(source)) for n, source in self.slots.initial.items()]
            lines += broken("initial = ", pieces(expression("{%s}" % ", ".join(entries))), 12)
        lines.append("            slots = {}")
        lines.append("            for name, shape in self._slots_for(tuple(variable.shape)).items():")
        initial = ", initial.get(name, %s)" % self.no_initializer if self.slots.initial else ""
        lines.append("                slots[name] = self._add_slot(variable, name, shape%s)" % initial)
        return lines + ["            self._slots.append(slots)"]

    no_initializer = '"zeros"'

    def update_step(self):
        """Lines of ``update_step``."""
        t, function = self.translation, self.functions.top["update"]
        bound = {n.id for n in ast.walk(function.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        local = []

        def read(name):
            if name == "learning_rate" and name not in bound:
                local.append(name)
                return ast.Name(name)
            return t.read_key(name, function)

        body = t.body(function, read, lambda node, visitor: self._returned(node, visitor))
        body = without_unused(fix_settings(body, self.fixed))
        t.helper_definitions()  # so that all keys are known
        names = {n.id for statement in body for n in ast.walk(statement) if isinstance(n, ast.Name)}
        values = function.values
        lines = ["    def update_step(self, %s):" % self.update_arguments]
        lines += ['        """Update one variable and its slots."""', "        dtype = _compute_dtype(variable)"]
        if self.needs_scalars():
            made = "self._scalars" if self.per_step else "self._step_scalars(%s)" % self.pass_learning_rate
            lines.append("        %s = _cast(%s, dtype)" % (self.scalars, made))
        if local:
            lines.append("        learning_rate = %s" % self.cast(self.learning_rate, "dtype"))
        if "index" in names or values["slots"] in names:
            lines.append("        index = %s" % self.index)
        if values["slots"] in names:
            self_slots = "{name: %s for name, slot in self._slots[index].items()}" % self.tensor("slot")
            lines += broken("%s = " % values["slots"], pieces(expression(self_slots)), 8)
        if values["grad"] in names:
            lines.append("        %s = _dense(gradient, variable, dtype)" % values["grad"])
        if values["var"] in names:
            lines.append("        %s = %s" % (values["var"], self.cast("variable", "dtype")))
        return lines + [""] + statements(body, 8)

    def tensor(self, slot):
        """Source of a slot's value."""
        return "ops.convert_to_tensor(%s)" % slot

    def stores_value(self):
        """Source that stores ``x`` in the variable, where there are no slots."""
        return self.assign("variable", self.cast("x", "variable.dtype"))

    def _returned(self, node, visitor):
        """What update() returns, as assignments."""
        last = node.lineno == visitor.function.node.body[-1].lineno
        made, call = self.stored(node, visitor)
        return made + [ast.Expr(call) if last else ast.Return(call)]

    def assign_method(self):
        """Lines of the method that stores new values."""
        slot = self.assign("slots[name]", self.cast("value", "slots[name].dtype"))
        return [
            "    def _assign(self, variable, new_variable, new_slots):",
            '        """Store new values; all of them are computed by now."""',
            "        %s" % self.assign("variable", self.cast("new_variable", "variable.dtype")),
            "        slots = self._slots[%s]" % self.index,
            "        for name, value in new_slots.items():",
            "            %s" % slot,
        ]

    def _read_input(self, name):
        if name == "step":
            return self.cast("self.iterations + 1", self.wide)
        if name == "learning_rate":
            return self.cast(self.learning_rate, self.wide)
        if name in self.shared:
            return self.cast("self._%s" % name, self.wide)
        return 'measured["%s"]' % name

    def step_scalars(self):
        """Lines of the method that computes the scalars of a step."""
        given = ["self"] + ([self.pass_learning_rate] if self.pass_learning_rate else [])
        lines, whole = self.scalar_lines(self._read_input)
        head = ["    def _step_scalars(%s):" % ", ".join(given + (["measured"] if self.measures else []))]
        head += ['        """Scalars of this step; 1 - beta ** step would lose its digits in float32."""']
        reads_shared = any('shared["' in line for line in lines) or 'shared["' in text_of(whole)
        if reads_shared:
            entries = ", ".join('"%s": %s' % (n, self.cast("self._%s" % n, self.wide)) for n in self.shared)
            head += broken("shared = ", pieces(expression("{%s}" % entries)), 8)
        if not self.shared:
            return head + lines + broken("return ", pieces(whole), 8)
        name = text_of(whole) if isinstance(whole, ast.Name) else "prepared"
        if not isinstance(whole, ast.Name):
            lines += broken("prepared = ", pieces(whole), 8)
        for shared in self.shared:
            if shared in self.prepared_names():
                lines.append("        %s" % self.assign("self._%s" % shared, '%s["%s"]' % (name, shared)))
        return head + lines + ["        return %s" % name]

    def measured(self):
        """Lines of the methods that sum over all variables."""
        t, function = self.translation, self.functions.top["measure"]
        body = fix_settings(t.body(function), self.fixed)
        values = function.values
        takes = bool(t.keys["measure"])
        parameters = [values["grad"], values["var"]] + ([values["slots"]] if self.slots.entries else [])
        rate = [self.pass_learning_rate] if self.pass_learning_rate else []
        lines = ["    def _measured(%s):" % ", ".join(["self", "grads_and_vars"] + rate)]
        lines += ['        """Sums over all variables, before any of them is updated."""']
        if takes:
            more, whole = self.scalar_lines(self._read_input, "measure")
            lines += more + broken("wide = ", pieces(whole), 8)
        lines += ["        sums = {}", "        for gradient, variable in grads_and_vars:"]
        lines.append("            dtype = _compute_dtype(variable)")
        arguments = ["_dense(gradient, variable, dtype)", self.cast("variable", "dtype")]
        if self.slots.entries:
            lines.append("            index = %s" % self.index)
            slots = "{name: %s for name, slot in self._slots[index].items()}" % self.tensor("slot")
            lines += broken("slots = ", pieces(expression(slots)), 12)
            arguments.append("slots")
        arguments += ["_cast(wide, dtype)"] if takes else []
        lines += broken("found = ", pieces(expression("self._measure(%s)" % ", ".join(arguments))), 12)
        lines += ["            for name, value in found.items():"]
        total = "sums.get(name, 0.0) + %s" % self.cast("value", self.wide)
        lines += ["                sums[name] = %s" % total, "        return sums", ""]
        parameters += [self.scalars] if takes else []
        lines += ["    def _measure(%s):" % ", ".join(["self"] + parameters)]
        return lines + ['        """What one variable adds to the sums."""'] + statements(body, 8)

    def no_early_decay(self):
        """Lines of the method that keeps the base class from decaying variables before they are measured."""
        return [
            "",
            "    def _apply_weight_decay(self, variables):",
            '        """Nothing yet: the sums are those of the variables before they decay."""',
        ]

    def get_config(self):
        """Lines of ``get_config``."""
        names = [n for n in self.hypers() if n != "learning_rate"]
        entries = self.config_learning_rate() + ['"%s": self.%s' % (n, n) for n in names]
        lines = ["    def get_config(self):", '        """The arguments of the constructor."""']
        lines.append("        config = super().get_config()")
        if entries:
            lines += broken("", pieces(expression("config.update({%s})" % ", ".join(entries))), 8)
        return lines + ["        return config"]


def _without_unread(lines, name):
    """A class's lines without the argument `name` of _step_scalars and _measured, where these read nothing of it."""
    for method in ("_step_scalars", "_measured") if name else ():
        starts = [k for k, line in enumerate(lines) if line.startswith("    def %s(self" % method)]
        if not starts:
            continue
        body = lines[starts[0] + 1 :]
        ends = [k for k, line in enumerate(body) if line.startswith("    def ")]
        if name in "\n".join(body[: ends[0]]):
            continue
        lines = [
            line.replace(", %s" % name, "").replace("(%s)" % name, "()").replace("(%s, " % name, "(")
            if "%s(" % method in line
            else line
            for line in lines
        ]
    return lines
