"""Dtype names and how they mix: the part of the array API's promotion that rules need."""

from compat_opt.errors import RuleError

HALF = ("float16", "bfloat16")
_FLOATS = ("float16", "bfloat16", "float32", "float64")
_COMPLEX = ("complex64", "complex128")
_WIDTH = {"float16": 0, "bfloat16": 0, "float32": 1, "float64": 2, "complex64": 1, "complex128": 2}


def is_floating(dtype):
    """Whether `dtype` is real or complex floating point."""
    return dtype in _WIDTH


def is_complex(dtype):
    """Whether `dtype` is complex."""
    return dtype in _COMPLEX


def checked(dtype):
    """`dtype`, if it is a name of numbers or booleans.

    Raises:
        TypeError: strings, objects and other things that no operation takes.
    """
    if not dtype.startswith(("float", "bfloat", "complex", "int", "uint", "bool")):
        raise TypeError("no numbers: %s" % dtype)
    return dtype


def real_counterpart(dtype):
    """float32 for complex64, float64 for complex128, `dtype` itself otherwise."""
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def compute_dtype(storage_dtype):
    """The dtype in which a variable of `storage_dtype` is updated.

    Raises:
        RuleError: for integer, boolean and string variables.
    """
    if storage_dtype in HALF:
        return "float32"
    if storage_dtype not in _WIDTH:
        raise RuleError(
            "A variable of dtype %s can't be trained." % storage_dtype,
            "a floating point or complex variable",
            "dtype=%s" % storage_dtype,
        )
    return storage_dtype


def promote(first, second):
    """The dtype that holds both: wider of the two, complex if either is."""
    if first == second:
        return first
    if first not in _WIDTH:
        return second
    if second not in _WIDTH:
        return first
    width = max(_WIDTH[first], _WIDTH[second])
    if is_complex(first) or is_complex(second):
        return "complex128" if width == 2 else "complex64"
    return {0: "float32", 1: "float32", 2: "float64"}[width]
