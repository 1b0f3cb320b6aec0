"""What a class declares: its methods, attributes, hyperparameters and slots."""

import ast
import collections
import re

from compat_opt.codemod.beneath import find_beneath
from compat_opt.codemod.syntax import NotLiteral, dotted, expression, is_literal, literal, names_in, write
from compat_opt.codemod.values import DECAY, NONE, SCALAR, STATIC, UNKNOWN, Refused, Value, named, static
from compat_opt.spec.rule import RESERVED, UpdateRule

#: Constructor arguments that every compiled optimizer has itself.
ENGINE_ARGUMENTS = (
    "name decay lr clipnorm clipvalue global_clipnorm use_ema ema_momentum ema_overwrite_frequency "
    "gradient_accumulation_steps loss_scale_factor jit_compile use_locking kwargs args"
).split()

_CALLED_BY_TRAINING = ("apply_gradients", "minimize", "build", "update_step", "get_updates", "from_config", "apply")

#: What some names that a rule or a compiled optimizer has itself are called instead; the others get an ending.
_OTHER_NAMES = {
    "accumulator": "accum", "weight_decay": "decay_in_update", "sparse": "sparse_update", "measure": "measured",
    "prepare": "prepared",
}  # fmt: skip


def rule_name(name):
    """What a hyperparameter, slot or shared scalar of the old class is called in the rule."""
    taken = name in RESERVED or name in ENGINE_ARGUMENTS or hasattr(UpdateRule, name)
    return _OTHER_NAMES.get(name) or (name + "_value" if taken else name)


class Restart(Exception):
    """The class has to be followed again with more hyperparameters static."""

    def __init__(self, names):
        super().__init__(names)
        self.names = set(names)


class HyperSpec:
    """A hyperparameter of the new rule."""

    def __init__(self, name, default, line, static):
        self.name, self.default, self.lineno, self.static = name, default, line, static
        self.check, self.comment, self.required, self.inherited = None, None, False, False
        self.key = self.argument = name  # among the model's hypers, and in the old constructor


SlotSpec = collections.namedtuple("SlotSpec", "name init shape condition line")


class ClassModel:
    """One class of a file, with the bases whose code is known.

    Args:
        module: the `Module`.
        name: the class.
        base_module: ``name -> Module`` of the built-in optimizers' own update.
        static: names of hyperparameters that have to be static.
    """

    def __init__(self, module, name, base_module, static=()):
        self.module, self.name = module, name
        self.node = module.classes[name].node
        chain, self.built_in = module.lineage(name)
        self._base_module = base_module
        self.methods = []
        for owner in chain:
            self._add_methods(module, owner)
        if self.built_in:
            known = base_module(self.built_in)
            if known is not None:
                self._add_methods(known, self.built_in)
        self.forced_static = set(static)
        self.hypers, self.attributes, self.hyper_values = {}, {}, {}
        self.slot_specs = collections.OrderedDict()
        self.renamed_slots, self.conditional, self.considered = {}, set(), set()
        self.engine_decay, self.notes, self.used_comments = None, [], set()
        self.measure = self.sparse = None
        self.beneath, self.reaches, self.shares_steps = find_beneath(module, name), None, False
        self.hook_comments = []
        self.shared, self.shared_new, self.read = {}, {}, set()
        self.settled, self.settled_read = {}, {}
        self.attributes_read, self.attributes_set, self.moved, self.variables = set(), {}, {}, set()

    def fresh(self):
        """The same class before anything of it has been followed."""
        return ClassModel(self.module, self.name, self._base_module, self.forced_static)

    def _add_methods(self, module, owner):
        body = module.classes[owner].node.body
        last = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
        for node in body:
            if isinstance(node, ast.FunctionDef):
                if last[node.name] is not node and not _is_property_part(node, last[node.name]):
                    continue  # defined again further down: that one counts
                self.methods.append((node.name, (node, owner, module)))
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.methods.append(("class attribute " + node.targets[0].id, node.value))

    def note(self, node, text):
        """Something that needs a person's eye, at the line of `node`."""
        about = node.name if isinstance(node, HyperSpec) and (node.name in self.read) else None
        entry = (getattr(node, "lineno", None) or self.node.lineno, text, about)
        if entry not in self.notes:
            self.notes.append(entry)

    # -- methods -------------------------------------------------------------------------------

    def method(self, name, after=None):
        """(function, class, module) of a method; `after` a class of the lineage, for super()."""
        seen_after = after is None
        owners = []
        for key, entry in self.methods:
            if isinstance(entry, tuple) and entry[1] not in owners:
                owners.append(entry[1])
        allowed = owners if after is None else owners[owners.index(after) + 1 :] if after in owners else owners
        for key, entry in self.methods:
            if key == name and entry[1] in allowed and (seen_after or entry[1] != after):
                return entry
        return None

    def is_changed_outside_constructor(self, name):
        """Whether a method other than the constructor sets ``self.name``, an element of it, or calls a method that adds to it."""
        text = "self." + name
        for _, (function, _, _) in [entry for entry in self.methods if isinstance(entry[1], tuple) and entry[0] != "__init__"]:
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and dotted(node.func.value) == text:
                    if node.func.attr not in ("keys", "values", "items", "get", "copy"):
                        return True
                elif isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
                    if text in (dotted(node), dotted(getattr(node, "value", None))):
                        return True
        return False

    def own_methods(self):
        """Names of the methods of this file that training does not call."""
        names = [key for key, entry in self.methods if isinstance(entry, tuple) and entry[2] is self.module]
        return [name for name in dict.fromkeys(names) if not name.startswith("_") and name not in _CALLED_BY_TRAINING]

    def sets(self, method):
        """Names of the attributes that a method sets."""
        found = self.method(method)
        nodes = ast.walk(found[0]) if found is not None else ()
        own = [n for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]
        return {n.attr for n in own if dotted(n.value) == "self"}

    # -- hyperparameters -----------------------------------------------------------------------

    def declare(self, name, default, node, required=False):
        """Declare a constructor argument; its `Value`."""
        if name in ("decay", "lr") or name == "initial_decay":
            return DECAY if name != "lr" else self.declare("learning_rate", default, node)
        known = self.hypers.get(name)
        if known is None:
            new = rule_name(name.lstrip("_"))
            fixed = self.is_static(name, default) and not (required and name not in self.forced_static)
            known = self.hypers[name] = HyperSpec(new, default, getattr(node, "lineno", None), fixed)
            known.required, known.key, known.argument = required, name, name
        return self.value_of(name)

    def is_static(self, name, default):
        """Whether a hyperparameter steers Python code: flags, words, and what has been asked for."""
        return isinstance(default, (bool, str, tuple, list)) or name in self.forced_static or default is None

    def value_of(self, name):
        """The value that a hyperparameter is read as."""
        spec = self.hypers[name]
        owner = "self" if spec.static else "hyper"
        return Value(STATIC if spec.static else SCALAR, expression("%s.%s" % (owner, spec.name)))

    def decay_rate(self, node):
        """The hyper `rate` of ``var - learning_rate * var * rate``, in any order; None for another expression."""
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub) or write(node.left) != "var":
            return None
        factors, waiting = [], [node.right]
        while waiting:
            part = waiting.pop()
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult):
                waiting += [part.left, part.right]
            else:
                factors.append(write(part))
        for spec in self.hypers.values():
            for owner in ("hyper", "self"):
                if sorted(factors) == sorted(["hyper.learning_rate", "var", "%s.%s" % (owner, spec.name)]):
                    return spec
        return None

    def spec_of(self, value):
        """The `HyperSpec` that a value reads as it is, or None."""
        node = value.node
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("hyper", "self"):
            for spec in self.hypers.values():
                if spec.name == node.attr:
                    return spec
        return None

    def hyper_value(self, name, node):
        """What ``_get_hyper(name)`` gives."""
        if name in ("decay",):
            return DECAY
        if name in self.hyper_values:
            return self.hyper_values[name]
        if name == "learning_rate":
            if "learning_rate" not in self.hypers:
                self.declare("learning_rate", 0.001, node, required=True)
                self.hypers["learning_rate"].inherited = self.beneath is not None
            return self.value_of("learning_rate")
        raise Refused("the hyperparameter %s is set nowhere that is understood" % name, node)

    def attribute(self, name, node):
        """``self.name`` as the constructor has set it, or None."""
        if name in self.attributes:
            return self.attributes[name]
        if name in ("_initial_decay", "initial_decay", "decay"):
            return DECAY
        for key, entry in self.methods:
            if key == "class attribute " + name:
                try:
                    return NONE if literal(entry) is None else static(literal(entry))
                except NotLiteral:
                    return Value(UNKNOWN, data="the class attribute %s is not understood" % name)
        if name in self.hyper_values:
            return self.hyper_values[name]
        return None

    def consider_static(self, names):
        """Decide whether hypers that steer an if become static, or the if becomes a choice of values.

        Static are those that also say which slots exist, and whole numbers.
        """
        wanted = set()
        conditions = " ".join(spec.condition or "" for spec in self.slot_specs.values())
        for name, spec in self.hypers.items():
            if spec.name in names and not spec.static:
                self.considered.add(name)
                if re.search(r"\bhyper\.%s\b" % spec.name, conditions):
                    wanted.add(name)
                elif isinstance(spec.default, int) and "decay" not in name:
                    wanted.add(name)
        if wanted:
            raise Restart(wanted)

    def declare_shared(self, name, first):
        """Declare a scalar of the optimizer; its name in the rule."""
        key = name.strip("_")
        key = rule_name(key)
        if any(spec.name == key for spec in self.hypers.values()):
            key += "_shared"
        self.shared[key] = first
        return key

    def holds_by_default(self, test):
        """Whether a Python test on static hyperparameters is true with their defaults; None where that can't be told."""
        values = collections.namedtuple("Defaults", [spec.name for spec in self.hypers.values()], rename=True)
        scope = {"self": values(*[spec.default for spec in self.hypers.values()])}
        try:
            return bool(eval(write(test), {"__builtins__": {}}, scope))  # our own expression, of names and literals
        except Exception:
            return None

    # -- slots ---------------------------------------------------------------------------------

    def add_slot(self, key, init, shape, conditions, node):
        """Declare a slot under the name of the old code."""
        name = key.strip("_") or "slot"
        name = rule_name(name)
        if any(spec.name == name for spec in self.hypers.values()) or name in self.hyper_values:
            name = "velocity" if name == "momentum" and "velocity" not in self.slot_specs else name + "_slot"
        if not name.isidentifier():
            raise Refused("the slot's name %r is no identifier" % key, node)
        condition = " and ".join("(%s)" % c if " or " in c else c for c in conditions) or None
        if key not in self.slot_specs:
            self.slot_specs[key] = SlotSpec(name, init, shape, condition, getattr(node, "lineno", None))
        return key

    def slot(self, key, node):
        """The `SlotSpec` of a slot."""
        if key not in self.slot_specs:
            raise Refused("the slot %r is created nowhere that is understood" % key, node)
        return self.slot_specs[key]

    def slot_present_when(self, test):
        """``"name" in slots`` where that is what a test on hypers asks, else None."""
        text = write(test)
        for spec in self.slot_specs.values():
            if spec.condition == text:
                return expression('"%s" in slots' % spec.name)
        return None

    def exists_only_when(self, key, test, positive):
        """Whether a slot exists exactly where `test` (or, not positive, its opposite) holds."""
        condition = self.slot(key, None).condition
        if condition is None:
            return False
        texts = [write(test)]
        for spec in self.slot_specs.values():
            if texts[0] == '"%s" in slots' % spec.name and spec.condition:
                texts.append(spec.condition)
        if not positive:
            texts = ["not " + text for text in texts]
        return condition in texts


def _is_property_part(first, last):
    """Whether the later of two definitions is a setter of the first."""
    return any(isinstance(d, ast.Attribute) and d.attr in ("setter", "deleter") for d in last.decorator_list)


def folded(node):
    """The Python value of a default: literals, and arithmetic on them. NotLiteral for anything else."""
    if isinstance(node, ast.BinOp) and not names_in(node):
        left, right = folded(node.left), folded(node.right)
        if isinstance(left, (int, float)) and isinstance(right, (int, float)):
            operations = {
                "Add": lambda: left + right, "Sub": lambda: left - right, "Mult": lambda: left * right,
                "Div": lambda: left / right, "Pow": lambda: left**right,
            }  # fmt: skip
            if type(node.op).__name__ in operations:
                return operations[type(node.op).__name__]()
    return literal(node)


__all__ = ["ClassModel", "HyperSpec", "Restart", "SlotSpec", "folded", "is_literal", "named"]
