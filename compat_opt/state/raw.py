"""RawState: what a file or a native optimizer holds, before its names are those of a rule."""

import collections

#: What an entry can be. "unknown": the format gives a position only, or a name that no table has.
ROLES = ("iteration", "hyper", "shared", "slot", "average", "accumulator", "unknown")


class RawEntry(collections.namedtuple("RawEntry", "role variable name index value")):
    """One array of a `RawState`.

    Attributes:
        role: one of `ROLES`.
        variable: the path or name of the model variable that it belongs to; its position, an int,
            where the format gives an order only; None for what belongs to the whole optimizer.
        name: the native name: of the slot ("m" in OptimizerV2 and Keras 2, "momentum" in
            Keras 3), of the hyperparameter, or of the scalar; None where the format has none.
        index: the position in the format's own order, from 0.
        value: the array.
    """

    __slots__ = ()

    def __new__(cls, role, variable=None, name=None, index=None, value=None):
        """Raises `StateError` for a role that does not exist."""
        if role not in ROLES:
            from compat_opt.errors import StateError

            raise StateError("There is no such role.", "one of %s" % ", ".join(ROLES), "role=%r" % (role,))
        return super().__new__(cls, role, variable, name, index, value)


class RawState:
    """The entries of one optimizer, as its generation names and orders them.

    Attributes:
        generation: "optimizer_v2", "keras2" or "keras3"; None where it could not be told.
        class_name: of the native class ("Adam"), or of the rule.
        config: the optimizer's get_config(), where the format holds it, else {}.
        entries: `RawEntry`s in the format's order.
        variables: [(path, shape, dtype name)] of the model's variables in order, where known, else
            []; shape and dtype may be None.
        compiled: whether it was written by an optimizer compiled from a rule: slots have the
            rule's names already, in the order of `Core.state_variables`.
        dialect: a variation of the generation, as `natives` names them, or "" for the usual one.
        rule: the `UpdateRule` instance of a compiled optimizer, where it is known, else None.
        provenance: {"tensorflow", "keras", "format", "file", ...}: strings, for messages.
    """

    def __init__(
        self,
        generation,
        class_name,
        config=None,
        entries=(),
        provenance=None,
        variables=(),
        compiled=False,
        dialect="",
        rule=None,
    ):
        self.generation = generation
        self.class_name = class_name
        self.config = dict(config or {})
        self.entries = list(entries)
        self.provenance = dict(provenance or {})
        self.variables = list(variables)
        self.compiled = compiled
        self.dialect = dialect
        self.rule = rule

    def of_role(self, *roles):
        """The entries with one of these roles."""
        return [entry for entry in self.entries if entry.role in roles]

    def __repr__(self):
        return "RawState(%s %s, %d entries)" % (self.generation, self.class_name, len(self.entries))
