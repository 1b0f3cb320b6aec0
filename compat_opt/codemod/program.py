"""The lines of the rule's methods, as they are written down while the old method is followed."""

import ast

from compat_opt.codemod.syntax import expression, names_in


class Line:
    """``name = node``, or ``node`` alone where name is None (a raise, as text)."""

    def __init__(self, name, node, kind, text=None):
        self.name, self.node, self.kind, self.text = name, node, kind, text
        self.comments, self.trailing = [], None
        self.beneath = False  # whether it is ``name, new_slots = super().update(...)``

    def reads(self):
        """Names that it reads."""
        return names_in(self.node) if self.node is not None else set()

    def writes(self):
        """Names that it binds."""
        return ({self.name} if self.name else set()) | ({"new_slots"} if self.beneath else set())


class Branch:
    """``if test: body else: orelse``; `test` is a Python value."""

    def __init__(self, test, body, orelse):
        self.test, self.body, self.orelse = test, body, orelse
        self.comments, self.trailing = [], None

    def reads(self):
        """Names that its test or a line in it reads."""
        found = names_in(self.test)
        for line in self.body + self.orelse:
            found |= line.reads()
        return found

    def writes(self):
        """Names that a line in it binds."""
        return set().union(*[line.writes() for line in self.body + self.orelse]) if self.body or self.orelse else set()

    @property
    def kind(self):
        """"scalar" if every line in it is one of the step, else "tensor"."""
        kinds = {line.kind for line in self.body + self.orelse}
        return "tensor" if "tensor" in kinds else "scalar"


def without_unused(lines, used):
    """`lines` less those whose result nothing reads; `used` are the names read afterwards."""
    kept, used = [], set(used)
    for line in reversed(lines):
        if isinstance(line, Branch):
            after = set(used)
            line.body, in_body = without_unused(line.body, after)
            line.orelse, in_else = without_unused(line.orelse, after)
            if not line.body and not line.orelse:
                _hand_on(line, kept)
                continue
            used = after | in_body | in_else | names_in(line.test)
        elif line.name is not None and not line.writes() & (used | {"new_slots"}) and not line.name.startswith("new_slots["):
            _hand_on(line, kept)
            continue
        else:
            used |= line.reads()
        kept.append(line)
    return kept[::-1], used


def _hand_on(dropped, kept):
    """Comments of a line that goes stay with the next."""
    if kept and dropped.comments:
        kept[-1].comments = dropped.comments + kept[-1].comments


def split_off_scalars(lines, results):
    """Divide the lines of a method into those of the step and those of each variable.

    A line goes to the first part if it and everything it reads is of the step, and no line that stays
    behind reads or writes the names it binds before it does.

    Returns:
        (lines of the step, lines of the variable, names that the second part reads from the first).
    """
    movable = [line.kind != "tensor" and not _stays(line) for line in lines]
    while True:
        changed = False
        stuck_reads, stuck_writes = set(), set()
        for position, line in enumerate(lines):
            if movable[position]:
                if line.writes() & (stuck_reads | stuck_writes) or line.reads() & stuck_writes:
                    movable[position], changed = False, True
            if not movable[position]:
                stuck_reads |= line.reads()
                stuck_writes |= line.writes()
        late_writes = set()
        for position in reversed(range(len(lines))):
            # A name that is bound again by a line that stays must not be taken from the step.
            if movable[position] and lines[position].writes() & late_writes:
                movable[position], changed = False, True
            if not movable[position]:
                late_writes |= lines[position].writes()
        if not changed:
            break
    first = [line for line, moves in zip(lines, movable) if moves]
    second = [line for line, moves in zip(lines, movable) if not moves]
    bound = set().union(*[line.writes() for line in first]) if first else set()
    read = set(results)
    for line in second:
        read |= line.reads()
    return first, second, bound & read


def _stays(line):
    if isinstance(line, Branch):
        return any(_stays(inner) for inner in line.body + line.orelse) or "slots" in names_in(line.test)
    return line.name is None or bool(line.reads() & {"grad", "var", "slots"}) or line.name.startswith("new_slots[")


def with_names_from_step(lines, names):
    """`lines` with each of `names` read as ``hyper.<name>``."""
    parts = {name: expression("hyper." + name) for name in names}

    class Replace(ast.NodeTransformer):
        def visit_Name(self, node):
            return parts.get(node.id, node)

    for line in lines:
        if isinstance(line, Branch):
            line.test = Replace().visit(line.test)
            with_names_from_step(line.body, names)
            with_names_from_step(line.orelse, names)
        elif line.node is not None:
            line.node = Replace().visit(line.node)
    return lines
