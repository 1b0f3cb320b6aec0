"""Which variable each place of a saved state belonged to.

A checkpoint finds the state of a variable by its number. Where layers came or went since, the
numbers mean other variables: that is refused here, before anything is overwritten.
"""

import json
import re

from compat_opt.errors import StateError


def written(names, shapes):
    """The list of places as JSON: [[name, shape], ...] in order."""
    return json.dumps([[name, list(shape)] for name, shape in zip(names, shapes)])


def check_places(saved, names, shapes):
    """Refuse variables that stand in the places of others.

    Args:
        saved: [[name, shape], ...] as `written`.
        names, shapes: those of the optimizer's variables, in order.

    Raises:
        StateError: a place has another shape; or a name is in another place, unless all names
            differ by the numbers only that Keras adds to them.
    """
    theirs, ours = [_tail(name) for name, _ in saved], [_tail(name) for name in names]
    pairs = list(zip(saved, names, shapes))
    for (name, shape), here, own in pairs:
        if tuple(shape) != tuple(own):
            _refuse(name, here, "shape %s" % (tuple(own),), "shape %s of %s" % (tuple(shape), name))
    if [_uncounted(t) for t in theirs[: len(pairs)]] == [_uncounted(t) for t in ours[: len(pairs)]]:
        if len(theirs) == len(ours):
            return
    for number, ((name, _), here, _) in enumerate(pairs):
        moved = theirs[number] in ours or ours[number] in theirs
        if theirs[number] != ours[number] and moved:
            _refuse(name, here, here, name)


def _tail(name):
    return "/".join(name.split("/")[-2:])


def _uncounted(tail):
    return re.sub(r"_\d+(?=/|$)", "", tail)


def _refuse(name, here, expected, received):
    raise StateError(
        "The checkpoint has the state of %s in the place of %s: variables came or went since." % (name, here),
        expected,
        received,
        "compat_opt.state.read_file(path) and write(optimizer, record) pair variables by name.",
    )
