"""A rule as a subclass of ``keras.optimizers.Optimizer`` of Keras 3."""

from compat_opt.export.modern import ModernWriter
from compat_opt.export.operations import KERAS

_COMPUTE_DTYPE = '''
def _compute_dtype(variable):
    """float32 for half precision, in which averages over steps would stand still."""
    dtype = keras.backend.standardize_dtype(variable.dtype)
    if "float" not in dtype:
        raise TypeError("Only real variables are updated. Received: dtype=%s" % dtype)
    return "float32" if dtype in ("float16", "bfloat16") else dtype
'''

_DENSE = '''
def _dense(gradient, variable, dtype):
    """The gradient in the compute dtype; repeated rows of a sparse one are summed."""
    if type(gradient).__name__ == "IndexedSlices":
        rows = ops.expand_dims(gradient.indices, -1)
        return ops.scatter(rows, ops.cast(gradient.values, dtype), tuple(variable.shape))
    return ops.cast(gradient, dtype)
'''

_SCALAR_DTYPE = '''
def _scalar_dtype():
    """Scalars of a step keep the digits of float64 where the backend has it by default."""
    return "float32" if keras.backend.backend() == "jax" else "float64"
'''

_CAST = '''
def _cast(scalars, dtype):
    """The scalars of a step in the dtype of a variable's update."""
    return {name: ops.convert_to_tensor(value, dtype) for name, value in scalars.items()}
'''

_ADD_PLAIN_SLOT = '''
    def _add_slot(self, variable, name):
        """A slot of zeros, in the compute dtype of a variable."""
        dtype = _compute_dtype(variable)
        if keras.backend.standardize_dtype(variable.dtype) == dtype:
            return self.add_variable_from_reference(variable, name=name)
        name = "%s_%s" % (getattr(variable, "path", variable.name).replace("/", "_"), name)
        return self.add_variable(tuple(variable.shape), dtype=dtype, name=name)
'''

_ADD_SLOT = '''
    def _add_slot(self, variable, name, shape{initializer}):
        """A slot of a variable, in its compute dtype."""
        dtype = _compute_dtype(variable)
        same = keras.backend.standardize_dtype(variable.dtype) == dtype
        if same and shape == tuple(variable.shape){zeros}:
            return self.add_variable_from_reference(variable, name=name)
        name = "%s_%s" % (getattr(variable, "path", variable.name).replace("/", "_"), name)
        return self.add_variable(shape, {given}dtype=dtype, name=name)
'''
_ZEROS = {"initializer": "", "zeros": "", "given": ""}
_INITIALIZED = {
    "initializer": ', initializer="zeros"',
    "zeros": ' and initializer == "zeros"',  # the first Keras 3 takes no other
    "given": "initializer=initializer, ",
}

_HOOK = '''
        if not hasattr(super(), "_backend_update_step"):
            raise NotImplementedError(
                "This Keras has no hook that runs once per step. A later Keras 3 is needed."
            )
'''

_ONE_REPLICA = '''
        strategy = getattr(self, "_distribution_strategy", None)  # of the TensorFlow backend
        if strategy is not None and strategy.num_replicas_in_sync > 1:
            raise NotImplementedError(
                "The sums over all variables know the gradients of one replica only."
            )
'''


class Writer(ModernWriter):
    """Writes one rule as a Keras 3 class."""

    api = "Keras 3"
    dialect = KERAS
    base = "keras.optimizers.Optimizer"
    registered = '@keras.saving.register_keras_serializable(package="exported")'
    imports = ["import keras", "from keras import ops"]
    built = ["        if self.built:", "            return", "        super().build(variables)"]
    variables = "variables"
    index = "self._get_variable_index(variable)"
    update_arguments = "gradient, variable, learning_rate"
    learning_rate = "learning_rate"
    pass_learning_rate = "learning_rate"
    wide = "_scalar_dtype()"
    functions_used = {
        "_compute_dtype": _COMPUTE_DTYPE, "_dense": _DENSE, "_scalar_dtype": _SCALAR_DTYPE, "_cast": _CAST,
    }  # fmt: skip
    add_slot, zeros, initialized, add_plain_slot = _ADD_SLOT, _ZEROS, _INITIALIZED, _ADD_PLAIN_SLOT

    def constructor_body(self):
        """Lines of ``__init__`` behind its signature."""
        base = ["learning_rate=learning_rate", "weight_decay=weight_decay", "name=name", "**kwargs"]
        lines = ["        super().__init__(", "            " + ", ".join(base), "        )"]
        return lines + (_HOOK.strip("\n").splitlines() if self.per_step else [])

    def config_learning_rate(self):
        """Entries of get_config that the base class leaves out."""
        return []

    def initializer(self, source):
        """Source of the initializer of a slot."""
        if source is None:
            return "lambda shape, dtype=None: ops.cast(variable, dtype or variable.dtype) + 0"
        return "keras.initializers.Constant(%s)" % source

    def cast(self, value, dtype):
        """Source of a cast."""
        return "ops.cast(%s, %s)" % (value, dtype)

    def shared_lines(self):
        """Lines of ``build`` that make the shared scalars."""
        lines = []
        for name, declared in self.rule.shared().items():
            lines.append("        self._%s = self.add_variable(" % name)
            lines.append("            (),")
            lines.append("            initializer=keras.initializers.Constant(%r)," % float(declared.init))
            lines.append("            dtype=_scalar_dtype(),")
            lines.append('            name="%s",' % name)
            lines.append("        )")
        return lines

    def assign(self, variable, value):
        """Source of an assignment."""
        return "self.assign(%s, %s)" % (variable, value)

    def per_step_hook(self):
        """Lines of the method that runs once per step, for all variables."""
        lines = ["    def _backend_update_step(self, grads, trainable_variables, learning_rate):"]
        lines.append('        """Compute the scalars of this step, then update each variable."""')
        given = "learning_rate"
        if self.measures:
            lines += _ONE_REPLICA.strip("\n").splitlines()
            lines.append("        measured = self._measured(zip(grads, trainable_variables), learning_rate)")
            given = "learning_rate, measured"
        lines.append("        self._scalars = self._step_scalars(%s)" % given)
        if self.measures:
            lines.append("        super()._apply_weight_decay(trainable_variables)")
        lines.append("        super()._backend_update_step(grads, trainable_variables, learning_rate)")
        lines.append("        self._scalars = None")
        return lines + (self.no_early_decay() if self.measures else [])
