"""What a class does around the update, to all gradients: it may hand them on, and clip them by their global norm."""

import ast

from compat_opt.codemod.syntax import dotted, expression, is_literal, literal, names_in
from compat_opt.codemod.values import SCALAR, SELF, STATIC, TENSOR, Refused, Value

#: Methods that, overridden, change what happens around the update.
_AROUND = (
    "minimize", "compute_gradients", "_compute_gradients", "get_unscaled_gradients", "_aggregate_gradients",
    "_transform_gradients", "_transform_unaggregated_gradients", "_prepare", "_distributed_apply", "apply",
    "_resource_apply_sparse_duplicate_indices", "update_variable", "_backend_update_step", "stateless_apply",
    "_clip_gradients", "_overwrite_model_variables_with_average_value", "_decayed_lr", "_apply_weight_decay",
)  # fmt: skip


def follow_around(model, executor):
    """What the class does to all gradients before the update: clipping by their global norm becomes `measure`.

    Raises:
        Refused: it does something else.
    """
    _refuse_other_optimizers(model)
    for name in _AROUND + ("apply_gradients",):
        method = model.method(name)
        if method is not None and method[2] is model.module:
            handed = [_passes_on(model, executor, name, statement, method[0]) for statement in method[0].body]
            if sum(handed) != 1:
                raise Refused("%s is overridden and hands on %d times" % (name, sum(handed)), method[0])


def _refuse_other_optimizers(model):
    """Refuse a class that divides the gradients among optimizers."""
    for call in ast.walk(model.node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "apply_gradients":
            owner = call.func.value
            if dotted(owner) != "self" and not (isinstance(owner, ast.Call) and dotted(owner.func) == "super"):
                reason = "it hands gradients to other optimizers; a Group with rule= gives variables another rule"
                raise Refused(reason, call)


def _passes_on(model, executor, name, statement, function, conditions=()):
    """Check that a statement around the update only hands gradients on; note what else it does. How often it hands on."""
    target = dotted(statement.targets[0]) or "" if isinstance(statement, ast.Assign) else ""
    optional = _optional(function)
    if isinstance(statement, ast.If):
        side, tests = _with_defaults(statement, optional)
        return sum(_passes_on(model, executor, name, inner, function, tests + conditions) for inner in side)
    inside = ["self." + name for name in model.beneath.attributes] if model.beneath is not None else []
    if target in [name + end for name in inside for end in (".iterations", "._iterations")]:
        if dotted(statement.value) == "self.iterations":
            model.shares_steps = True
            return 0
    if any(target.startswith(start + ".") for start in inside):
        raise Refused("%s changes the optimizer inside" % name, statement)
    if target.startswith("self."):
        if not names_in(statement.value) & set(optional):  # another value than the constructor's, in each step
            model.attributes_set[target.split(".")[1]] = statement
        model.note(statement, "%s also sets %s, which the rule does not" % (name, target))
        return 0
    if isinstance(statement, ast.Raise):
        return 0  # a check of arguments
    _refuse_changes(name, statement)
    handed, clips = 0, False
    for call in [n for n in ast.walk(statement) if isinstance(n, ast.Call)]:
        called = call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)
        whole = dotted(call.func) or ""
        if called == name and (whole.rpartition(".")[0] in inside or "super" in ast.dump(call.func)):
            handed += 1
            continue
        if called == "clip_by_global_norm":
            _clip_by_global_norm(model, executor, call, function, conditions)
            clips = True
        elif isinstance(statement, ast.Expr) and whole.startswith("self."):
            if not names_in(statement) & set(optional):
                model.attributes_set.update({key: statement for key in model.sets(called)})
            model.note(statement, "%s also calls %s(), which the rule does not" % (name, whole))
            return handed
        elif called not in ("list", "zip", "super"):
            raise Refused("%s is overridden and does more than hand on: %s()" % (name, whole or called), call)
    if conditions and not clips:
        raise Refused("%s is overridden and does more than hand on: under a condition" % name, statement)
    return handed


def _with_defaults(statement, optional):
    """The side of an if that is taken with the optional arguments at their defaults, and the tests that remain to be made."""
    together = isinstance(statement.test, ast.BoolOp) and isinstance(statement.test.op, ast.And)
    tests = statement.test.values if together else [statement.test]
    truths = [bool(literal(optional[t.id])) if isinstance(t, ast.Name) and t.id in optional else None for t in tests]
    if False in truths:
        return statement.orelse, ()
    rest = tuple(test for test, truth in zip(tests, truths) if truth is None)
    if rest and statement.orelse:
        raise Refused("an if around the update is not understood", statement)
    return statement.body, rest


def _optional(function):
    """``{argument: default}`` of the arguments of a function that have a literal as default."""
    arguments = [a.arg for a in function.args.args]
    pairs = list(zip(arguments[::-1], function.args.defaults[::-1]))
    pairs += zip([a.arg for a in function.args.kwonlyargs], function.args.kw_defaults)
    return {name: default for name, default in pairs if default is not None and is_literal(default)}


def _refuse_changes(name, statement):
    """Refuse a statement around the update that computes, chooses or skips something."""
    for node in ast.walk(statement):
        computes = isinstance(node, (ast.BinOp, ast.AugAssign, ast.UnaryOp, ast.Subscript, ast.IfExp, ast.Lambda))
        if computes or isinstance(node, ast.comprehension) and not all(map(_skips_missing, node.ifs)):
            raise Refused("%s is overridden and does more than hand on: it changes or leaves out gradients" % name, node)
        if isinstance(node, (ast.For, ast.While, ast.Try)):
            raise Refused("%s is overridden and does more than hand on: a %s statement" % (name, type(node).__name__), node)


def _skips_missing(test):
    """Whether a comprehension's condition is ``g is not None``."""
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot) and is_literal(test.comparators[0])


def _clip_by_global_norm(model, executor, call, function, conditions):
    parts = {k.arg: k.value for k in call.keywords}
    limit = parts.get("clip_norm") or (call.args[1] if len(call.args) > 1 else None)
    defaults = dict(zip([a.arg for a in function.args.args][::-1], function.args.defaults[::-1]))
    if isinstance(limit, ast.Name) and limit.id in defaults:
        model.note(call, "apply_gradients took %s; the rule has its default" % limit.id)
        limit = defaults[limit.id]
    executor.frame.env["self"] = Value(SELF)
    limit = executor.computed(limit)
    if limit.kind not in (STATIC, SCALAR):
        raise Refused("the limit of the global norm is not understood", call)
    scale = expression("A / ops.maximum(ops.sqrt(hyper.square_sum), A)", A=limit.node)
    if not is_literal(limit.node) and not conditions:
        scale = expression("ops.where(A > 0, B, 1.0)", A=limit.node, B=scale)
    for test in conditions:
        holds = executor.computed(test)
        choice = "B if A else 1.0" if holds.kind == STATIC else "ops.where(A, B, 1.0)"
        scale = expression(choice, A=holds.node, B=scale)
    clip = executor.emit("clip", Value(SCALAR, scale))
    executor.emit("grad", Value(TENSOR, expression("A * grad", A=clip.node)))
    model.measure = ['return {"square_sum": ops.sum(ops.square(grad))}']
