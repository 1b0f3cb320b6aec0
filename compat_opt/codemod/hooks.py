"""Where each generation's classes keep their update, and how it is entered."""

import ast

from compat_opt.codemod.around import follow_around
from compat_opt.codemod.beneath import refuse_what_reaches_beneath
from compat_opt.codemod.constructor import Constructor
from compat_opt.codemod.defaults import settle
from compat_opt.codemod.execute import Executor
from compat_opt.codemod.handles import Frame
from compat_opt.codemod.slots import SlotMaker, bind_loop
from compat_opt.codemod.syntax import dotted, expression, is_literal, literal, write
from compat_opt.codemod.values import (
    DICT, HANDLE, LIST, NONE, NOTHING, PLACE, ROW_NUMBERS, ROWS, SELF, SHAPE, TENSOR,
    Refused, Value, named,
)  # fmt: skip


def declare(model, style):
    """Follow the constructor and what makes the slots."""
    Constructor(model).follow_constructor()
    settle(model)
    if style == "optimizer_v2":
        SlotMaker(model).follow_slots("_create_slots")
    elif style == "keras":
        _decay_of_the_base(model)
        SlotMaker(model).follow_slots("build")
        _note_unguarded_build(model)


def _note_unguarded_build(model):
    """Keras 2 calls build in each apply_gradients; a build that does not ask whether it has run makes new slots."""
    build, step = model.method("build"), model.method("update_step")
    keras_2 = step is not None and len(step[0].args.args) == 3
    if keras_2 and build is not None and model.slot_specs and "built" not in ast.dump(build[0]).replace("super", ""):
        model.note(
            build[0],
            "build does not ask whether it has run: called eagerly, the old class lost its slots at each step; here they are kept",
        )


def _decay_of_the_base(model):
    """Keras' base class decays by ``self.weight_decay``, whoever has set it."""
    value = model.attributes.get("weight_decay")
    spec = model.spec_of(value) if value is not None and value.node is not None else None
    if model.engine_decay is None and spec is not None:
        model.note(spec, "self.weight_decay is also what the base class decays by: it acts there, and where the update reads it")
        spec.name, spec.static = "weight_decay", False
        model.engine_decay = model.attributes["weight_decay"] = model.value_of(spec.key)


def follow_dense(model, style):
    """The `Executor` that has followed the update of a whole gradient."""
    executor = UpdatesExecutor(model) if style == "get_updates" else Executor(model)
    follow_around(model, executor)
    if style == "optimizer_v2":
        _follow_v2(model, executor, "_resource_apply_dense", ())
    elif style == "keras":
        _follow_update_step(model, executor)
    else:
        _follow_get_updates(model, executor)
    if model.beneath is not None:
        refuse_what_reaches_beneath(model, executor)
    if "var" not in executor.now:
        raise Refused("the variable is never assigned in a way that is understood", model.node)
    return executor


def follow_sparse(model, style):
    """The `Executor` that has followed the update of a gradient's rows, or None if there is no other than the dense one.

    Raises:
        Refused: there is one, and it can't be followed.
    """
    if style == "optimizer_v2":
        if model.method("_resource_apply_sparse") is None:
            return None
        return _follow_v2(model, Executor(model, sparse=True), "_resource_apply_sparse", (Value(ROW_NUMBERS),))
    if style == "keras":
        function = model.method("update_step")[0]
        if not any(isinstance(n, ast.Name) and n.id == "isinstance" for n in ast.walk(function)):
            return None
        return _follow_update_step(model, Executor(model, sparse=True))
    return None


def refuses_sparse(model):
    """Whether the old class raises on a sparse gradient."""
    method = model.method("_resource_apply_sparse")
    body = method[0].body if method else []
    statements = [s for s in body if not (isinstance(s, ast.Expr) and is_literal(s.value))]
    return len(statements) == 1 and isinstance(statements[0], ast.Raise)


def _follow_v2(model, executor, hook, more):
    prepare = model.method("_prepare_local")
    executor.state.data["by place"].data["lr_t"] = _learning_rate(model)
    executor.comments = False
    if prepare is not None:
        function, class_name, module = prepare
        given = dict(zip([a.arg for a in function.args.args[1:]], (PLACE, PLACE, executor.state)))
        executor.follow(function, given, module, class_name)
    executor.comments = not executor.sparse
    function, class_name, module = _found(model, hook)
    gradient = Value(ROWS if executor.sparse else TENSOR, ast.Name("grad", ast.Load()))
    parameters = [a.arg for a in function.args.args[1:]]
    given = dict(zip(parameters, (gradient, Value(HANDLE, data="var")) + more))
    for parameter in parameters[len(given) :]:
        given[parameter] = executor.state
    return _enter(executor, function, given, module, class_name)


def _learning_rate(model):
    try:
        return model.hyper_value("learning_rate", None)
    except Refused:
        return NONE


def _enter(executor, function, given, module, class_name):
    executor.refuse_decorated(function, module)
    if function.args.kwarg is not None:
        given[function.args.kwarg.arg] = Value(DICT, data={})
    given["self"] = Value(SELF)
    executor.frame = Frame(given, module, class_name, None, 0)
    if executor.comments and module is executor.model.module:
        first = function.decorator_list[0] if function.decorator_list else function
        executor.model.hook_comments = module.comments_above(first.lineno)
    executor.run(function.body)
    return executor


def _follow_update_step(model, executor):
    function, class_name, module = _found(model, "update_step")
    gradient = Value(ROWS if executor.sparse else TENSOR, ast.Name("grad", ast.Load()))
    parameters = [a.arg for a in function.args.args[1:]]
    values = (gradient, Value(HANDLE, data="var"), model.hyper_value("learning_rate", function))
    return _enter(executor, function, dict(zip(parameters, values)), module, class_name)


def _found(model, hook):
    method = model.method(hook)
    if method is None:
        raise Refused("the class has no %s, and its base's is not known" % hook, model.node)
    return method


def _follow_get_updates(model, executor):
    function, class_name, module = _found(model, "get_updates")
    given = {"self": Value(SELF)}
    for parameter in [a.arg for a in function.args.args[1:]]:
        given[parameter] = Value(LIST, data=("variables", None)) if parameter in ("params", "var_list") else NONE
    return _enter(executor, function, given, module, class_name)


class UpdatesExecutor(Executor):
    """Follows ``get_updates``: lists of variables become slots, the loop over them is the update."""

    def __init__(self, model):
        super().__init__(model)
        self.deferred, self.looped = True, False

    def _do_For(self, node):
        if self.looped:
            raise Refused("a second loop over the variables", node)
        self.looped = True
        self.bind_loop(node.target, node.iter)
        self.run(node.body)

    def bind_loop(self, target, iterated):
        """Bind the target of a loop or comprehension over variables."""
        bind_loop(self, target, iterated)

    def list_of(self, element, node):
        """The list that a comprehension makes; one of new variables is a slot."""
        if element.kind == NOTHING and isinstance(element.data, tuple) and element.data[0] == "new slot":
            return Value(LIST, data=("slots", element.data[1]))
        return super().list_of(element, node)

    def _do_Assign(self, node):
        if isinstance(node.targets[0], ast.Name):
            self.list_name = node.targets[0].id
        super()._do_Assign(node)

    list_name = None

    def _maker(init):
        def call(self, node):
            shape = self.value(node.args[0])
            if shape.kind != SHAPE:
                return PLACE  # a placeholder that no update reads
            key = self._slot_name(node)
            self.model.add_slot(key, init, None, [c for c in self.conditions], node)
            return Value(NOTHING, data=("new slot", key))

        return call

    _call_zeros = _maker(None)
    _call_ones = _maker('"ones"')

    def _call_variable(self, node):
        inner = self.value(node.args[0])
        if inner.kind == NOTHING:
            return inner
        if inner.kind == HANDLE and inner.data == "var":
            key = self._slot_name(node)
            self.model.add_slot(key, '"variable"', None, list(self.conditions), node)
            return Value(NOTHING, data=("new slot", key))
        raise Refused("a K.variable inside get_updates", node)

    def _call_get_value(self, node):
        return self.value(node.args[0])

    def _slot_name(self, node):
        for keyword in node.keywords:
            if keyword.arg == "name":
                words = [literal(n) for n in ast.walk(keyword.value) if is_literal(n) and isinstance(literal(n), str)]
                if words and words[0].strip("_"):
                    return words[0].strip("_").split("/")[-1]
        name = self.list_name or "slot"
        return name[:-1] if name.endswith("s") and len(name) > 1 else name

    def _branch(self, test, sides, before_env, before_now, comments):
        # A list of slots under a condition, and a placeholder otherwise: the slots are conditional themselves.
        for name in list(sides[0][3]):
            first, second = sides[0][3].get(name), sides[1][3].get(name)
            pair = [v for v in (first, second) if v is not None and v.kind == LIST and isinstance(v.data, tuple)]
            if len(pair) == 1 and first is not None and second is not None:
                sides[0][3][name] = sides[1][3][name] = pair[0]
        super()._branch(test, sides, before_env, before_now, comments)


__all__ = ["declare", "dotted", "expression", "follow_dense", "follow_sparse", "named", "refuses_sparse", "write"]
