"""What a constructor does with its own defaults, for what it does with other arguments in a way that is not understood."""

from compat_opt.codemod.constructor import Constructor
from compat_opt.codemod.own import SHARED
from compat_opt.codemod.syntax import NotLiteral, is_literal
from compat_opt.codemod.values import DICT, LIST, NONE, STATIC, UNKNOWN, Value, settings_in, static


class AtDefaults(Constructor):
    """Follows ``__init__`` with each argument at its default: all its conditions are decided."""

    def _parameter(self, parameter, default, module):
        try:
            value = self.default_value(default, module) if default is not None else None
        except NotLiteral:
            return Value(UNKNOWN, data="the default of %s is not understood" % parameter.arg)
        if default is None:
            return Value(UNKNOWN, data="%s has no default" % parameter.arg)
        return NONE if value is None else static(value)

    def _dict_call(self, name, owner, node):
        if owner is self.others and name in ("get", "pop") and len(node.args) == 2:
            return self.value(node.args[1])
        return super()._dict_call(name, owner, node)


def settle(model):
    """Remember what the attributes that are not understood are with the constructor's defaults."""
    unknown = {name: value for name, value in model.attributes.items() if value.kind == UNKNOWN and value.data != SHARED}
    if not unknown:
        return
    other = model.fresh()
    AtDefaults(other).follow_constructor()
    for name, value in unknown.items():
        if model.is_changed_outside_constructor(name):
            continue
        found = other.attributes.get(name)
        plain = found is not None and (found is NONE or found.kind == STATIC and is_literal(found.node))
        if plain or found is not None and found.kind in (DICT, LIST) and found.data in ({}, []):
            model.settled[name] = (found, settings_in(value.node) if value.node is not None else set())
