"""From the source of a file to the source with its optimizer classes as rules."""

import collections

from compat_opt.codemod import hooks, sparse
from compat_opt.codemod.bases import base_module
from compat_opt.codemod.beneath import describe
from compat_opt.codemod.model import ClassModel, Restart
from compat_opt.codemod.module import Module
from compat_opt.codemod.values import Refused
from compat_opt.codemod.writer import hypers_read, write_rule

CONVERTED, NOTES, REFUSED = "converted", "notes", "refused"

#: name, outcome, line: of the class, or of what was refused; reason: of a refusal, or the notes;
#: text: the rule's source or None; notes: [(line, text)]; hypers: [{"old", "new", "default", "required"}];
#: beneath: the `Beneath` of a rule over another, else None.
ClassResult = collections.namedtuple("ClassResult", "name outcome line reason text notes hypers beneath")
ClassResult.__new__.__defaults__ = (None,)


def migrate_class(module, name):
    """Migrate one class of a `Module`; a `ClassResult`."""
    node = module.classes[name].node
    static, attempts = set(), 0
    while True:
        attempts += 1
        model = None
        try:
            model, executor = _follow(module, name, static)
            text = write_rule(model, executor)
            compile(text, name, "exec")
            break
        except Restart as restart:
            if restart.names <= static or attempts > 20:
                return ClassResult(name, REFUSED, node.lineno, "its hyperparameters can't be told apart", None, [], [])
            static |= restart.names
        except Refused as refused:
            considered = getattr(refused, "considered", set()) - static
            if considered and attempts < 20:
                static |= considered
                continue
            return ClassResult(name, REFUSED, refused.line or node.lineno, refused.reason, None, [], [])
        except RecursionError:
            return ClassResult(name, REFUSED, node.lineno, "the code is nested too deeply", None, [], [])
    notes = sorted((line, words) for line, words, _ in model.notes)
    outcome = NOTES if notes else CONVERTED
    reason = "; ".join("line %d: %s" % note for note in notes)
    hypers = [
        {"old": spec.argument, "new": spec.name, "default": spec.default, "required": spec.required}
        for key, spec in model.hypers.items()
        if not spec.inherited and (spec.name in model.read or spec.name == "weight_decay")
    ]
    return ClassResult(name, outcome, node.lineno, reason, text, notes, hypers, model.beneath)


def _follow(module, name, static):
    model = ClassModel(module, name, base_module, static)
    style = module.style(name)
    _refuse_what_is_no_rule(model)
    if style == "none":
        style = "optimizer_v2"
    try:
        hooks.declare(model, style)
        executor = hooks.follow_dense(model, style)
    except Refused as refused:
        refused.considered = model.considered
        raise
    unbound = sparse.unbound_name(model, executor)
    if unbound:
        raise Refused("the order of its assignments is not understood (%s)" % unbound, model.node)
    gradients = model.method("get_gradients")
    if style == "optimizer_v2" and gradients is not None and gradients[2] is module:
        words = "neither fit nor apply_gradients calls get_gradients in TensorFlow 2: what it does is left out"
        model.note(gradients[0], words)
    _note_sparse(model, style, executor)
    _note_declarations(model, executor)
    if model.beneath is not None:
        model.note(model.node, describe(model))
    return model, executor


def _note_sparse(model, style, executor):
    """Say what the old class did to sparse gradients, where that is not what the rule does."""
    method = model.method("_resource_apply_sparse") if style == "optimizer_v2" else None
    node = method[0] if method is not None and method[2] is model.module else model.node
    if method is None and style == "optimizer_v2" and model.beneath is not None and model.beneath.kind != "wrapper":
        model.note(node, "sparse gradients passed it by; here they act as their dense equal")
        return
    if style == "optimizer_v2" and (method is None or hooks.refuses_sparse(model)):
        return  # a sparse gradient raised; as its dense equal it is welcome
    if style == "keras" and len(model.method("update_step")[0].args.args) == 4 and not sparse.is_affine(model, executor):
        model.note(model.method("update_step")[0], "Keras 3 takes repeated rows of a sparse gradient one by one; here they are summed first")
    try:
        other = hooks.follow_sparse(model, style)
    except (Refused, Restart) as stopped:
        reason = stopped.reason if isinstance(stopped, Refused) else "a flag"
        model.note(node, "what it does to sparse gradients is not understood (%s); here they act as their dense equal" % reason)
        return
    if other is None:
        return
    relation, reason = sparse.compare(model, executor, other)
    if relation == sparse.LAZY and model.beneath is not None:
        model.note(node, "rows without gradient kept what is done here to all rows; what is beneath decides on the rest")
    elif relation == sparse.LAZY:
        model.sparse = "lazy"
        more = " (%s)" % reason if reason else ""
        model.note(node, 'rows without gradient stay as they are: make the optimizer with sparse="lazy"%s' % more)
    elif relation == sparse.SAME and reason:
        model.note(node, "sparse gradients were treated otherwise (%s)" % reason)
    elif relation == sparse.OTHER:
        model.note(node, "sparse gradients were treated otherwise (%s); here they act as their dense equal" % reason)
    elif relation == sparse.UNKNOWN:
        model.note(node, "its update of sparse gradients can't be compared (%s); here they act as their dense equal" % reason)


def _note_declarations(model, executor):
    """Notes about hyperparameters that are not what they were."""
    read = model.read = hypers_read(model, executor)
    for name, (_, settings) in model.settled_read.items():
        for key in [key for key, spec in model.hypers.items() if spec.name in settings and spec.name in read]:
            raise Refused("what the constructor makes of %s for self.%s is not understood" % (key, name), model.node)
    for key in [key for key in model.moved if model.hypers[key].name in read]:
        raise Refused("the update changes the variable that %s gives a first value" % key, model.moved[key])
    for name in sorted(model.attributes_read & set(model.attributes)):
        setters = [method for method in model.own_methods() if name in model.sets(method)]
        value = model.attributes[name]
        if setters and (value.node is None or model.spec_of(value) is None or model.spec_of(value).static):
            model.note(model.method(setters[0])[0], "%s sets self.%s; the rule keeps what the constructor gives it" % (setters[0], name))
    unused = [key for key, spec in model.hypers.items() if spec.name not in read and key != "learning_rate"]
    unused = [key for key in unused if model.hypers[key].name != "weight_decay" or model.engine_decay is None]
    if len(unused) == 1:
        model.note(model.hypers[unused[0]], "the constructor's argument %s is not used by the update: it is left out" % unused[0])
    elif unused:
        words = "the constructor's arguments %s are not used by the update: they are left out" % ", ".join(unused)
        model.note(model.hypers[unused[0]], words)
    for key, spec in model.hypers.items():
        if spec.name not in read:
            continue
        if spec.name != key and key.lstrip("_") != spec.name:
            model.note(spec, "the constructor's argument %s is called %s here" % (key, spec.name))
        if spec.required and not spec.inherited:
            model.note(spec, "%s had no default; %r stands in" % (spec.name, spec.default))
        if spec.comment:
            model.note(spec, "%s: %s" % (spec.name, spec.comment))
        if key in model.forced_static and any(v.node is not None and model.spec_of(v) is spec for v in model.hyper_values.values()):
            model.note(spec, "%s steers Python code: it is fixed when the optimizer is made" % spec.name)


def _refuse_what_is_no_rule(model):
    for owner in model.module.lineage(model.name)[0]:
        if owner in model.module.twice:
            raise Refused("%s is defined more than once in this file" % owner, model.module.classes[owner].node)
        for name in model.module.strange_decorators(model.module.classes[owner].node):
            model.note(model.node, "what the decorator %s makes of %s is not carried over" % (name, owner))
    enclosing = model.module.classes[model.name].enclosing
    if enclosing is not None and model.beneath is None:
        raise Refused(
            "it is made inside the function %s, and does not hand on to the update of an argument's class" % enclosing.name,
            model.node,
        )


def optimizer_classes(module):
    """Names of the optimizer classes of a module, in the order of the file."""
    return [name for name in module.classes if module.style(name) is not None]


def migrate_module(text, only=None):
    """``[ClassResult]`` of the optimizer classes in `text`."""
    module = Module(text)
    return [migrate_class(module, name) for name in optimizer_classes(module) if only in (None, name)]
