"""Classes that change the update of another optimizer: mixins, classes over a base that is an argument, wrappers.

Each becomes a rule that calls ``super().update(...)``: the rule beneath it is the one that comes after it among
the bases of a class.
"""

import ast
import collections

from compat_opt.codemod.syntax import dotted, is_literal, names_in
from compat_opt.codemod.values import WRAPPED, Refused, Value

#: kind: "mixin", "factory" or "wrapper"; base: what the rule's class derives from; function: of a factory;
#: argument: of a wrapper's constructor: the optimizer; attributes: under which a wrapper keeps it.
Beneath = collections.namedtuple("Beneath", "kind base function argument attributes")

#: The methods by which an optimizer is asked for its update.
HOOKS = ("_resource_apply_dense", "_resource_apply_sparse", "update_step")

#: Methods that an optimizer beneath may be asked to do for itself.
SETTING_UP = ("_create_slots", "_create_hypers", "_prepare", "_create_all_weights", "build")

#: What the update beneath reads through self: it must not be overridden.
_READ_BENEATH = (
    "_get_hyper", "get_slot", "_fallback_apply_state", "_resource_scatter_add", "_resource_scatter_update", "iterations",
    "_get_variable_index", "_var_key", "assign", "assign_add", "assign_sub",
)  # fmt: skip

#: Coefficients that built-in optimizers prepare for themselves.
_PREPARED_BENEATH = {
    "lr", "lr_t", "neg_lr_t", "beta_1_t", "beta_2_t", "beta_1_power", "beta_2_power", "one_minus_beta_1_t", "momentum",
    "one_minus_beta_2_t", "epsilon", "rho", "neg_rho", "one_minus_rho",
}  # fmt: skip


def find_beneath(module, name):
    """The `Beneath` of a class, or None where its whole update is its own or that of a known base."""
    found = module.classes[name]
    chain, built_in = module.lineage(name)
    nodes = [module.classes[owner].node for owner in chain]
    if found.enclosing is not None:
        arguments = [a.arg for a in found.enclosing.args.args]
        bases = [base for owner in chain for base in _from_outside(module, owner, arguments)]
        if len(bases) != 1 or bases[0] is None or built_in is not None or not _calls_super(nodes):
            return None
        return Beneath("factory", bases[0], found.enclosing.name, None, ())
    attributes = {
        call.func.value.attr
        for node in nodes
        for call in _calls(node)
        if call.func.attr in HOOKS and isinstance(call.func.value, ast.Attribute) and dotted(call.func.value.value) == "self"
    }
    argument = _argument_kept_as(nodes, attributes)
    if argument is not None:
        return Beneath("wrapper", "UpdateRule", None, argument, tuple(sorted(attributes)))
    strangers = [b for owner in chain for b in module.classes[owner].bases if dotted(b) not in module.classes]
    if built_in is None and all(dotted(b) == "object" for b in strangers) and _calls_super(nodes):
        return Beneath("mixin", "UpdateRule", None, None, ())
    return None


def _from_outside(module, owner, arguments):
    """The bases of a class that are no classes of its file; None for one that is no argument or does not come last."""
    bases = [dotted(base) for base in module.classes[owner].bases]
    outside = [base for base in bases if base not in module.classes and base != "object"]
    return [base if base in arguments and base == bases[-1] else None for base in outside]


def _calls(node):
    return [n for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]


def _calls_super(nodes):
    """Whether one of the classes hands on to the update of its base."""
    for node in nodes:
        for call in _calls(node):
            owner = call.func.value
            if call.func.attr in HOOKS and isinstance(owner, ast.Call) and dotted(owner.func) == "super":
                return True
    return False


def _argument_kept_as(nodes, attributes):
    """The constructor's argument that ``self.<attribute>`` is, if there is one such attribute."""
    constructors = [n for node in nodes for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
    if len(attributes) != 1 or not constructors:
        return None
    arguments = [a.arg for a in constructors[0].args.args[1:]]
    for statement in ast.walk(constructors[0]):
        if isinstance(statement, ast.Assign) and dotted(statement.targets[0]) == "self." + next(iter(attributes)):
            names = names_in(statement.value) & set(arguments)
            return names.pop() if len(names) == 1 else None
    return None


def refuse_what_reaches_beneath(model, executor):
    """Refuse a class that changes what the update beneath reads, other than by its gradient and variable."""
    for name in _READ_BENEATH:
        method = model.method(name)
        if method is not None:
            raise Refused("it overrides %s, which the update beneath it calls" % name, method[0])
    if model.reaches is not None:
        raise model.reaches
    if executor.beneath is None:
        raise Refused("it does not call the update beneath it", model.node)
    entries = executor.state.data["by place"].data
    changed = {key for key in entries if key in _PREPARED_BENEATH} - {"lr_t"}
    rate = entries.get("lr_t")
    if changed or rate is not None and not rate.same(model.hyper_value("learning_rate", model.node)):
        raise Refused("it changes the coefficients of the update beneath it", model.node)
    if model.beneath.kind == "wrapper" and not model.shares_steps:
        raise Refused("the optimizer inside counts its own steps", model.node)
    if model.measure or model.shared_new:
        raise Refused("it keeps or measures something for all variables, over an update that is not known", model.node)
    if model.beneath.kind == "factory":
        _refuse_names_of_the_function(model)


def _refuse_names_of_the_function(model):
    """Refuse a class that reads what the function around it was given or has computed, other than the base."""
    function = model.module.classes[model.name].enclosing
    inside = set(ast.walk(model.node))
    bound = {a.arg for a in function.args.args + function.args.kwonlyargs}
    bound |= {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n not in inside}
    for node in model.node.body:
        read = names_in(node) & (bound - {model.beneath.base})
        if read:
            raise Refused("it reads %s of the function around it" % sorted(read)[0], node)


def sets_beneath(node):
    """The argument that a call of ``super().__init__`` fixes for the constructor beneath, or None."""
    for keyword in node.keywords:
        known = keyword.arg in (None, "name", "learning_rate", "lr", "decay")
        if not known:
            return keyword.arg
    for argument in node.args:
        starred = isinstance(argument, ast.Starred)
        if not starred and dotted(argument) != "name" and not (is_literal(argument) and isinstance(_text_of(argument), str)):
            return "an argument"
    return None


def _text_of(node):
    return getattr(node, "value", getattr(node, "s", None))


def wrapped():
    """What the constructor's argument is that holds another optimizer."""
    return Value(WRAPPED, data="the optimizer inside")


def describe(model):
    """The note that says how the rule is put over another."""
    name, kind = model.node.name, model.beneath.kind
    if kind == "factory":
        return "%s is a rule now, and %s gives one: compile_rule makes the optimizer" % (model.beneath.base, model.beneath.function)
    what = "it wrapped an optimizer" if kind == "wrapper" else "a mixin"
    names = [spec.name for spec in model.hypers.values() if spec.name in model.read] + [s.name for s in model.slot_specs.values()]
    text = "%s: it goes before a rule, class %sAdam(%s, Adam)" % (what, name, name)
    return text + ("; that rule must not have %s of its own" % " or ".join(names) if names else "")
