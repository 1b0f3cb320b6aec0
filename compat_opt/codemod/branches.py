"""Ifs: both sides are followed, and what differs afterwards is joined."""

import ast

from compat_opt.codemod.evaluate import NAMED
from compat_opt.codemod.handles import Handles
from compat_opt.codemod.program import Branch, Line
from compat_opt.codemod.syntax import expression, names_in, write
from compat_opt.codemod.values import (
    COMPUTED, HANDLE, NONE, NOTHING, ROWS, SCALAR, STATIC, TENSOR, UNKNOWN, Refused, Value, hypers_in, named, truth, widest,
)  # fmt: skip


class Branches(Handles):
    """Follows an if as a Python branch, or as a choice between two values."""

    def _if(self, node, rest):
        """Follow an if. Returns (value, whether the rest of the block was followed too)."""
        if _only_raises(node.body) and not node.orelse:
            return None, False  # a check of arguments: a rule gets what the compiled optimizer has checked
        test = self.value(node.test)
        if test.kind == UNKNOWN and test.data == NAMED:
            return self._decay_by_name(test, node)
        truth = self.truth_of(test)
        returns = ends_in_return(node.body) or ends_in_return(node.orelse)
        if truth is not None:
            chosen = node.body if truth else node.orelse
            result = self.run(chosen)
            if result is not None or ends_in_return(chosen):
                return result, True
            return None, False
        test = self.steering(self.read(test, node.test), node)
        body, orelse = list(node.body), list(node.orelse)
        if returns:
            if not ends_in_return(body):
                body += rest
            if not ends_in_return(orelse):
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
        return None, ends_in_return(node.body)

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
        return test if test.kind == STATIC else truth(test)

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
            try:
                result = self.run(statements)
            except Refused as refused:
                if selecting or self.model.holds_by_default(test.node) is not (statements is orelse):
                    raise
                result = self._left_out(refused, node)
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

    def _left_out(self, refused, node):
        """A branch that no default leads to and that is not understood: the rule raises there, and says so."""
        frame, where = self.frame, refused.line or node.lineno
        where = self.place(refused_at(where)) if frame is self.frame else refused_at(where)
        self.model.note(where, "this branch is not understood (%s): the rule raises there" % refused.reason)
        self.out = [Line(None, None, STATIC, text='raise NotImplementedError("not migrated: %s")' % refused.reason.replace('"', "'"))]
        self.frame = frame
        return None

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
            if first is not None and second is not None and HANDLE == first.kind == second.kind and not first.same(second):
                self.two_names |= {first.data, second.data}
                first, second = self._held(first, now_one), self._held(second, now_two)
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

    def _held(self, handle, now):
        """What a handle holds at the end of one side."""
        if handle.data in now:
            return now[handle.data]
        return named(TENSOR, "var" if handle.data == "var" else "slots." + self.model.slot(handle.data, None).name)

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


def ends_in_return(statements):
    """Whether a block leaves its function at its end, on one side of an if at least."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.Return):
        return True
    if isinstance(last, ast.With):
        return ends_in_return(last.body)
    return isinstance(last, ast.If) and (ends_in_return(last.body) or ends_in_return(last.orelse))


def _only_raises(statements):
    return all(isinstance(s, ast.Raise) for s in statements) and bool(statements)


def refused_at(line):
    """A node that only knows its line."""
    return ast.Pass(lineno=line, col_offset=0)
