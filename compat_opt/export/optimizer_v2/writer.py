"""A rule as a subclass of OptimizerV2: TF 2.0-2.10, legacy optimizers later, tf_keras.optimizers.legacy."""

import ast

from compat_opt.export import tensorflow_functions as private
from compat_opt.export.operations import TENSORFLOW
from compat_opt.export.printer import broken, literal, pieces, statements, text_of
from compat_opt.export.slots import fix_settings
from compat_opt.export.translate import expression
from compat_opt.export.writer import Writer as BaseWriter
from compat_opt.export.writer import put, used_functions, without_unused

_CREATE_SLOTS = '''
    def _create_slots(self, var_list):
        """Make the slots of these variables."""
{shared}        for variable in var_list:
            if variable.dtype.base_dtype.size < 4:
                raise TypeError(
                    "Slots have the variable's dtype here, and %s is too coarse for them: use "
                    "float32 variables, as mixed precision does." % variable.dtype.base_dtype.name
                )
{made}'''

_MADE = '''
{initial}            for name, shape in self._slots_for(tuple(variable.shape)).items():
                self.add_slot(variable, name, {initializer})
'''

_COEFFICIENTS = '''
    def _coefficients(self, variable, apply_state):
        """What _prepare_local computed for a variable's device and dtype."""
        device, dtype = variable.device, variable.dtype.base_dtype
        state = (apply_state or {}).get((device, dtype))
        return state or self._fallback_apply_state(device, dtype)
'''

_ASSIGN = '''
    def _assign(self, variable, new_variable, new_slots):
        """Store new values, all of them computed before: version 1 graphs keep no order."""
        pairs = [(variable, new_variable)]
        pairs += [(self.get_slot(variable, name), value) for name, value in new_slots.items()]
        with tf.control_dependencies([value for _, value in pairs]):
            return tf.group(*[kept.assign(tf.cast(value, kept.dtype)) for kept, value in pairs])
'''

_SPARSE = '''
    def _resource_apply_sparse(self, gradient, variable, indices, apply_state=None):
        """Update the whole variable: rows without a gradient move, too, by their slots."""
        gradient = tf.math.unsorted_segment_sum(gradient, indices, variable.shape[0])
        return self._resource_apply_dense(gradient, variable, apply_state)
'''

_REGISTER = '''
if hasattr(keras.utils, "register_keras_serializable"):  # from TF 2.1 on
    keras.utils.register_keras_serializable(package="exported")(%s)
'''

_ARGUMENTS = (
    "name: the optimizer's name.",
    "**kwargs: those of the base class: clipnorm, clipvalue, global_clipnorm, decay, lr.",
)


class Writer(BaseWriter):
    """Writes one rule as an OptimizerV2 class."""

    dialect = TENSORFLOW
    scalars = "coefficients"

    def live(self, rule):
        """All that are no static flags: variables, schedules and callables in this API."""
        return {name for name, hyper in rule.hypers().items() if not hyper.static}

    def hyper_attribute(self, name):
        """Source of a hyperparameter where slots are made: what the constructor was given."""
        return "self.%s" % name if self.rule.hypers()[name].static else "self._initial_%s" % name

    @property
    def decays(self):
        """Whether the rule has weight decay by default; this API has none."""
        return self.instance.weight_decay is not None

    def source(self):
        """The whole file."""
        update = self.update()
        methods, functions = self.helper_methods()
        measure = self.measured() if self.measures else []
        if self.decays:
            self._need("learning_rate"), self._need("weight_decay")
        parts = [["class %s(optimizers.Optimizer):" % self.rule.__name__] + self._docstring(), self.constructor()]
        parts += [self.create_slots()] + ([self.slots_for()] if self.slots.entries and not self.slots.plain else [])
        if self.per_step:
            parts += [self.per_step_hook()]
        parts += [measure] if measure else []
        parts += [self.prepare()] + ([self.prepare_per_step()] if self.per_step else [])
        coefficients = [_COEFFICIENTS.strip("\n").splitlines()] if self.translation.keys["update"] else []
        parts += coefficients + [update, _SPARSE.strip("\n").splitlines()] + ([methods[1:]] if methods else [])
        if self.slots.entries:
            parts += [_ASSIGN.strip("\n").splitlines()]
        parts += [self.index_method()] if any("self._index(" in line for line in update) else []
        parts += [self.get_config()]
        body = []
        for part in parts:
            body += ([""] if body else []) + part
        body += ["", ""] + (_REGISTER % self.rule.__name__).strip("\n").splitlines()
        private_functions = {"_compute_dtype": private.COMPUTE_DTYPE, "_dense": private.DENSE, "_cast": private.CAST}
        used = used_functions(private_functions, body)
        imports = sorted("import %s" % name for name in self.translation.modules)
        head = self.provenance("OptimizerV2") + [""] + imports + ([""] if imports else [])
        head += ["import tensorflow as tf"] + private.KERAS_2
        head += ['optimizers = getattr(keras.optimizers, "legacy", keras.optimizers)  # from TF 2.9 on', "", ""]
        constants = self.constants()
        head += constants + ["", ""] if constants else []
        return "\n".join(head + body + self.module_functions(functions, used)) + "\n"

    def _need(self, name):
        if name not in self.translation.keys["update"]:
            self.translation.keys["update"].append(name)

    def _docstring(self):
        documented = (self.rule.__doc__ or "").splitlines()
        own = any(line.strip().startswith("weight_decay:") for line in documented)
        decay = ("weight_decay: decoupled decay per unit of learning rate.",) if self.decays and not own else ()
        return self.class_docstring(decay + _ARGUMENTS)

    def _live_hypers(self):
        names = [n for n in self.hypers() if not self.rule.hypers()[n].static and n != "learning_rate"]
        return names + (["weight_decay"] if self.decays else [])

    def constructor(self):
        """Lines of ``__init__``."""
        tail = ["weight_decay=%s" % literal(self.instance.weight_decay)] if self.decays else []
        lines = self.signature(tail + ['name="%s"' % self.rule.__name__, "**kwargs"])
        lines.append("        super().__init__(name, **kwargs)")
        if "learning_rate" in self.hypers():
            lines.append('        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))')
            lines.append('        self._set_hyper("decay", self._initial_decay)')
        for name in self._live_hypers():
            value = "weight_decay or 0.0" if name == "weight_decay" else name
            lines += broken("", pieces(expression('self._set_hyper("%s", %s)' % (name, value))), 8)
        text = "\n".join(self.slots_for())
        lines += ["        self._initial_%s = %s" % (n, n) for n in self._live_hypers() if "_initial_%s" % n in text]
        lines += ["        self.%s = %s" % (n, n) for n in self.hypers() if self.rule.hypers()[n].static]
        lines += ["        self._%s = None" % name for name in self.shared]
        lines += ["        self._scalars = None"] if self.per_step else []
        return lines

    def create_slots(self):
        """Lines of ``_create_slots``."""
        shared = []
        for name, declared in self.rule.shared().items():
            shared.append("        if self._%s is None:" % name)
            shared.append("            self._%s = self.add_weight(" % name)
            shared.append('                "%s",' % name)
            shared.append("                (),")
            shared.append("                tf.float64,")
            shared.append("                keras.initializers.Constant(%r)," % float(declared.init))
            shared.append("                trainable=False,")
            shared.append("                aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,")
            shared.append("            )")
            shared.append("            self._weights.append(self._%s)" % name)
        if not self.slots.entries:
            head = ["    def _create_slots(self, var_list):", '        """There are none."""']
            index = ["        self._var_list = list(var_list)"] if self.draws() else []
            if shared:
                head[1] = '        """Make the scalars that outlive a step."""'
            return head + shared + index
        entries = []
        for name, source in self.slots.initial.items():
            made = "tf.cast(variable, dtype)" if source is None else "tf.fill(shape, tf.cast(%s, dtype))" % source
            entries.append('"%s": lambda shape, dtype: %s' % (name, made))
        initial = broken("initial = ", pieces(expression("{%s}" % ", ".join(entries))), 12) if entries else []
        initializer = "_initializer(shape%s)" % (", initial.get(name, tf.zeros)" if entries else "")
        own_shapes = not all(shape == "shape" for _, shape, _ in self.slots.entries)
        if not own_shapes:
            initializer = "initial.get(name, \"zeros\")" if entries else ""
        else:
            self.extra = [_INITIALIZER]
        text = _CREATE_SLOTS.replace("{shared}", "".join(line + "\n" for line in shared))
        names, made = self._plain_slots() if self.slots.plain else ([], _MADE.lstrip("\n"))
        text = text.replace("{made}", made)
        text = text.replace("{initial}", "".join(line + "\n" for line in initial))
        text = text.replace(", {initializer}", ", " + initializer if initializer else "")
        if not own_shapes:
            text = text.replace("for name, shape in self._slots_for(tuple(variable.shape)).items():",
                                "for name in self._slots_for(tuple(variable.shape)):")
        lines = text.strip("\n").splitlines()
        lines = lines[:2] + names + lines[2:]
        return lines + (["        self._var_list = list(var_list)"] if self.draws() else [])

    def _plain_slots(self):
        names, source = self.slots.names(8)
        if not names:
            return [], "".join('            self.add_slot(variable, "%s")\n' % name for name, _, _ in self.slots.entries)
        return names, "            for name in names:\n                self.add_slot(variable, name)\n"

    extra = ()

    def module_functions(self, functions, extra=()):
        """Lines of the private functions behind the class."""
        return super().module_functions(functions, list(extra) + list(self.extra))

    def draws(self):
        """Whether the update draws random numbers."""
        return "random_normal" in self.translation.helpers or "random_uniform" in self.translation.helpers

    def index_method(self):
        """Lines of the method that numbers the variables."""
        return [
            "    def _index(self, variable):",
            '        """The place of a variable among those that are trained."""',
            "        return [each is variable for each in self._var_list].index(True)",
        ]

    def update(self):
        """Lines of ``_resource_apply_dense``."""
        t, function = self.translation, self.functions.top["update"]
        body = without_unused(fix_settings(t.body(function, None, self._returned), self.fixed))
        t.helper_definitions()  # so that all keys are known
        names = {n.id for statement in body for n in ast.walk(statement) if isinstance(n, ast.Name)}
        values = function.values
        lines = ["    def _resource_apply_dense(self, gradient, variable, apply_state=None):"]
        lines += ['        """Update one variable and its slots."""', "        dtype = _compute_dtype(variable)"]
        if t.keys["update"] or self.decays:
            lines.append("        coefficients = self._coefficients(variable, apply_state)")
        if "index" in names:
            lines.append("        index = self._index(variable)")
        if values["slots"] in names:
            names_of = "self.get_slot_names()" if self.slots.plain else "self._slots_for(tuple(variable.shape))"
            made = "{name: tf.convert_to_tensor(self.get_slot(variable, name)) for name in %s}" % names_of
            lines += broken("%s = " % values["slots"], pieces(expression(made)), 8)
        if values["grad"] in names:
            lines.append("        %s = tf.cast(gradient, dtype)" % values["grad"])
        if values["var"] in names or self.decays:
            var = values["var"]
            lines.append("        %s = tf.cast(variable, dtype)" % var)
            if self.decays:
                rate = 'coefficients["weight_decay"] * coefficients["learning_rate"]'
                lines.append("        %s = %s - %s * %s" % (var, var, var, rate))
        return lines + [""] + statements(body, 8)

    def stores_value(self):
        """Source that stores ``x`` in the variable, where there are no slots."""
        return "variable.assign(tf.cast(x, variable.dtype))"

    def _returned(self, node, visitor):
        made, call = self.stored(node, visitor)
        return made + [ast.Return(call)]

    def _read_input(self, name):
        if name == "step":
            return "tf.cast(self.iterations + 1, tf.float64)"
        if name == "learning_rate":
            return "self._decayed_lr(tf.float64)"
        if name in self.shared:
            return "tf.cast(self._%s, tf.float64)" % name
        if name in self.rule.hypers():
            return 'self._get_hyper("%s", tf.float64)' % name
        return 'measured["%s"]' % name

    def prepare(self):
        """Lines of ``_prepare_local``."""
        lines = ["    def _prepare_local(self, var_device, var_dtype, apply_state):"]
        lines += ['        """Coefficients of this step, in float64 first: 1 - beta loses digits in float32."""']
        lines += ["        super()._prepare_local(var_device, var_dtype, apply_state)"]
        if self.per_step:
            lines[1] = '        """The coefficients of this step in the dtype of the update."""'
            made, whole = ["        if self._scalars is None:", "            return"], expression("self._scalars")
        else:
            made, whole = self.scalar_lines(self._read_input)
        if not self.per_step and not made and not whole.keys:
            return lines
        made.append("        dtype = tf.float32 if var_dtype.size < 4 else var_dtype")
        call = "apply_state[(var_device, var_dtype)].update(_cast(x, dtype))"
        line = broken("", pieces(put(expression(call), "x", whole)), 8)
        if len(line) > 3:
            made += broken("coefficients = ", pieces(whole), 8)
            line = broken("", pieces(expression(call.replace("x,", "coefficients,"))), 8)
        return lines + made + line

    def per_step_hook(self):
        """Lines of the method that runs once per step, for all variables."""
        lines = ["    def _distributed_apply(self, distribution, grads_and_vars, **kwargs):"]
        lines += ['        """Compute the scalars of this step, then update each variable."""']
        given = ""
        if self.measures:
            lines += ["        if distribution.num_replicas_in_sync > 1:"]
            message = '"The sums over all variables know the gradients of one replica only."'
            lines += ["            raise NotImplementedError(", "                %s" % message, "            )"]
            given = "self._measured(grads_and_vars)"
        lines += ["        grads_and_vars = list(grads_and_vars)"]
        lines += ["        self._scalars = self._step_scalars(%s)" % given]
        lines += ['        kwargs["apply_state"] = self._prepare([variable for _, variable in grads_and_vars])']
        lines += ["        self._scalars = None"]
        lines += ["        return super()._distributed_apply(distribution, grads_and_vars, **kwargs)"]
        return lines

    def prepare_per_step(self):
        """Lines of the method that computes the scalars of a step and keeps the shared ones."""
        lines, whole = self.scalar_lines(self._read_input)
        head = ["    def _step_scalars(self%s):" % (", measured" if self.measures else "")]
        head += ['        """Scalars of this step, in float64: 1 - beta loses digits in float32."""']
        if any('shared["' in line for line in lines) or 'shared["' in text_of(whole):
            entries = ", ".join('"%s": %s' % (n, self._read_input(n)) for n in self.shared)
            head += broken("shared = ", pieces(expression("{%s}" % entries)), 8)
        name = text_of(whole) if isinstance(whole, ast.Name) else "prepared"
        if not isinstance(whole, ast.Name):
            lines += broken("prepared = ", pieces(whole), 8)
        kept = [n for n in self.shared if n in self.prepared_names()]
        if not kept:
            return head + lines + ["        return %s" % name]
        lines += ["        with tf.control_dependencies(list(%s.values())):" % name]
        lines += ["            kept = ["]
        lines += ['                self._%s.assign(%s["%s"]),' % (n, name, n) for n in kept]
        lines += ["            ]", "        with tf.control_dependencies(kept):"]
        return head + lines + ["            return {name: tf.identity(value) for name, value in %s.items()}" % name]

    def measured(self):
        """Lines of the methods that sum over all variables."""
        t, function = self.translation, self.functions.top["measure"]
        body = fix_settings(t.body(function), self.fixed)
        values, takes = function.values, bool(t.keys["measure"])
        lines = ["    def _measured(self, grads_and_vars):"]
        lines += ['        """Sums over all variables, before any of them is updated."""']
        if takes:
            more, whole = self.scalar_lines(self._read_input, "measure")
            lines += more + broken("wide = ", pieces(whole), 8)
        lines += ["        sums = {}", "        for gradient, variable in grads_and_vars:"]
        lines += ["            dtype = _compute_dtype(variable)"]
        arguments = ["_dense(gradient, variable, dtype)", "tf.cast(variable, dtype)"]
        if self.slots.entries:
            names_of = "self.get_slot_names()" if self.slots.plain else "self._slots_for(tuple(variable.shape))"
            slots = "{name: tf.convert_to_tensor(self.get_slot(variable, name)) for name in %s}" % names_of
            lines += broken("slots = ", pieces(expression(slots)), 12)
            arguments.append("slots")
        arguments += ["_cast(wide, dtype)"] if takes else []
        lines += broken("found = ", pieces(expression("self._measure(%s)" % ", ".join(arguments))), 12)
        lines += ["            for name, value in found.items():"]
        lines += ["                sums[name] = sums.get(name, 0.0) + tf.cast(value, tf.float64)"]
        lines += ["        return sums", ""]
        parameters = [values["grad"], values["var"]] + ([values["slots"]] if self.slots.entries else [])
        parameters += [self.scalars] if takes else []
        lines += ["    def _measure(%s):" % ", ".join(["self"] + parameters)]
        return lines + ['        """What one variable adds to the sums."""'] + statements(body, 8)

    def get_config(self):
        """Lines of ``get_config``."""
        names = [n for n in ["learning_rate", "decay"] if "learning_rate" in self.hypers()] + self._live_hypers()
        entries = ['"%s": self._serialize_hyperparameter("%s")' % (n, n) for n in names]
        entries += ['"%s": self.%s' % (n, n) for n in self.hypers() if self.rule.hypers()[n].static]
        lines = ["    def get_config(self):", '        """The arguments of the constructor."""']
        lines.append("        config = super().get_config()")
        lines += broken("", pieces(expression("config.update({%s})" % ", ".join(entries))), 8)
        return lines + ["        return config"]


_INITIALIZER = '''
def _initializer(slot_shape, initial=tf.zeros):
    """An initializer for add_slot, which asks for the variable's shape."""
    return lambda shape, dtype: initial(slot_shape, dtype)
'''.lstrip("\n")
