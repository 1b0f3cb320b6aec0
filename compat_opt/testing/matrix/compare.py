"""Distances between trajectories, where two of them first differ, and groups that agree.

A distance is the largest difference of two trajectories at any step, as a part of the way that the
longer of the two has moved: 1e-3 means that they are a thousandth of the way apart.
"""

import collections

import numpy as np

#: Largest distance that is rounding: for rules, whose step is computed with all digits; for other
#: optimizers, which keep hyperparameters in float32 in some generations; in float32.
RULE, OTHER, SINGLE = 1e-9, 2e-5, 2e-3

#: The runs that groups are made of, in the order in which they are shown.
GROUPED = ("dense", "sparse", "training")

#: distance; then where they first differ by more than the tolerance (None where they don't): step,
#: variable, index in it, the two values there; slot: (step, variable, slot) of the first differing slot.
Difference = collections.namedtuple("Difference", "distance step variable index values slot curve")


def load_traces(path):
    """{run: {key: array}} of a trace file; runs ``reference.<run>`` are the NumPy reference's."""
    found = {}
    with np.load(path, allow_pickle=False) as data:
        for name in data.files:
            run, _, key = name.partition("/")
            if key:
                found.setdefault(run, {})[key] = data[name]
    return found


def tolerance_for(is_rule, dtypes, given=None):
    """The tolerance for two cells with these dtypes."""
    if given is not None:
        return given
    if "float32" in dtypes:
        return SINGLE
    return RULE if is_rule else OTHER


def difference(one, other, tolerance):
    """Compare two traces of a run.

    Args:
        one, other: {key: array}, as the worker's `record` writes them.
        tolerance: distances up to this agree.

    Returns:
        A `Difference`; `curve` is the distance at each step, 0 first.
    """
    keys = sorted(key for key in one if key.startswith("var/"))
    if keys != sorted(key for key in other if key.startswith("var/")):
        return Difference(float("inf"), 0, "other variables", (), ("", ""), None, np.array([np.inf]))
    for key in keys:
        if one[key].shape != other[key].shape:
            return Difference(float("inf"), 0, key[4:], (), (one[key].shape, other[key].shape), None, np.array([np.inf]))
    way = max([_way(trace[key]) for trace in (one, other) for key in keys] or [0.0]) or 1.0
    errors = {key: _error(one[key], other[key]) / way for key in keys}
    curve = np.max([np.max(e.reshape(len(e), -1), axis=1) for e in errors.values()], axis=0)
    distance = float(np.max(curve))
    if distance <= tolerance:
        return Difference(distance, None, None, None, None, None, curve)
    step = int(np.argmax(curve > tolerance))
    key = max(keys, key=lambda k: float(np.max(errors[k][step])))
    index = np.unravel_index(int(np.argmax(errors[key][step])), errors[key][step].shape)
    values = (float(one[key][step][index]), float(other[key][step][index]))
    slot = _first_slot(one, other, tolerance)
    return Difference(distance, step, key[4:], tuple(int(i) for i in index), values, slot, curve)


def _way(values):
    moved = np.abs(values - values[:1])
    moved = moved[np.isfinite(moved)]
    return float(np.max(moved)) if moved.size else 0.0


def _error(one, other):
    """|one - other|; 0 where both are the same NaN or infinity, infinite where only one is."""
    with np.errstate(invalid="ignore"):
        error = np.abs(np.asarray(one, "float64") - np.asarray(other, "float64"))
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    return np.where(same, 0.0, np.where(np.isnan(error), np.inf, error))


def _first_slot(one, other, tolerance):
    """(step, variable, slot) of the first slot that both have under one name and that differs."""
    first = None
    for key in sorted(set(one) & set(other)):
        if not key.startswith("slot/") or one[key].shape != other[key].shape:
            continue
        size = max(float(np.max(np.abs(np.nan_to_num(t[key])))) if t[key].size else 0.0 for t in (one, other)) or 1.0
        error = _error(one[key], other[key]).reshape(len(one[key]), -1) / size
        steps = np.nonzero(np.max(error, axis=1) > tolerance)[0] if error.size else []
        if len(steps) and (first is None or steps[0] + 1 < first[0]):
            _, variable, slot = key.split("/", 2)
            first = (int(steps[0]) + 1, variable, slot)
    return first


def group(items, agree):
    """Groups of items that agree with the first of their group, in the order given.

    Args:
        items: a list.
        agree: function of the first of a group and an item.

    Returns:
        A list of lists.
    """
    groups = []
    for item in items:
        for members in groups:
            if agree(members[0], item):
                members.append(item)
                break
        else:
            groups.append([item])
    return groups


def letter(number):
    """A, B, ... Z, AA, AB ..."""
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("A") + rest) + text
    return text
