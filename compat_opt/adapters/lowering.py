"""How updates are carried out: what engines share of the choice and of joining small variables."""

from compat_opt.adapters.update import Lowering

#: Variables of at most this many elements are joined; larger ones are worth a kernel of their own.
JOIN_LIMIT = 1 << 16


class Choice:
    """How one variable is updated: "plain", "joined", "xla", "fused", "rows" or "rows lazy", and why."""

    __slots__ = ("how", "kernel", "why")

    def __init__(self, how, why, kernel=None):
        self.how = how
        self.why = why
        self.kernel = kernel


def size_of(shape):
    """The number of elements of a static shape."""
    count = 1
    for length in shape:
        count *= length or 0
    return count


def common_choice(core, index):
    """The `Choice` that does not depend on the engine, or None: the variable is large."""
    layout = core.layout
    size = size_of(layout.shape(core.variables[index]))
    if layout.constraint(core.variables[index]) is not None:
        return Choice("plain", "it has a constraint")
    program = core.program(index)
    if not program.elementwise:
        return Choice("plain", "the rule is not elementwise: %s" % program.why)
    if size == 0:
        return Choice("plain", "it is empty")
    if size <= JOIN_LIMIT:
        return Choice("joined", "it has %d elements, and the rule is elementwise" % size)
    return None


class JoiningLowering(Lowering):
    """Joins the variables for which that was chosen.

    Args:
        executor: the framework's executor.
        choices: a `Choice` for each item of the call.
    """

    def __init__(self, executor, choices):
        self.executor = executor
        self.choices = choices

    def groups(self, items):
        """Joined variables of one section with the same dtypes, slots and decay make a group."""
        groups, by_key, dtype = [], {}, self.executor.dtype
        for position, (item, choice) in enumerate(zip(items, self.choices)):
            if choice.how != "joined":
                groups.append([position])
                continue
            key = (
                item.section,
                dtype(item.variable),
                tuple((name, dtype(slot)) for name, slot in item.slots.items()),
                item.decays,
            )
            if key not in by_key:
                by_key[key] = []
                groups.append(by_key[key])
            by_key[key].append(position)
        return groups
