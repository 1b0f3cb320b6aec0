"""The pairs that apply_gradients is given, checked before anything is changed."""

import warnings

from compat_opt.errors import GradientError
from compat_opt.ops import dtypes


def checked_pairs(core, grads_and_vars):
    """[(gradient, variable)] with a gradient each, after building all variables.

    Raises:
        GradientError: nothing has a gradient, a pair is malformed, or a shape or dtype does
            not fit; nothing has changed then.
    """
    pairs = []
    for number, pair in enumerate(grads_and_vars):
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
            raise GradientError(
                "apply_gradients takes pairs.",
                "(gradient, variable)",
                "grads_and_vars[%d]=%r" % (number, pair),
            )
        pairs.append((pair[0], core.layout.variable(pair[1])))
    missing = [core.layout.name(v) for g, v in pairs if g is None]
    if pairs and len(missing) == len(pairs):
        raise GradientError(
            "No gradients provided for any variable: %s." % ", ".join(missing),
            remedy="Is the loss computed from these variables, inside the tape?",
        )
    checked = [(_checked(core, g, v), v) for g, v in pairs if g is not None]
    if missing:
        warnings.warn(
            "Gradients do not exist for variables %s; they are left alone." % ", ".join(missing)
        )
    keys = [core.layout.key(v) for _, v in checked]
    if len(set(keys)) < len(keys):
        twice = sorted({core.layout.name(v) for _, v in checked if keys.count(core.layout.key(v)) > 1})
        raise GradientError(
            "A variable came with two gradients in one call: %s." % ", ".join(twice),
            "each variable once",
            remedy="Sum the gradients first.",
        )
    core.build([variable for _, variable in pairs])
    return checked


def _checked(core, gradient, variable):
    if core.layout.fits(gradient, variable):
        return gradient
    gradient = core.layout.gradient(gradient, variable)
    shape, own = core.layout.gradient_shape(gradient), core.layout.shape(variable)
    fits = shape is None or (
        len(shape) == len(own) and all(a is None or b is None or a == b for a, b in zip(shape, own))
    )
    if not fits:
        raise GradientError(
            "The gradient of variable %s has another shape than the variable."
            % core.layout.name(variable),
            "shape %s" % (tuple(own),),
            "shape %s" % (tuple(shape),),
            environment=core.layout.describe(),
        )
    dtype, own_dtype = core.layout.gradient_dtype(gradient), core.layout.dtype(variable)
    if not dtypes.is_floating(dtype) or (dtypes.is_complex(dtype) and not dtypes.is_complex(own_dtype)):
        raise GradientError(
            "The gradient of variable %s has a dtype that does not fit." % core.layout.name(variable),
            "dtype %s" % own_dtype,
            "dtype %s" % dtype,
            environment=core.layout.describe(),
        )
    return gradient
