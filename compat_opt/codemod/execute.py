"""Statements of the old class's methods, followed in order: assignments to handles become new values."""

import ast
import copy

from compat_opt.codemod import kernels
from compat_opt.codemod.evaluate import NAMED, Evaluator
from compat_opt.codemod.program import Branch, Line
from compat_opt.codemod.syntax import dotted, expression, is_literal, literal, names_in, write
from compat_opt.codemod.values import (
    COMPUTED, DICT, EFFECT, FUNCTION, HANDLE, INDEX, LIST, MODULE, NONE, NOTHING, PLACE, ROW_NUMBERS, ROWS, SCALAR,
    SELF, SHAPE, STATIC, SUPER, TENSOR, UNKNOWN, Refused, Value, hypers_in, named, static, widest,
)  # fmt: skip

#: Names that have a meaning of their own in a rule's methods.
_TAKEN = {"self", "grad", "var", "slots", "hyper", "ops", "shared", "new_slots", "touched", "step"}

#: What an attribute is that the constructor has made a variable of its own with a number as first value.
SHARED = "a variable of the optimizer"

_TOOL_COMMENTS = ("# pylint", "# type:", "# pytype", "# noqa", "# fmt", "# pragma")


class Frame:
    """The names of one call: of the hook itself, or of a method or function that is followed inside it."""

    def __init__(self, env, module, class_name=None, outer=None, depth=0):
        self.env, self.module, self.class_name, self.outer, self.depth = env, module, class_name, outer, depth

    def inner(self):
        """A frame for a comprehension: the same names, and its own."""
        return Frame(dict(self.env), self.module, self.class_name, self, self.depth)


class Executor(Evaluator):
    """Follows one hook of a class and writes down the lines that a rule needs for it.

    Args:
        model: the `ClassModel`: attributes, hyperparameters, slots, methods.
        sparse: follow the sparse side: the gradient stands for its rows.
    """

    def __init__(self, model, sparse=False, comments=True):
        self.model, self.sparse = model, sparse
        self.frame = Frame({}, model.module)
        self.out, self.now, self.taken = [], {}, set(_TAKEN)
        self.pending, self.comments = [], comments and not sparse
        self.hint, self.always_fresh, self.conditions = None, False, []
        self.deferred, self.updated = False, set()
        self.state = Value(DICT, data={"by place": Value(DICT, data={})})

    @property
    def module(self):
        """The file whose code is being followed."""
        return self.frame.module

    # -- handles -------------------------------------------------------------------------------

    def current(self, key, node):
        """What a handle holds now."""
        if self.deferred and key in self.updated:
            raise Refused("a variable is read after its update was queued; the order in which they run is open", node)
        if key in self.now:
            if self.now[key].kind == UNKNOWN:
                raise Refused(self.now[key].data, node)
            return self.now[key]
        if key == "var":
            return named(TENSOR, "var")
        if key == "grad":
            return named(ROWS if self.sparse else TENSOR, "grad")
        return named(TENSOR, "slots." + self.model.slot(key, node).name)

    def assign(self, handle, value, node):
        """Give a handle a new value; returns it."""
        if handle.kind != HANDLE:
            raise Refused("something other than the variable or a slot is assigned", node)
        if value.kind == ROWS:
            raise Refused("rows of a sparse gradient are assigned to a whole variable", node)
        key = handle.data
        self.last_assigned = value.node
        if not isinstance(value.node, ast.Name) or value.text() in ("grad", "var"):
            wanted = "new_var" if key == "var" else self.model.slot(key, node).name
            if self.hint and self.hint[0] is node:
                wanted = self.hint[1]
            value = self.emit(wanted, Value(TENSOR, value.node))
        self.now[key] = Value(TENSOR, value.node, key)
        self.updated.add(key)
        return self.now[key]

    # -- lines ---------------------------------------------------------------------------------

    def emit(self, name, value):
        """Write ``name = value`` down, under another name where `name` is still needed; returns the local."""
        name = self.free_name(name)
        line = Line(name, value.node, value.kind if value.kind in (SCALAR, STATIC) else "tensor")
        line.comments, self.pending = self.pending, []
        self.out.append(line)
        self.taken.add(name)
        return Value(value.kind, ast.Name(name, ast.Load()), value.data)

    def free_name(self, name):
        """`name`, or `name` with a number where a value that is still needed has it."""
        name = name.lstrip("_") or "value"
        if name in ("lambda", "var", "grad", "slots", "hyper", "ops", "self", "shared", "step") and name != "grad":
            name += "_"
        if name == "grad" and not self.always_fresh and not self._is_needed("grad"):
            return name
        base, number = name, 1
        while (name in self.taken and (self.always_fresh or self._is_needed(name))) or name in _TAKEN:
            number += 1
            name = "%s_%d" % (base, number)
        return name

    def _is_needed(self, name):
        frame = self.frame
        owner = self.target
        while frame is not None:
            for key, value in frame.env.items():
                if (frame is self.frame and key == owner) or (frame is not self.frame and key == owner):
                    continue
                if _mentions(value, name):
                    return True
            frame = frame.outer
        if any(_mentions(value, name) for value in self.now.values()):
            return True
        return _mentions(self.state, name)

    target = last_assigned = None

    # -- statements ----------------------------------------------------------------------------

    def run(self, statements):
        """Follow statements; the value that they return, or None."""
        for position, statement in enumerate(statements):
            self._note_comments(statement)
            if isinstance(statement, ast.If):
                result, done = self._if(statement, statements[position + 1 :])
                if done:
                    return result
                continue
            if isinstance(statement, ast.Return):
                return NONE if statement.value is None else self.value(statement.value)
            self.statement(statement)
        return None

    def _note_comments(self, statement):
        """Keep the comments above a statement for the next line that is written."""
        if not self.comments or self.module is not self.model.module:
            return
        found = self.module.comments
        line = statement.lineno - 1
        above = []
        while line in found and found[line][1]:
            if not found[line][0].startswith(_TOOL_COMMENTS) and line not in self.model.used_comments:
                above.insert(0, found[line][0])
                self.model.used_comments.add(line)
            line -= 1
        beside = found.get(statement.lineno)
        if beside and not beside[1] and not beside[0].startswith(_TOOL_COMMENTS):
            if statement.lineno not in self.model.used_comments:
                self.model.used_comments.add(statement.lineno)
                above.append(beside[0])
        self.pending += above

    def statement(self, node):
        """One statement that is neither an if nor a return."""
        method = getattr(self, "_do_" + type(node).__name__, None)
        if method is None:
            raise Refused("a %s statement is not understood here" % type(node).__name__, node)
        try:
            return method(node)
        except Refused as refused:
            raise refused.at(node)

    def _do_Pass(self, node):
        pass

    _do_Global = _do_Import = _do_ImportFrom = _do_Assert = _do_Delete = _do_Pass

    def _do_FunctionDef(self, node):
        self.frame.env[node.name] = Value(FUNCTION, data=(node, self.frame))

    def _do_Expr(self, node):
        if is_literal(node.value):
            return
        self.value(node.value)

    def _do_With(self, node):
        for item in node.items:
            value = self.value(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value, node)
        if self.run(node.body) is not None and not _ends_in_return(node.body):
            raise Refused("a return in the middle of a with block", node)

    def _do_Raise(self, node):
        self.out.append(Line(None, None, STATIC, text=ast_segment(self.module, node)))

    def _do_Assign(self, node):
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.target = target.id
                self.hint = (node.value, target.id)
            value = self.value(node.value)
            self.bind(target, value, node)
            self.target = self.hint = None

    def _do_AnnAssign(self, node):
        if node.value is not None:
            self.bind(node.target, self.value(node.value), node)

    def _do_AugAssign(self, node):
        if isinstance(node.target, ast.Name):
            old = self.value(node.target)
            if old.kind in (LIST, NOTHING):
                self.value(node.value)
                return
            self.target = node.target.id
            value = self.binary(node.op, self.read(old, node), self.computed(node.value), node)
            self.bind(node.target, value, node)
            self.target = None
            return
        if dotted(node.target) in ("self.updates",):
            self.value(node.value)
            return
        raise Refused("this augmented assignment is not understood", node)

    def bind(self, target, value, node):
        """Bind a name, an attribute, an entry or several names."""
        if isinstance(target, ast.Name):
            self.target = target.id
            self.frame.env[target.id] = self.local(target.id, value)
            self.target = None
        elif isinstance(target, (ast.Tuple, ast.List)):
            if value.kind == NOTHING:
                values = [value] * len(target.elts)
            elif value.kind == LIST and isinstance(value.data, list) and len(value.data) == len(target.elts):
                values = value.data
            else:
                raise Refused("the values that are unpacked here are not known", node)
            for part, element in zip(target.elts, values):
                self.bind(part, element, node)
        elif isinstance(target, ast.Attribute):
            self.bind_attribute(target, value, node)
        elif isinstance(target, ast.Subscript):
            self.bind_entry(target, value, node)
        else:
            raise Refused("this target of an assignment is not understood", node)

    def local(self, name, value):
        """The value that a local name gets: an atom is only remembered, anything else is written down."""
        if value.kind not in COMPUTED or is_atom(value.node):
            return value
        return self.emit(name, value)

    def bind_attribute(self, target, value, node):
        """``self.x = ...`` inside the update: only what the old base class keeps anyway."""
        if dotted(target) in ("self.updates", "self.weights", "self._weights"):
            return
        raise Refused("the update keeps state in the Python attribute %s" % (dotted(target) or "of an object"), node)

    def bind_entry(self, target, value, node):
        """``d[key] = value``."""
        owner = self.value(target.value)
        index = target.slice
        index = getattr(index, "value", index) if type(index).__name__ == "Index" else index
        if owner.kind == NOTHING:
            return
        if owner.kind != DICT:
            raise Refused("this element can't be assigned", node)
        if is_literal(index):
            owner.data[literal(index)] = self.named_entry(literal(index), value)
        else:
            owner.data["by place"] = value

    def named_entry(self, key, value):
        """A dict's entry; an expression is written down under its key."""
        if isinstance(key, str) and key.isidentifier():
            self.target = None
            return self.local(key, value)
        return value

    # -- ifs -----------------------------------------------------------------------------------

    def _if(self, node, rest):
        """Follow an if. Returns (value, whether the rest of the block was followed too)."""
        if _only_raises(node.body) and not node.orelse:
            return None, False  # a check of arguments: a rule gets what the compiled optimizer has checked
        test = self.value(node.test)
        if test.kind == UNKNOWN and test.data == NAMED:
            return self._decay_by_name(test, node)
        truth = self.truth_of(test)
        returns = _ends_in_return(node.body) or _ends_in_return(node.orelse)
        if truth is not None:
            chosen = node.body if truth else node.orelse
            result = self.run(chosen)
            if result is not None or _ends_in_return(chosen):
                return result, True
            return None, False
        test = self.steering(self.read(test, node.test), node)
        body, orelse = list(node.body), list(node.orelse)
        if returns:
            if not _ends_in_return(body):
                body += rest
            if not _ends_in_return(orelse):
                orelse += rest
        one, two = self._followed(test, body, orelse, node)
        if returns:
            return self._joined_result(one, two, node), True
        return None, False

    def _decay_by_name(self, test, node):
        """``if self._do_use_weight_decay(var.name): var.assign_sub(lr * var * rate)``: the engine's weight decay."""
        if "var" in self.now or any("var" in line.reads() for line in self.out) or node.orelse:
            raise Refused(NAMED, node)
        outer, self.out = self.out, []
        self.run(node.body)
        self.out = outer
        decayed = self.now.pop("var", None)
        rate = decayed and self.model.decay_rate(self.last_assigned)
        if rate is None:
            raise Refused(NAMED, node)
        rate.name, rate.static = "weight_decay", False
        self.model.engine_decay = self.model.value_of(rate.key)
        self.model.note(
            node,
            "weight decay is the compiled optimizer's own here; for the variables that %s left out, call "
            "exclude_from_weight_decay(var_names=[...])" % (write(test.node) if test.node is not None else "a name test"),
        )
        return None, _ends_in_return(node.body)

    def steering(self, test, node):
        """A test as it may stand in a Python if; asks for hypers to be static where they must be."""
        if test.kind == ROWS:
            raise Refused("a gradient's rows steer the update", node)
        if test.kind == SCALAR and hypers_in(test.node) and "step" not in hypers_in(test.node):
            negated = isinstance(test.node, ast.Call) and test.node.func.attr == "logical_not"
            slot = self.model.slot_present_when(test.node.args[0] if negated else test.node)
            if slot is not None:
                return Value(STATIC, ast.UnaryOp(ast.Not(), slot) if negated else slot)
            self.model.consider_static(hypers_in(test.node))
        return test

    def _followed(self, test, body, orelse, node):
        """Follow both sides, and join what they leave behind; returns their results."""
        before_now, before_env = dict(self.now), dict(self.frame.env)
        comments, self.pending = self.pending, []
        outer, selecting = self.out, test.kind != STATIC
        sides = []
        for statements in (body, orelse):
            self.now, self.frame.env = dict(before_now), dict(before_env)
            fresh = self.always_fresh
            self.out = outer if selecting else []
            self.always_fresh = fresh or selecting
            self.conditions.append(write(test.node))
            start = len(self.out)
            result = self.run(statements)
            self.conditions.pop()
            self.always_fresh = fresh
            if selecting and any(line.name is None for line in self.out[start:] if isinstance(line, Line)):
                raise Refused("a raise under a condition that is only known while training", node)
            sides.append((result, self.out, self.now, self.frame.env))
        self.out = outer
        if selecting:
            self._select(test, sides, before_env, comments)
        else:
            self._branch(test, sides, before_env, before_now, comments)
        return sides[0][0], sides[1][0]

    def _select(self, test, sides, before_env, comments):
        """Join two sides that were both computed: take one of each value by ops.where."""
        self.pending = comments + self.pending
        one, two = sides[0], sides[1]
        self.now, self.frame.env = {}, {}
        for key in set(one[2]) | set(two[2]):
            first, second = one[2].get(key), two[2].get(key)
            missing = named(TENSOR, "var" if key == "var" else "slots." + self.model.slot(key, None).name)
            first, second = first or missing, second or missing
            if first.same(second):
                self.now[key] = first
            else:
                name = "new_var" if key == "var" else self.model.slot(key, None).name
                self.now[key] = self.emit(name, self._chosen(test, first, second, TENSOR))
        for name in list(dict.fromkeys(list(one[3]) + list(two[3]))):
            first, second = one[3].get(name), two[3].get(name)
            if first is None or second is None or first.same(second):
                self.frame.env[name] = first or second
            elif first.kind in COMPUTED and second.kind in COMPUTED:
                self.target = name
                kind = widest(first, second, test)
                self.frame.env[name] = self.emit(name, self._chosen(test, first, second, kind))
                self.target = None
            else:
                self.frame.env[name] = Value(UNKNOWN, data="%s depends on a condition" % name)

    def _chosen(self, test, first, second, kind):
        nodes = [first.node, second.node]
        for position in (0, 1):
            if isinstance(nodes[position], ast.Name) and nodes[position].id not in names_in(nodes[1 - position]):
                nodes[position] = self._unnamed(nodes[position])
        return Value(kind, expression("ops.where(A, B, C)", A=test.node, B=nodes[0], C=nodes[1]))

    def _unnamed(self, node):
        """The expression of a local that was written down last and is read nowhere else."""
        last = self.out[-1] if self.out else None
        if isinstance(last, Line) and last.name == node.id and not self._is_needed(node.id):
            line = self.out.pop()
            self.pending = line.comments + self.pending
            return line.node
        return node

    def _branch(self, test, sides, before_env, before_now, comments):
        """Join two sides of a Python if: what differs gets one name on both."""
        (_, out_one, now_one, env_one), (_, out_two, now_two, env_two) = sides
        branch = Branch(test.node, out_one, out_two)
        branch.comments = comments
        raises = [bool(out) and isinstance(out[-1], Line) and out[-1].text is not None for out in (out_one, out_two)]
        if raises[0] or raises[1]:  # one side never gets to the end
            kept = sides[0] if raises[1] else sides[1]
            self.now, self.frame.env = kept[2], kept[3]
            if not all(raises) or out_one or out_two:
                self.out.append(branch)
            return
        self.now, self.frame.env = {}, {}
        for key in list(dict.fromkeys(list(now_one) + list(now_two))):
            first, second = now_one.get(key), now_two.get(key)
            if first is not None and second is not None and first.same(second):
                self.now[key] = first
                continue
            if key != "var" and self.model.slot(key, None).condition is not None:
                self._conditional_slot(key, test, (first, second), (out_one, out_two), before_now.get(key))
                continue
            fallback = before_now.get(key) or named(
                TENSOR, "var" if key == "var" else "slots." + self.model.slot(key, None).name
            )
            name = "new_var" if key == "var" else self.model.slot(key, None).name
            self.now[key] = self._one_name(name, (first or fallback, second or fallback), (out_one, out_two))
        for name in list(dict.fromkeys(list(env_one) + list(env_two))):
            first, second = env_one.get(name), env_two.get(name)
            if first is None or second is None or first is second or first.same(second):
                self.frame.env[name] = first or second
            elif first.kind in COMPUTED and second.kind in COMPUTED:
                self.target = name
                self.frame.env[name] = self._one_name(name, (first, second), (out_one, out_two))
                self.target = None
            elif first.kind == NOTHING or second.kind == NOTHING:
                self.frame.env[name] = second if first.kind == NOTHING else first
                if first is NONE or second is NONE:
                    self.frame.env[name] = Value(NOTHING, data="a value of one branch only")
            else:
                self.frame.env[name] = Value(UNKNOWN, data="%s depends on a condition" % name)
        if out_one or out_two:
            self.out.append(branch)

    def _conditional_slot(self, key, test, values, outs, before):
        """A slot that does not always exist is given back in the branch that has changed it."""
        name = self.model.slot(key, None).name
        for value, out in zip(values, outs):
            if value is not None and (before is None or not value.same(before)):
                out.append(Line('new_slots["%s"]' % name, value.node, "tensor"))
        self.model.conditional.add(key)
        present = values[0] or values[1]
        if self.model.exists_only_when(key, test.node, values[0] is not None) and None in values:
            self.now[key] = present
        else:
            self.now[key] = Value(UNKNOWN, present.node, "the slot %s after an if that may have changed it" % name)

    def _one_name(self, name, values, outs):
        """End both sides with the same local; returns it."""
        texts = [value.text() if isinstance(value.node, ast.Name) else None for value in values]
        own = [t for t, out in zip(texts, outs) if t and any(isinstance(x, Line) and x.name == t for x in out)]
        bound_before = own and any(t == own[0] for t in texts if t not in own)
        name = own[0] if own and not bound_before and own[0] not in ("grad", "var") else self.free_name(name)
        for value, out, text in zip(values, outs, texts):
            if text != name:
                out.append(Line(name, value.node, value.kind if value.kind in (SCALAR, STATIC) else "tensor"))
        self.taken.add(name)
        return Value(widest(*values) if ROWS not in (values[0].kind, values[1].kind) else ROWS, ast.Name(name, ast.Load()))

    def _joined_result(self, one, two, node):
        if one is None or two is None:
            return one or two
        if one.kind in COMPUTED and two.kind in COMPUTED and not one.same(two):
            raise Refused("a method returns one of two values", node)
        return one

    # -- calls ---------------------------------------------------------------------------------

    def arguments(self, function, node, bound=True):
        """``{parameter: value}`` of a call; `bound` skips self."""
        parameters = [a.arg for a in function.args.args]
        if bound and parameters and parameters[0] == "self":
            parameters = parameters[1:]
        defaults = dict(zip(parameters[::-1], function.args.defaults[::-1]))
        for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults):
            parameters.append(argument.arg)
            if default is not None:
                defaults[argument.arg] = default
        given, extra = {}, {}
        positional = [self.value(a) for a in node.args]
        given.update(zip(parameters, positional))
        for keyword in node.keywords:
            if keyword.arg is None:
                value = self.value(keyword.value)
                if value.kind == DICT:
                    extra.update(value.data)
                continue
            extra[keyword.arg] = self.value(keyword.value)
        for key, value in extra.items():
            if key in parameters:
                given[key] = value
            elif function.args.kwarg is None:
                raise Refused("%s() has no argument %s" % (function.name, key), node)
        for parameter in parameters:
            if parameter not in given:
                given[parameter] = self.value(defaults[parameter]) if parameter in defaults else NONE
        if function.args.kwarg is not None:
            given[function.args.kwarg.arg] = Value(DICT, data={k: v for k, v in extra.items() if k not in parameters})
        if function.args.vararg is not None:
            given[function.args.vararg.arg] = Value(LIST, data=positional[len(parameters) :])
        return given

    def call(self, function, node):
        """A call of something that is not a framework's."""
        what, owner = function.data
        if what == "read":
            return self.read(owner, node)
        if isinstance(what, str) and what.startswith("method "):
            return self.method_call(what[len("method ") :], owner, node)
        if isinstance(what, str):
            return getattr(self, what)(owner, node)
        if isinstance(what, ast.Lambda):
            parameters = [a.arg for a in what.args.args]
            frame = Frame(dict(owner.env), owner.module, owner.class_name, self.frame, self.frame.depth + 1)
            frame.env.update(zip(parameters, [self.value(a) for a in node.args]))
            return self.inside(frame, lambda: self.value(what.body))
        module, class_name, env = self.module, None, {}
        if isinstance(owner, Frame):
            module, class_name, env = owner.module, owner.class_name, dict(owner.env)
        elif owner is not None:
            module, class_name = owner
        static_method = any(dotted(d) == "staticmethod" for d in what.decorator_list)
        given = self.arguments(what, node, bound=not static_method)
        if any(v.kind == UNKNOWN and v.data == NAMED for v in given.values()):
            return Value(UNKNOWN, ast.Name(what.name, ast.Load()), NAMED)
        return self.follow(what, given, module, class_name, env)

    def follow(self, function, given, module, class_name, env=None):
        """Follow a function of the file with these arguments; its result."""
        if self.frame.depth > 8:
            raise Refused("functions call each other too deeply", function)
        if any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)) for n in ast.walk(function)):
            raise Refused("a generator", function)
        frame = Frame(dict(env or {}), module, class_name, self.frame, self.frame.depth + 1)
        frame.env.update(given)
        if class_name is not None:
            frame.env["self"] = Value(SELF)
        result = self.inside(frame, lambda: self.run(function.body))
        return NONE if result is None else result

    def inside(self, frame, action):
        """Do something in another frame."""
        previous, self.frame = self.frame, frame
        hint, target, self.hint, self.target = self.hint, self.target, None, None
        try:
            return action()
        finally:
            self.frame, self.hint, self.target = previous, hint, target

    def method_call(self, name, owner, node):
        """``owner.name(...)`` on a handle, a list, a dict or a tensor."""
        if owner.kind == SUPER:
            return self.super_call(name, owner, node)
        if owner.kind == HANDLE:
            return self.handle_call(name, owner, node)
        if owner.kind == DICT:
            return self._dict_call(name, owner, node)
        if owner.kind in (LIST, NOTHING, INDEX, UNKNOWN, SHAPE):
            for argument in node.args:
                if isinstance(argument, ast.Tuple) and name == "append" and len(argument.elts) == 2:
                    self._update_pair(argument)
                    continue
                self.value(argument)
            return Value(SHAPE, data="shape") if owner.kind == SHAPE else EFFECT
        if owner.kind in COMPUTED:
            if name in ("numpy", "read_value", "value"):
                return owner
            if owner.kind == TENSOR and (owner.data == "var" or owner.data in self.model.slot_specs):
                return self.handle_call(name, Value(HANDLE, data=owner.data), node)  # assign() returns its variable
        raise Refused("the method .%s is not understood" % name, node)

    def _update_pair(self, node):
        """``self.updates.append((variable, value))``."""
        target, value = self.value(node.elts[0]), self.computed(node.elts[1])
        if target.kind == SCALAR and isinstance(target.data, tuple):
            self.assign_shared(target, value, node)
        else:
            self.assign(target, value, node)

    def _dict_call(self, name, owner, node):
        if name in ("get", "pop"):
            index = node.args[0]
            if not is_literal(index):
                return owner.data.get("by place") or NONE
            if literal(index) in owner.data:
                return owner.data[literal(index)]
            return self.value(node.args[1]) if len(node.args) > 1 else NONE
        if name in ("update", "setdefault"):
            added = {k.arg: self.value(k.value) for k in node.keywords if k.arg}
            for argument in node.args:
                value = self.value(argument)
                if value.kind == DICT:
                    added.update(value.data)
            for key, value in added.items():
                owner.data[key] = self.named_entry(key, value)
            return NONE
        if name == "copy":
            return Value(DICT, data=dict(owner.data))
        if name in ("keys", "values", "items"):
            return Value(LIST, data=list(owner.data.values()))
        raise Refused("the dict method .%s is not understood" % name, node)

    def _call_dict(self, node):
        data = {k.arg: self.named_entry(k.arg, self.value(k.value)) for k in node.keywords if k.arg}
        return Value(DICT, data=data)

    def handle_call(self, name, handle, node):
        """A method of a variable or a slot."""
        if name in ("assign", "assign_add", "assign_sub"):
            return self.assigned(name, handle, self.computed(node.args[0]), node)
        if name in ("scatter_add", "scatter_sub", "scatter_update"):
            slices = self.value(node.args[0])
            self.scattered(name, handle, slices, node)
            return handle
        if name in ("value", "read_value", "numpy", "handle"):
            return self.read(handle, node)
        if name == "get_shape":
            return Value(SHAPE, data="shape")
        raise Refused("the method .%s of a variable is not understood" % name, node)

    def assigned(self, how, handle, value, node):
        """assign, assign_add or assign_sub."""
        if how.endswith("add") or how.endswith("sub"):
            old = self.read(handle, node)
            operator = ast.Add() if how.endswith("add") else ast.Sub()
            value = Value(widest(old, value), ast.BinOp(old.node, operator, value.node))
        return self.assign(handle, value, node)

    def scattered(self, how, handle, value, node):
        """Rows of a handle are changed; the others stay."""
        if not self.sparse:
            raise Refused("rows are scattered outside the sparse hook", node)
        old = self.read(handle, node)
        if value.kind not in (ROWS, SCALAR, STATIC):
            raise Refused("what is scattered is not made of the gradient's rows", node)
        if how.endswith("add"):
            text = "A + ops.where(touched, B, 0.0)"
        elif how.endswith("sub"):
            text = "A - ops.where(touched, B, 0.0)"
        else:
            text = "ops.where(touched, B, A)"
        return self.assign(handle, Value(TENSOR, expression(text, A=old.node, B=value.node)), node)

    def _named_assign(how):
        def call(self, node):
            if dotted(node.args[0]) == "self.iterations":
                return EFFECT
            handle = self.value(node.args[0])
            if handle.kind == SCALAR and isinstance(handle.data, tuple):
                if how != "assign":
                    raise Refused("a variable of the optimizer is added to", node)
                return self.assign_shared(handle, self.computed(node.args[1]), node)
            value = node.args[1] if len(node.args) > 1 else node.keywords[0].value
            return self.assigned(how, handle, self.computed(value), node)

        return call

    _call_assign = _call_update = _named_assign("assign")
    _call_assign_add = _call_update_add = _named_assign("assign_add")
    _call_assign_sub = _call_update_sub = _named_assign("assign_sub")

    def _call_moving_average_update(self, node):
        raise Refused("moving_average_update is not understood", node)

    def _call_ResourceScatterUpdate(self, node):
        parts = {k.arg: k.value for k in node.keywords}
        if len(node.args) < 3 and "resource" not in parts:
            raise Refused("the arguments of this scatter are not understood", node)
        if len(node.args) == 3:
            parts.update(zip(("resource", "indices", "updates"), node.args))
        handle = self.value(parts["resource"])
        how = {"Update": "scatter_update", "Add": "scatter_add", "Sub": "scatter_sub"}
        name = dotted(node.func).split(".")[-1].replace("_", "").lower()
        found = [kind for end, kind in how.items() if name.endswith(end.lower())]
        self.scattered(found[0], handle, self.value(parts["updates"]), node)
        return EFFECT

    _call_ResourceScatterAdd = _call_ResourceScatterSub = _call_ResourceScatterUpdate
    _call_resource_scatter_add = _call_resource_scatter_update = _call_ResourceScatterUpdate
    _call_resource_scatter_sub = _call_ResourceScatterUpdate

    def kernel(self, name, node):
        """A call of a fused update kernel, followed by its formula; None for any other function."""
        known, sparse = kernels.kernel_name(name)
        if known is None:
            return None
        if sparse and not self.sparse:
            raise Refused("a sparse kernel outside the sparse hook", node)
        env = {flag: static(value) for flag, value in kernels.FLAGS.items()}
        parameters = kernels.ARGUMENTS[known].split() + (["indices"] if sparse else [])
        for parameter, argument in zip(parameters, node.args):
            env[parameter] = self.value(argument)
        for keyword in node.keywords:
            env[keyword.arg] = self.value(keyword.value)
        env["tf"] = Value(MODULE, data="tensorflow")
        source = ast.parse("\n".join(line.strip() for line in kernels.KERNELS[known].strip().splitlines()))
        frame = Frame(env, self.module, None, self.frame, self.frame.depth + 1)
        try:
            return self.inside(frame, lambda: (self._sparse_kernel if sparse else self._dense_kernel)(source))
        except Refused as refused:
            refused.line = node.lineno
            raise

    def _dense_kernel(self, source):
        for line in source.body:
            name = line.targets[0].id
            value = self.computed(line.value)
            if name in self.frame.env and self.frame.env[name].kind == HANDLE:
                self.assign(self.frame.env[name], value, line)
            else:
                self.frame.env[name] = self.local(name, value)
        return EFFECT

    def _sparse_kernel(self, source):
        """A sparse kernel works as the dense one on the rows that the gradient has, and leaves the others."""
        handles = {name: value for name, value in self.frame.env.items() if value.kind == HANDLE}
        for name, handle in handles.items():
            self.frame.env[name] = Value(ROWS, self.read(handle, None).node)
        for line in source.body:
            name = line.targets[0].id
            self.frame.env[name] = self.local("rows_" + name, self.computed(line.value))
        for name, handle in handles.items():
            if isinstance(self.frame.env[name].node, ast.Name):
                self.scattered("scatter_update", handle, self.frame.env[name], None)
        return EFFECT

    # -- self ----------------------------------------------------------------------------------

    def default_of(self, value):
        """(default,) of the hyperparameter that a value reads, or None."""
        spec = self.model.spec_of(value) if value.node is not None else None
        return None if spec is None else (spec.default,)

    def bind_loop(self, target, iterated):
        """Loops inside the update are not understood."""
        raise Refused("a loop inside the update", iterated)

    def self_attribute(self, name, node):
        """``self.name``."""
        if name in _OWN:
            return Value(FUNCTION, data=(_OWN[name], name))
        if name == "iterations":
            return named(SCALAR, "hyper.step - 1")
        if name in ("_use_locking", "_distribution_strategy", "_HAS_AGGREGATE_GRAD"):
            return PLACE
        if name in ("updates", "weights", "_weights"):
            return Value(LIST, data=[])
        found = self.model.attribute(name, node)
        if found is not None and found.kind == UNKNOWN and found.data == SHARED:
            return self.shared_value(name, found, node)
        if found is not None:
            return found
        method = self.model.method(name)
        if method is not None:
            function, class_name, module = method
            if any(dotted(d) == "property" for d in function.decorator_list):
                return self.follow(function, {}, module, class_name)
            return Value(FUNCTION, data=(function, (module, class_name)))
        if name in ("learning_rate", "lr", "_learning_rate", "_lr"):
            return self.model.hyper_value("learning_rate", node)
        if name in ("built", "_built"):
            return static(False)
        if name in ("clipnorm", "clipvalue", "global_clipnorm", "gradient_accumulation_steps", "use_ema"):
            return NONE
        if name == "__class__":
            return PLACE
        if name == "_hyper":
            return Value(DICT, data=dict(self.model.hyper_values))
        if name in ("_index_dict",):
            return Value(DICT, data={"by place": Value(INDEX)})
        raise Refused("self.%s is set nowhere that is understood" % name, node)

    def shared_value(self, name, found, node):
        """A scalar that is kept once per optimizer."""
        if name in self.model.shared_new:
            raise Refused("%s is read after its update" % name, node)
        key = self.model.declare_shared(name, literal(found.node))
        return Value(SCALAR, expression("shared." + key), ("shared", name))

    def assign_shared(self, target, value, node):
        """Give a scalar of the optimizer its next value."""
        if self.conditions or value.kind not in (SCALAR, STATIC):
            raise Refused("a variable of the optimizer gets a value that is not one of the step", node)
        self.model.shared_new[target.data[1]] = value
        return EFFECT

    def own_get_hyper(self, _, node):
        """self._get_hyper(name, dtype)."""
        if not is_literal(node.args[0]):
            raise Refused("_get_hyper with a name that is computed", node)
        return self.model.hyper_value(literal(node.args[0]), node)

    def own_learning_rate(self, _, node):
        """The learning rate of this step; schedules and decay are applied by the compiled optimizer."""
        return self.model.hyper_value("learning_rate", node)

    def own_get_slot(self, _, node):
        """self.get_slot(var, name)."""
        if not is_literal(node.args[1]):
            raise Refused("get_slot with a name that is computed", node)
        owner = self.value(node.args[0])
        if owner.kind != HANDLE or owner.data != "var":
            raise Refused("the slot of another variable", node)
        name = literal(node.args[1])
        self.model.slot(name, node)
        return Value(HANDLE, data=name)

    def own_index(self, _, node):
        """Which variable this is."""
        return Value(INDEX)

    def own_state(self, _, node):
        """The step's coefficients."""
        return self.state.data["by place"]

    def own_scatter(self, name, node):
        """self._resource_scatter_add(variable, indices, values)."""
        handle = self.value(node.args[0])
        values = self.value(node.args[2])
        self.scattered(name.replace("_resource_", "").lstrip("_"), handle, self.read(values, node), node)
        return self.read(handle, node)

    def own_assign(self, name, node):
        """Keras 3's self.assign(variable, value)."""
        return self.assigned(name, self.value(node.args[0]), self.computed(node.args[1]), node)

    def own_gradients(self, _, node):
        """self.get_gradients(loss, params)."""
        return Value(LIST, data=[Value(HANDLE, data="grad")])

    def super_call(self, name, owner, node):
        """A method of the base class."""
        method = self.model.method(name, after=owner.data)
        if method is not None:
            function, class_name, module = method
            return self.follow(function, self.arguments(function, node), module, class_name)
        if name == "_prepare_local":
            self.state.data["by place"].data["lr_t"] = self.model.hyper_value("learning_rate", node)
            return NONE
        if name in _OWN:
            return getattr(self, _OWN[name])(name, node)
        if name in ("build", "_create_slots", "__init__", "_prepare", "_create_all_weights"):
            return NONE
        raise Refused("super().%s() of a base class that is not known" % name, node)


_OWN = {
    "_get_hyper": "own_get_hyper",
    "_decayed_lr": "own_learning_rate",
    "_get_current_learning_rate": "own_learning_rate",
    "get_slot": "own_get_slot",
    "_get_variable_index": "own_index",
    "_var_key": "own_index",
    "_fallback_apply_state": "own_state",
    "_resource_scatter_add": "own_scatter",
    "_resource_scatter_update": "own_scatter",
    "_resource_scatter_sub": "own_scatter",
    "assign": "own_assign",
    "assign_add": "own_assign",
    "assign_sub": "own_assign",
    "get_gradients": "own_gradients",
}


def is_atom(node):
    """Whether an expression is as short as a name: a name, a hyper, a slot, a number."""
    if is_literal(node) or isinstance(node, ast.Name):
        return True
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id in ("hyper", "slots", "self")
    return write(node) == "hyper.step - 1"


def _mentions(value, name):
    if value.node is not None and name in names_in(value.node):
        return True
    if value.kind == DICT:
        return any(_mentions(v, name) for v in value.data.values())
    if value.kind == LIST and isinstance(value.data, list):
        return any(_mentions(v, name) for v in value.data)
    return False


def _ends_in_return(statements):
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.Return):
        return True
    if isinstance(last, ast.With):
        return _ends_in_return(last.body)
    return isinstance(last, ast.If) and (_ends_in_return(last.body) or _ends_in_return(last.orelse))


def _only_raises(statements):
    return all(isinstance(s, ast.Raise) for s in statements) and bool(statements)


def ast_segment(module, node):
    """The source of a simple statement, on one line."""
    last = max(getattr(n, "lineno", node.lineno) for n in ast.walk(node))
    text = " ".join(line.strip() for line in module.lines[node.lineno - 1 : last])
    while True:  # Python 3.7 does not say where a statement ends: the shortest text that parses
        try:
            ast.parse(text)
            return text
        except SyntaxError:
            last += 1
            if last > len(module.lines):
                raise Refused("this raise can't be copied", node)
            text += " " + module.lines[last - 1].strip()


__all__ = ["Executor", "Frame", "PLACE", "ROW_NUMBERS", "copy"]
