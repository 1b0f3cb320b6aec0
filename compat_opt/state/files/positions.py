"""State by position only, as ``.keras`` and ``.weights.h5`` files have it: ``optimizer/vars/0``, ``/1``, ..."""

import collections

from compat_opt.errors import StateError
from compat_opt.state import natives
from compat_opt.state.natives.order import skeleton
from compat_opt.state.raw import RawState


def raw_state(generation, class_name, config, arrays, hints, where, layer_shapes=()):
    """The `RawState` of a native optimizer's arrays, in the order of its own list.

    Args:
        generation, class_name, config: of the optimizer.
        arrays: all of them.
        hints: the `Hints`; its `variables` say what the arrays belong to.
        where: the file, for messages.
        layer_shapes: shapes of all weights of the model in the file's order: tried where the slots do not tell which
            variables there are.

    Raises:
        StateError: the arrays are not those of such an optimizer.
    """
    tried = []
    for variables in _candidates(generation, class_name, config, arrays, hints, layer_shapes):
        frame = skeleton(generation, class_name, config, variables)
        tried.append("%d arrays of %d variables" % (len(frame.entries), len(variables)))
        if len(frame.entries) == len(arrays) and _fits(frame, arrays, class_name) and _known(variables, hints, layer_shapes):
            entries = [e._replace(value=array) for e, array in zip(frame.entries, arrays)]
            return RawState(generation, class_name, config, entries, variables=variables)
    raise StateError(
        "The optimizer's arrays in %s are not those of %s %s." % (where, generation, class_name),
        (" or ".join(sorted(set(tried))) or "other arrays") + ("" if config else ", as with default arguments: the file has no config"),
        "%d arrays of shapes %s" % (len(arrays), ", ".join(str(a.shape) for a in arrays[:8])),
        "variables= tells the reader which variables the model has, config= with which arguments it was made.",
    )


def _candidates(generation, class_name, config, arrays, hints, layer_shapes):
    """Lists of variables that the arrays could belong to."""
    if hints.variables is not None:
        yield hints.variables
        return
    one = skeleton(generation, class_name, config, _numbered([(2, 2)]))
    per_variable = [entry for entry in one.entries if entry.variable is not None]
    fixed = len(one.entries) - len(per_variable)
    whole = [e.name for e in per_variable if _is_whole(e, generation, class_name)]
    if not per_variable:
        yield []
    elif whole:
        count = (len(arrays) - fixed) // len(per_variable)
        frame = skeleton(generation, class_name, config, _numbered([(2, 2)] * count))
        at = {e.variable: e.index for e in frame.entries if e.name == whole[0]}
        if len(frame.entries) == len(arrays):
            yield _numbered([arrays[at[position]].shape for position in range(count)])
    native = natives.find(generation, class_name)
    if len(native.order) == 1 and fixed == 1 + (generation == "keras3") and len(per_variable) == len(native.order[0]):
        shapes = shapes_in_turn(arrays[fixed:], layer_shapes, lambda shape: _slots_of(native, config, shape))
        if shapes is not None:
            yield _numbered(shapes)


def shapes_in_turn(arrays, known, slots_of):
    """Shapes of the variables whose slots stand one variable after the other; None where it does not come out even.

    Args:
        arrays: the slots.
        known: shapes that the model's variables have, in any order.
        slots_of: a function of a variable's shape: the shapes of its slots; None for one that may have any shape.
    """
    found, position = [], 0
    candidates = sorted({tuple(shape) for shape in known}, key=len, reverse=True)
    while position < len(arrays):
        for shape in candidates:
            expected = slots_of(shape)
            given = [a.shape for a in arrays[position : position + len(expected)]]
            if expected and len(given) == len(expected) and all(e is None or e == g for e, g in zip(expected, given)):
                break
        else:
            return None
        found.append(shape)
        position += len(expected)
    return found


def _slots_of(native, config, shape):
    declared = native.rule_class().slots()
    listed = [(n, own) for n, own in native.slots_for(config, shape) if own or n not in native.unlisted]
    return [None if own is None else tuple(declared[own].shape_for(shape)) for _, own in listed]


def _numbered(shapes):
    return [("variable_%d" % position, tuple(shape), None) for position, shape in enumerate(shapes)]


def _known(variables, hints, layer_shapes):
    """Whether the model in the file has weights of these shapes: other arrays are no slots."""
    if hints.variables is not None or not layer_shapes:
        return True
    lacking = collections.Counter(v[1] for v in variables) - collections.Counter(tuple(s) for s in layer_shapes)
    return not lacking


def _is_whole(entry, generation, class_name):
    """Whether an entry has the shape of its variable."""
    native = natives.find(generation, class_name)
    slot = native.rule_class().slots().get(native.slots.get(entry.name))
    return entry.role in ("average", "accumulator") or (entry.role == "slot" and slot is not None and slot.shape is None)


def _fits(frame, arrays, class_name):
    """Whether the scalars are scalars, and what has its variable's shape has it."""
    for entry, array in zip(frame.entries, arrays):
        if entry.variable is None and array.shape != ():
            return False
        if entry.variable is not None and _is_whole(entry, frame.generation, class_name):
            if array.shape != tuple(frame.variables[entry.variable][1]):
                return False
    return True
