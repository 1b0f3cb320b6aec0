"""StateRecord: the state of one optimizer, without any framework."""

import collections

#: A variable of the model: its path or name, its shape (a tuple of ints, or None where a format
#: does not tell) and the name of its dtype.
Variable = collections.namedtuple("Variable", "path shape dtype")

#: One difference between two records: what it is about, the two values, and a sentence.
Difference = collections.namedtuple("Difference", "where left right text")


class StateRecord:
    """The state of one optimizer: numbers, and NumPy arrays by the names that the rule declares.

    Attributes:
        algorithm: name of the rule ("Adam").
        iterations: finished updates, an int.
        hypers: {name: a number; a bool or string or None; or the config dict of a schedule}.
        shared: {name: scalar array}: what the rule keeps once per optimizer.
        slots: {variable path: {slot name: array}}, in the order of `variables`.
        averages: {variable path: array}: the moving averages of use_ema.
        accumulators: {variable path: array}: sums of the gradients of calls since the last update.
        calls: {variable path: int}: how many calls each of these sums has.
        micro_step: calls since the last update, an int; 0 without gradient accumulation.
        variables: the model's variables, `Variable`s in the order of the optimizer.
        options: {name: value} of the options that are no hyperparameters (use_ema, ...), where
            they are known and not the default.
        loss_scale: {"scale": float, "good_steps": int} of a LossScaleOptimizer, or None.
        provenance: where it comes from: "tensorflow", "keras", "generation", "class_name",
            "format", "file"; strings, where known.
    """

    def __init__(
        self,
        algorithm,
        iterations=0,
        hypers=None,
        shared=None,
        slots=None,
        averages=None,
        accumulators=None,
        micro_step=0,
        variables=(),
        provenance=None,
        calls=None,
        options=None,
        loss_scale=None,
    ):
        self.algorithm = algorithm
        self.iterations = int(iterations)
        self.hypers = dict(hypers or {})
        self.shared = dict(shared or {})
        self.slots = collections.OrderedDict(slots or {})
        self.averages = collections.OrderedDict(averages or {})
        self.accumulators = collections.OrderedDict(accumulators or {})
        self.calls = collections.OrderedDict(calls or {})
        self.micro_step = int(micro_step)
        self.variables = [Variable(path, _shape(shape), dtype) for path, shape, dtype in variables]
        self.options = dict(options or {})
        self.loss_scale = dict(loss_scale) if loss_scale else None
        self.provenance = dict(provenance or {})

    def arrays(self):
        """[((part, ...), array)] of everything that is an array, in a fixed order."""
        found = [(("shared", name), value) for name, value in self.shared.items()]
        for path, slots in self.slots.items():
            found.extend((("slots", path, name), value) for name, value in slots.items())
        for part in ("averages", "accumulators"):
            found.extend(((part, path), value) for path, value in getattr(self, part).items())
        return found

    def diff(self, other, tolerance=0.0):
        """What differs from another record; provenance is not compared.

        Args:
            other: a `StateRecord`.
            tolerance: the largest difference of two numbers, relative to the largest number of
                the array, that counts as none.

        Returns:
            A list of `Difference`; empty where the records are equal.
        """
        return diff(self, other, tolerance)

    def __eq__(self, other):
        return isinstance(other, StateRecord) and not diff(self, other)

    __hash__ = None

    def __repr__(self):
        return "StateRecord(%s, iterations=%d, %d variables)" % (
            self.algorithm,
            self.iterations,
            len(self.variables),
        )


def _shape(shape):
    return None if shape is None else tuple(int(size) for size in shape)


def diff(left, right, tolerance=0.0):
    """The list of `Difference` between two records; see `StateRecord.diff`."""
    found = []
    for name in ("algorithm", "iterations", "micro_step", "loss_scale"):
        _compare_plain(found, name, getattr(left, name), getattr(right, name))
    for part in ("hypers", "options", "calls"):
        one, two = getattr(left, part), getattr(right, part)
        for name in _keys(one, two):
            _compare_plain(found, "%s[%r]" % (part, name), one.get(name, "(missing)"), two.get(name, "(missing)"), tolerance)
    if [v[:2] for v in left.variables] != [v[:2] for v in right.variables]:
        one, two = ([v.path for v in record.variables] for record in (left, right))
        found.append(Difference("variables", one, two, "variables differ: %s | %s" % (one, two)))
    one, two = collections.OrderedDict(left.arrays()), collections.OrderedDict(right.arrays())
    for key in _keys(one, two):
        _compare_arrays(found, key[0] + "".join("[%r]" % part for part in key[1:]), one.get(key), two.get(key), tolerance)
    return found


def _keys(left, right):
    return list(left) + [key for key in right if key not in left]


def _compare_plain(found, where, left, right, tolerance=0.0):
    if left == right or (left != left and right != right):
        return
    if tolerance and all(isinstance(v, (int, float)) for v in (left, right)):
        if abs(left - right) <= tolerance * max(abs(left), abs(right)):
            return
    found.append(Difference(where, left, right, "%s differs: %r | %r" % (where, left, right)))


def _compare_arrays(found, where, left, right, tolerance):
    import numpy as np

    if left is None or right is None:
        text = "%s is in the %s only" % (where, "second" if left is None else "first")
        found.append(Difference(where, left, right, text))
        return
    left, right = np.asarray(left), np.asarray(right)
    if left.shape != right.shape:
        text = "%s has other shapes: %s | %s" % (where, left.shape, right.shape)
    else:
        same = (left == right) | ((left != left) & (right != right))
        wide = np.complex128 if "c" in (left.dtype.kind, right.dtype.kind) else np.float64
        one, two = (np.where(same, 0, array).astype(wide) for array in (left, right))
        largest = float(np.max(np.abs(one - two))) if left.size else 0.0
        size = max([float(np.max(np.abs(a))) for a in (left.astype(wide), right.astype(wide)) if a.size] or [0.0])
        if np.all(same) or largest <= tolerance * size:
            return
        text = "%s differs in %d of %d numbers, by %.3g at most" % (where, int(np.sum(~same)), left.size, largest)
    found.append(Difference(where, left, right, text))
