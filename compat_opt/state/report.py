"""Report: what became of each piece of state in a move."""

import collections

from compat_opt.errors import StateError

#: What can become of a piece. "moved": as it is; "renamed": under another name; "converted": the
#: same thing in another unit or dtype; "recomputed": from other pieces; "defaulted": nothing was
#: there, the optimizer's own first value stays; "dropped": no place for it; "set": a
#: hyperparameter got the record's value; "kept": a hyperparameter stays as the optimizer has it;
#: "differs": the optimizer's formula has another value built in.
KINDS = ("moved", "renamed", "converted", "recomputed", "defaulted", "dropped", "set", "kept", "differs")

#: One line. `what` names the piece ("momentum of d1/kernel"); `refused` is whether strict refuses.
Line = collections.namedtuple("Line", "kind what detail refused")


class Report:
    """The lines of one move, in order.

    Attributes:
        lines: a list of `Line`.
        target: what the state was written into, in words.
    """

    def __init__(self, target=""):
        self.target = target
        self.lines = []

    def add(self, kind, what, detail="", refused=False):
        """Add a line."""
        self.lines.append(Line(kind, what, detail, refused))

    def of_kind(self, kind):
        """The lines of one kind."""
        return [line for line in self.lines if line.kind == kind]

    def counts(self):
        """{kind: number of lines}, only kinds that occur."""
        found = collections.Counter(line.kind for line in self.lines)
        return {kind: found[kind] for kind in KINDS if found[kind]}

    def as_dict(self):
        """Everything as JSON-able data."""
        return {"target": self.target, "lines": [dict(line._asdict()) for line in self.lines]}

    def refuse(self, strict, remedy=""):
        """Raise where something has no place.

        Args:
            strict: whether to.
            remedy: what to do besides, for the message.

        Raises:
            StateError: there are such lines and `strict` is on.
        """
        refused = [line for line in self.lines if line.refused]
        if not refused or not strict:
            return
        named = "; ".join(_text(line) for line in refused[:8])
        more = "; and %d more" % (len(refused) - 8) if len(refused) > 8 else ""
        raise StateError(
            "The state does not fit the optimizer: %s%s." % (named, more),
            remedy="Nothing was changed. %sstrict=False moves what fits and reports the rest." % (remedy and remedy + " "),
            environment=self.target,
        )

    def __str__(self):
        if not self.lines:
            return "There was nothing to move."
        width = max(len(line.kind) for line in self.lines)
        return "\n".join("%-*s  %s" % (width, line.kind, _what(line)) for line in self.lines)


def _what(line):
    return line.what + (": " + line.detail if line.detail else "")


def _text(line):
    return "%s %s" % (line.kind, _what(line))
