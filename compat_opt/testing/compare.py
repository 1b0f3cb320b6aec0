"""The one comparison that every check in this project goes through."""


def assert_close(actual, expected, tolerance, what="value", smallest=0.0):
    """Assert that two arrays agree to a relative tolerance.

    The error of an element is ``|actual - expected| / max(|expected|, smallest)``, with the
    largest finite ``|expected|`` of the array in place of an element's own where that is less
    than its 1e-6th part: zeros and cancelled digits are measured against their neighbours.

    Args:
        actual: an array-like, of any shape.
        expected: an array-like of the same shape; NaN and infinities must be at equal positions.
        tolerance: the largest relative error that passes; 0 asks for equal numbers.
        what: names the value in the message, such as "step 3, variable 1".
        smallest: differences are not measured against numbers smaller than this.

    Raises:
        AssertionError: names position, both values and the largest error.
        ValueError: `tolerance` is negative or not a number.
    """
    import numpy as np

    if not tolerance >= 0:
        raise ValueError("A tolerance is a number >= 0. Received: tolerance=%r" % (tolerance,))
    actual, expected = np.asarray(actual), np.asarray(expected)
    if actual.shape != expected.shape:
        raise AssertionError(
            "%s has the wrong shape. Expected: %s. Received: %s." % (what, expected.shape, actual.shape)
        )
    if not actual.size:
        return
    finite = np.isfinite(expected)
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    wrong = ~finite & ~same | finite & ~np.isfinite(actual)
    if np.any(wrong):
        raise AssertionError(_message(what, actual, expected, wrong, "NaN or infinite in one only"))
    compared = finite & ~same
    if not np.any(compared):
        return
    size = np.where(finite, np.abs(np.where(finite, expected, 0)), 0)
    floor = max(smallest, float(np.max(size)) * 1e-6, float(np.finfo(np.float64).tiny))
    difference = np.abs(np.where(compared, actual, 0) - np.where(compared, expected, 0))
    error = difference / np.maximum(size, floor)
    largest = float(np.max(error))
    if not largest <= tolerance:
        note = "largest relative error %.3g, tolerance %.3g, %d of %d elements differ" % (
            largest,
            tolerance,
            int(np.sum(error > tolerance)),
            error.size,
        )
        raise AssertionError(_message(what, actual, expected, error == largest, note))


def assert_trajectories_close(actual, expected, tolerance, what="trajectory", smallest=0.0):
    """`assert_close` for ``trajectory[step][variable]``; lengths must agree and not be 0."""
    if not len(expected) or len(actual) != len(expected):
        raise AssertionError(
            "%s has the wrong length. Expected: %d steps. Received: %d." % (what, len(expected), len(actual))
        )
    for step, (row, other) in enumerate(zip(actual, expected)):
        if len(row) != len(other):
            raise AssertionError(
                "%s, step %d. Expected: %d variables. Received: %d." % (what, step, len(other), len(row))
            )
        for index, (value, wanted) in enumerate(zip(row, other)):
            assert_close(value, wanted, tolerance, "%s, step %d, variable %d" % (what, step, index), smallest)


def _message(what, actual, expected, where, note):
    import numpy as np

    position = tuple(int(i) for i in np.argwhere(where)[0])
    return "%s differs at %s. Expected: %r. Received: %r. (%s)" % (
        what,
        position,
        expected[position].item(),
        actual[position].item(),
        note,
    )
