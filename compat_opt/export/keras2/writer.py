"""A rule as a subclass of the Keras 2 Optimizer: TF 2.9-2.15 and tf_keras."""

from compat_opt.export import tensorflow_functions as private
from compat_opt.export.modern import ModernWriter
from compat_opt.export.operations import TENSORFLOW

_ADD_PLAIN_SLOT = '''
    def _add_slot(self, variable, name):
        """A slot of zeros, in the compute dtype of a variable."""
        dtype = _compute_dtype(variable)
        if dtype == variable.dtype.base_dtype:
            return self.add_variable_from_reference(variable, name)
        return self.add_variable(variable.shape, dtype, tf.zeros, name)
'''

_ADD_SLOT = '''
    def _add_slot(self, variable, name, shape{initializer}):
        """A slot of a variable, in its compute dtype."""
        dtype = _compute_dtype(variable)
        if dtype != variable.dtype.base_dtype:
            return self.add_variable(shape, dtype, {given}, name)
        initial = {given}(shape, dtype)
        return self.add_variable_from_reference(variable, name, initial_value=initial)
'''
_ZEROS = {"initializer": "", "given": "tf.zeros"}
_INITIALIZED = {"initializer": ", initializer=tf.zeros", "given": "initializer"}


class Writer(ModernWriter):
    """Writes one rule as a Keras 2 class."""

    api = "Keras 2"
    dialect = TENSORFLOW
    base = "keras.optimizers.experimental.Optimizer"
    registered = '@keras.utils.register_keras_serializable(package="exported")'
    imports = ["import tensorflow as tf"] + private.KERAS_2
    built = [
        "        super().build(var_list)",
        '        if getattr(self, "_built", False):',
        "            return",
        "        self._built = True",
    ]
    variables = "var_list"
    index = "self._index_dict[self._var_key(variable)]"
    update_arguments = "gradient, variable"
    learning_rate = "self.learning_rate"
    pass_learning_rate = ""
    wide = "tf.float64"
    functions_used = {"_compute_dtype": private.COMPUTE_DTYPE, "_dense": private.DENSE, "_cast": private.CAST}
    add_slot, zeros, initialized, add_plain_slot = _ADD_SLOT, _ZEROS, _INITIALIZED, _ADD_PLAIN_SLOT
    no_initializer = "tf.zeros"

    def constructor_body(self):
        """Lines of ``__init__`` behind its signature."""
        lines = [
            '        if weight_decay is not None or hasattr(self, "exclude_from_weight_decay"):',
            '            kwargs["weight_decay"] = weight_decay  # TF 2.9 and 2.10 have none',
        ]
        if self.per_step:
            lines += ["        # Updates that are compiled one by one would keep the scalars of the first step."]
            lines += ['        kwargs["jit_compile"] = False']
        lines += ["        super().__init__(name=name, **kwargs)"]
        return lines + ["        self._learning_rate = self._build_learning_rate(learning_rate)"]

    def config_learning_rate(self):
        """Entries of get_config that the base class leaves out."""
        return ['"learning_rate": self._serialize_hyperparameter(self._learning_rate)']

    def initializer(self, source):
        """Source of the initializer of a slot."""
        if source is None:
            return "lambda shape, dtype: tf.cast(variable, dtype)"
        return "lambda shape, dtype: tf.fill(shape, tf.cast(%s, dtype))" % source

    def cast(self, value, dtype):
        """Source of a cast."""
        return "tf.cast(%s, %s)" % (value, dtype)

    def tensor(self, slot):
        """Source of a slot's value."""
        return "tf.convert_to_tensor(%s)" % slot

    def shared_lines(self):
        """Lines of ``build`` that make the shared scalars."""
        lines = []
        for name, declared in self.rule.shared().items():
            initial = "lambda shape, dtype: tf.fill(shape, tf.cast(%r, dtype))" % float(declared.init)
            lines.append("        self._%s = self.add_variable(" % name)
            lines += ["            (),", "            tf.float64,", "            %s," % initial, '            "%s",' % name]
            lines.append("        )")
        return lines

    def assign(self, variable, value):
        """Source of an assignment."""
        return "%s.assign(%s)" % (variable, value)

    def per_step_hook(self):
        """Lines of the method that runs once per step, for all variables."""
        lines = ["    def _internal_apply_gradients(self, grads_and_vars):"]
        lines.append('        """Compute the scalars of this step, then update each variable."""')
        if self.measures:
            lines.append("        grads_and_vars = list(grads_and_vars)")
            lines.append("        self._scalars = self._step_scalars(self._measured(grads_and_vars))")
            lines.append('        if getattr(self, "weight_decay", None) is not None:')
            lines.append("            super()._apply_weight_decay([variable for _, variable in grads_and_vars])")
        else:
            lines.append("        self._scalars = self._step_scalars()")
        lines.append("        result = super()._internal_apply_gradients(grads_and_vars)")
        lines.append("        self._scalars = None")
        lines.append("        return result")
        return lines + (self.no_early_decay() if self.measures else [])
