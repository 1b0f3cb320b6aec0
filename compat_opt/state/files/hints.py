"""What a caller knows about a file that the file itself does not tell."""


class Hints:
    """Every argument may be None: the file says it.

    Args:
        optimizer: which optimizer of the file: its path in a checkpoint ("generator_optimizer").
        class_name: of the native class, or of the rule ("Adam").
        config: the optimizer's get_config(), or a part of it.
        rule: the `UpdateRule` class of an optimizer that was compiled from a rule of your own.
        variables: [(path, shape)] of the model's trainable variables, in order.
    """

    def __init__(self, optimizer=None, class_name=None, config=None, rule=None, variables=None):
        self.optimizer = optimizer
        self.class_name = class_name
        self.config = dict(config or {})
        self.rule = rule
        self.variables = None if variables is None else [_named(v) for v in variables]


def _named(variable):
    if isinstance(variable, (tuple, list)):
        path, shape = variable[:2]
        return str(path), tuple(shape), variable[2] if len(variable) > 2 else None
    name = getattr(variable, "path", None) or variable.name.split(":")[0]
    return name, tuple(int(size) for size in variable.shape), None
