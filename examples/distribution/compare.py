"""Compare two results.

    python compare.py one.npz other.npz

prints the largest difference of weights and of optimizer state, and whether each slot is on its
variable's device.
"""

import json
import sys

import numpy as np


def load(path):
    """({name: array}, facts) of a result."""
    with np.load(path) as file:
        return {name: file[name] for name in file.files if name != "facts"}, json.loads(str(file["facts"]))


def difference(one, other, kind):
    """The largest absolute difference of the arrays of a kind, "weight" or "state"; NaN for other arrays.

    Weights are compared end to end: variables in pieces count as the whole ones.
    """
    some, others = ([r[n].astype("float64") for n in sorted(r) if n.startswith(kind)] for r in (one, other))
    if kind == "weight":
        some, others = ([np.concatenate([a.ravel() for a in arrays])] for arrays in (some, others))
    if [a.shape for a in some] != [a.shape for a in others]:
        return float("nan")
    return max(float(np.max(np.abs(a - b))) for a, b in zip(some, others))


def without_nan(arrays):
    """The arrays with 0 for NaN, which a scheduled hyperparameter's variable holds."""
    return {name: np.nan_to_num(np.asarray(array, "float64")) for name, array in arrays.items()}


def apart(facts):
    """The slots that are on another device than their variable."""
    return [entry for entry in facts["placement"] if entry[2] != entry[3]]


def main():
    (one, facts), (other, other_facts) = load(sys.argv[1]), load(sys.argv[2])
    one, other = without_nan(one), without_nan(other)
    print("target:               %s" % other_facts["target"])
    print("weights differ by:    %.1e" % difference(one, other, "weight"))
    print("state differs by:     %.1e" % difference(one, other, "state"))
    print("iterations:           %d and %d" % (facts["iterations"], other_facts["iterations"]))
    slots = other_facts["placement"]
    devices = sorted({device for entry in slots for device in entry[2]})
    print("slots beside variables: %d of %d, on %s" % (len(slots) - len(apart(other_facts)), len(slots), ", ".join(devices)))


if __name__ == "__main__":
    main()
