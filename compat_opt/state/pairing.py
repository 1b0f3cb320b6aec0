"""Which variable of the record is which variable of the optimizer."""

import collections
import re

from compat_opt.errors import StateError

#: For each variable of the optimizer the position of its partner in the record, or None; how it was
#: found ("path", "name", "order", "given"); and the positions in the record without a partner.
Pairing = collections.namedtuple("Pairing", "partners how left")


def pair(record, target, renames=None):
    """Pair variables by path, then by the end of their paths, then by shape and order.

    Layers that were added or removed leave variables without partner; nothing moves to a
    neighbour. Names that only count up ("dense_1" for "dense") are paired in order where all
    shapes agree and no name says otherwise.

    Args:
        record: the record's `Variable`s, in order.
        target: those of the optimizer.
        renames: None; {path in the record: path in the optimizer} for those that are known; or
            "order", for pairs by position alone.

    Returns:
        A `Pairing`.

    Raises:
        StateError: two ways of pairing are equally good (the message has the candidates), or a pair
            by name has different shapes.
    """
    record, target = list(record), list(target)
    if renames == "order":
        return _by_order(record, target)
    pairs, how = {}, {}

    def found(theirs, ours, by):
        pairs[ours], how[ours] = theirs, by

    _given(renames or {}, record, target, found)
    for key, by in ((_path, "path"), (_tail, "name"), (_flat, "name")):
        _by_key(key, by, record, target, pairs, found)
    left_there = [i for i in range(len(record)) if i not in pairs.values()]
    left_here = [i for i in range(len(target)) if i not in pairs]
    if left_there and left_here:
        in_order = _counted_up(record, target)
        named = [i for i in how if how[i] != "given"]
        if in_order and not all(_fits(record[pairs[i]], target[i]) for i in named):
            return _by_order(record, target)  # names that count up meet by chance
        if in_order and all(pairs[i] == i for i in named):
            for theirs, ours in zip(left_there, left_here):
                found(theirs, ours, "order")
        elif in_order and named:
            _refuse_ambiguous(record, target, pairs, left_there, left_here)
        elif not named:
            _by_shape(record, target, left_there, left_here, found)
    _check_shapes(record, target, pairs, how)
    left = [i for i in range(len(record)) if i not in pairs.values()]
    count = range(len(target))
    return Pairing([pairs.get(i) for i in count], [how.get(i) for i in count], left)


def _path(variable):
    return tuple(variable.path.split("/"))


def _tail(variable):
    return tuple(variable.path.split("/")[-2:])


def _flat(variable):
    return variable.path.replace("/", "_")  # as Keras 3 writes paths into the names of slots


def _given(renames, record, target, found):
    if not isinstance(renames, dict) or len(set(renames.values())) < len(renames):
        raise StateError(
            "These renames are not pairs.", '{path in the record: another path in the optimizer}, or "order"', "renames=%r" % (renames,)
        )
    for old, new in renames.items():
        theirs = _position(old, record, "the record")
        found(theirs, _position(new, target, "the optimizer"), "given")


def _position(path, variables, where):
    places = [i for i, v in enumerate(variables) if v.path == path]
    if len(places) != 1:
        raise StateError(
            "No single variable of %s is called %r." % (where, path),
            "one of %s" % _names(variables),
            "renames with %r" % path,
        )
    return places[0]


def _by_key(key, by, record, target, pairs, found):
    """Pair those for which `key` is the same and unique among the ones that are left, on both sides."""
    theirs, ours = collections.defaultdict(list), collections.defaultdict(list)
    for i, variable in enumerate(record):
        if i not in pairs.values():
            theirs[key(variable)].append(i)
    for i, variable in enumerate(target):
        if i not in pairs:
            ours[key(variable)].append(i)
    for name, places in ours.items():
        if len(places) == 1 and len(theirs.get(name, ())) == 1:
            found(theirs[name][0], places[0], by)


def _uncounted(path):
    return re.sub(r"_\d+(?=/|$)", "", "/".join(path.split("/")[-2:]))


def _fits(theirs, ours):
    return theirs.shape is None or ours.shape is None or tuple(theirs.shape) == tuple(ours.shape)


def _counted_up(record, target):
    """Whether both lists are the same but for the numbers that Keras adds to names."""
    return len(record) == len(target) and all(
        _fits(a, b) and _uncounted(a.path) == _uncounted(b.path) for a, b in zip(record, target)
    )


def _by_shape(record, target, left_there, left_here, found):
    """No name is known: in order where all shapes agree, else where a shape has one candidate."""
    if len(left_there) == len(left_here) and all(
        _fits(record[a], target[b]) for a, b in zip(left_there, left_here)
    ):
        for theirs, ours in zip(left_there, left_here):
            found(theirs, ours, "order")
        return
    for ours in left_here:
        candidates = [i for i in left_there if _fits(record[i], target[ours])]
        rivals = [i for i in left_here if candidates and _fits(record[candidates[0]], target[i])]
        if len(candidates) == 1 and len(rivals) == 1:
            found(candidates[0], ours, "shape")
        elif candidates:
            raise StateError(
                "Variable %s could be several of the record." % target[ours].path,
                "one candidate by path, name, or shape and order",
                "%s of shape %s" % (_names([record[i] for i in candidates]), target[ours].shape),
                _REMEDY,
            )


def _by_order(record, target):
    count = min(len(record), len(target))
    pairs = {i: i for i in range(count)}
    _check_shapes(record, target, pairs, {i: "order" for i in pairs})
    return Pairing(
        [pairs.get(i) for i in range(len(target))],
        ["order" if i < count else None for i in range(len(target))],
        list(range(count, len(record))),
    )


_REMEDY = 'Say which is which with renames={"path in the record": "path in the optimizer"}, or renames="order".'


def _refuse_ambiguous(record, target, pairs, left_there, left_here):
    ours = next(i for i in sorted(pairs) if pairs[i] != i)
    raise StateError(
        "Two ways of pairing the variables are possible: by name %s is %s, in order it is %s."
        % (target[ours].path, record[pairs[ours]].path, record[ours].path),
        "names that all agree, or none of them",
        "without a namesake: %s in the record, %s in the optimizer"
        % (_names([record[i] for i in left_there]), _names([target[i] for i in left_here])),
        _REMEDY,
    )


def _check_shapes(record, target, pairs, how):
    for ours, theirs in pairs.items():
        if not _fits(record[theirs], target[ours]):
            raise StateError(
                "Variable %s has another shape in the record (paired by %s)." % (target[ours].path, how[ours]),
                "shape %s" % (tuple(target[ours].shape),),
                "shape %s of %s" % (tuple(record[theirs].shape), record[theirs].path),
                _REMEDY,
            )


def remedy_for(pairing, record, target):
    """What to do about variables that are without partner on both sides; "" where there are none."""
    ours = [v for v, theirs in zip(target, pairing.partners) if theirs is None]
    if not ours or not pairing.left:
        return ""
    theirs = [record[i] for i in pairing.left]
    return "Without a namesake: %s in the record, %s in the optimizer. %s" % (_names(theirs), _names(ours), _REMEDY)


def _names(variables):
    names = [v.path for v in variables]
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "") if names else "none"
