"""Compares what a class does to a sparse gradient with what it does to the same gradient made dense.

Both have been followed into lines of the rule's language; these are computed here on plain numbers, for one
element whose row the gradient has, and for one whose row it has not. The old code itself is not run.
"""

import math
import random

from compat_opt.codemod.syntax import write
from compat_opt.codemod.writer import body_lines

#: What the two are to each other.
SAME, LAZY, OTHER, UNKNOWN = "same", "lazy", "other", "unknown"


class _Numbers:
    """The operations on one number each; those that need more than one element are missing."""

    sqrt = staticmethod(lambda x: math.sqrt(x) if x >= 0 else math.nan)
    rsqrt = staticmethod(lambda x: 1 / math.sqrt(x) if x > 0 else math.inf)
    square = staticmethod(lambda x: x * x)
    abs = staticmethod(abs)
    sign = staticmethod(lambda x: (x > 0) - (x < 0))
    exp, expm1, log, log1p, tanh, sin, cos = math.exp, math.expm1, math.log, math.log1p, math.tanh, math.sin, math.cos
    floor, ceil, round, isnan, isfinite = math.floor, math.ceil, round, math.isnan, math.isfinite
    sigmoid = staticmethod(lambda x: 1 / (1 + math.exp(-x)))
    maximum, minimum = max, min
    clip = staticmethod(lambda x, low, high: min(max(x, low), high))
    where = staticmethod(lambda test, a, b: a if test else b)
    logical_and = staticmethod(lambda a, b: a and b)
    logical_or = staticmethod(lambda a, b: a or b)
    logical_not = staticmethod(lambda a: not a)
    zeros_like = staticmethod(lambda x: 0.0)
    ones_like = staticmethod(lambda x: 1.0)


class _Beneath:
    """Stands in for the rule beneath one that is over another."""

    def update(self, grad, var, slots, hyper, ops):
        return var - hyper.learning_rate * grad, dict(slots)


class _Element(float):
    """One element of a variable: of a matrix, as embeddings are."""

    shape = (4, 3)


class _Named(dict):
    __getattr__ = dict.__getitem__


def compare(model, dense, sparse):
    """How the sparse `Executor` relates to the dense one.

    Returns:
        (kind, reason): SAME, LAZY (rows without gradient stay, the others agree), OTHER, or UNKNOWN where it can't be
        told. The kind is that of the defaults; the reason names flags with which it is another.
    """
    try:
        programs = [_program(model, executor) for executor in (dense, sparse)]
        found = [(name, _relation(model, settings, programs)) for name, settings in _settings(model)]
    except AttributeError:
        return UNKNOWN, "it is not one of each element by itself"
    except Exception as error:  # the numbers are ours: what can't be computed on one element is no fault of the class
        return UNKNOWN, "%s: %s" % (type(error).__name__, error)
    kind, reason = found[0][1]
    others = [name for name, relation in found[1:] if relation[0] != kind]
    if others:
        reason = (reason + "; " if reason else "") + "another update with %s" % " and ".join(others)
    return kind, reason


def is_affine(model, executor):
    """Whether the update is of first degree in the gradient: then summing repeated rows later is summing them first."""
    program = _program(model, executor)
    for seed in range(4):
        point = _point(model, next(iter(_settings(model)))[1], seed, True)
        try:
            ends = [program(**dict(point, grad=factor * point["grad"])) for factor in (1.0, 2.0, 3.0)]
        except Exception:  # what needs more than one element
            return False
        middle = {name: (value + ends[2][name]) / 2 for name, value in ends[0].items()}
        if not _close(middle, ends[1]):
            return False
    return True


def unbound_name(model, executor):
    """The name that the followed update reads before it has a value, as an error's text; "" if there is none.

    A check of the migrator on itself: its result is computed once on numbers.
    """
    program = _program(model, executor)
    for _, settings in _settings(model):
        try:
            program(**_point(model, settings, 0, True))
        except NameError as error:
            return str(error)
        except Exception:  # what needs more than one element
            continue
    return ""


def _relation(model, settings, programs):
    """The relation of the two programs under one setting of the flags."""
    same = lazy = True
    for seed in range(8):
        for touched in (True, False):
            point = _point(model, settings, seed, touched)
            whole, rows = [program(**point) for program in programs]
            agree = _close(whole, rows)
            if touched and not agree:
                return OTHER, "rows that the gradient has are updated by another formula"
            same &= agree
            lazy &= touched or _close(dict(point["slots"], var=point["var"]), rows)
    if same:
        return SAME, ""
    return (LAZY, "") if lazy else (OTHER, "rows that the gradient does not have are updated in part")


def _program(model, executor):
    """A function of one element's numbers: ``{"var": new, slot: new}``."""
    lines = ["def program(self, hyper, ops, slots, grad, var, touched, shared):", "    new_slots = dict(slots)"]
    lines += body_lines(executor.out, 1)
    for key, value in executor.now.items():
        if key == "var":
            continue
        name = model.slot(key, None).name
        if key not in model.conditional:
            lines.append('    new_slots["%s"] = %s' % (name, write(value.node)))
    new_var = write(executor.now["var"].node) if "var" in executor.now else "var"
    lines.append("    return dict(new_slots, var=%s)" % new_var)
    names = {}
    known = {"dict": dict, "len": len, "NotImplementedError": NotImplementedError, "super": _Beneath}
    exec("\n".join(lines), {"__builtins__": known}, names)
    return names["program"]


def _settings(model):
    """The defaults, and each flag turned over."""
    base = {spec.name: spec.default for spec in model.hypers.values()}
    yield "the defaults", base
    for spec in model.hypers.values():
        if isinstance(spec.default, bool):
            yield "%s=%r" % (spec.name, not spec.default), dict(base, **{spec.name: not spec.default})


def _point(model, settings, seed, touched):
    rng = random.Random(seed)
    numbers = {}
    for name, default in settings.items():
        default = 0.05 if default is None and name not in model.forced_static else default
        plain = isinstance(default, (int, float)) and not isinstance(default, bool)
        numbers[name] = default if not plain or default else rng.choice([default, 0.01])
    hyper = _Named(numbers, step=float(rng.randint(1, 9)), learning_rate=0.1, square_sum=1.0)
    slots = _Named()
    for spec in model.slot_specs.values():
        condition = spec.condition
        scope = {"self": _Named(numbers), "hyper": hyper}
        if condition is None or eval(condition, {"__builtins__": {}}, scope):
            slots[spec.name] = rng.uniform(0.1, 2.0)
    gradient = rng.uniform(-1, 1) if touched else 0.0
    return dict(
        shared=_Named(model.shared), self=_Named(numbers), hyper=hyper, ops=_Numbers, slots=slots, grad=gradient, var=_Element(rng.uniform(-1, 1)), touched=touched
    )


def _close(first, second):
    for name, value in first.items():
        other = second.get(name)
        if math.isnan(value) and math.isnan(other):
            continue
        if not abs(value - other) <= 1e-9 * max(1.0, abs(value)):
            return False
    return True


__all__ = ["LAZY", "OTHER", "SAME", "UNKNOWN", "compare", "unbound_name"]
