"""What a caller knows about a file that the file itself does not tell."""

from compat_opt.errors import StateError


class Hints:
    """Every argument may be None: the file says it.

    Args:
        optimizer: which optimizer of the file: its path in a checkpoint ("generator_optimizer").
        class_name: of the native class, or of the rule ("Adam").
        config: the optimizer's get_config(), or a part of it.
        rule: the `UpdateRule` class of an optimizer that was compiled from a rule of your own.
        variables: the model's trainable variables in order, or [(path, shape)] of them.

    Raises:
        StateError: `config` is no dict, or `variables` are neither.
    """

    def __init__(self, optimizer=None, class_name=None, config=None, rule=None, variables=None):
        if not (config is None or isinstance(config, dict)):
            raise StateError("config is the optimizer's get_config(), or a part of it.", "a dict", "config=%r" % (config,))
        self.optimizer = optimizer
        self.class_name = class_name
        self.config = dict(config or {})
        self.rule = rule
        self.variables = None if variables is None else [_named(v) for v in variables]


def _named(variable):
    """(path, shape, dtype or None) of a variable, or of such a tuple."""
    try:
        if isinstance(variable, (tuple, list)):
            path, shape = variable[:2]
            return str(path), tuple(int(size) for size in shape), variable[2] if len(variable) > 2 else None
        name = getattr(variable, "path", None) or variable.name.split(":")[0]
        return name, tuple(int(size) for size in variable.shape), None
    except (AttributeError, TypeError, ValueError):
        raise StateError("variables are a model's, or their names and shapes.", '[("dense/kernel", (4, 3)), ...]', repr(variable))
