"""The comparison helper: it must fail when it should."""

import numpy as np
import pytest

from compat_opt.testing.compare import assert_close, assert_trajectories_close

NAN, INF = float("nan"), float("inf")

AGREE = [
    (1.0, 1.0, 0),
    ([1.0, NAN, -INF], [1.0, NAN, -INF], 0),
    (1.0 + 1e-9, 1.0, 1e-8),
    ([0.0, 1.0], [1e-20, 1.0], 1e-10),
    (np.zeros((0, 3)), np.zeros((0, 3)), 0),
    (1e-300 * (1 + 1e-12), 1e-300, 1e-10),
    (1e300, 1e300 * (1 + 1e-12), 1e-10),
    (1 + 1j, 1 + 1j, 0),
]

DISAGREE = [
    (1.0, 1.0 + 1e-9, 1e-10),
    (1.0, -1.0, 1e-3),
    ([1.0, 2.0], [1.0], 1.0),
    ([[1.0, 2.0]], [1.0, 2.0], 1.0),
    (1.0, [1.0], 1.0),
    (NAN, 1.0, 1.0),
    (1.0, NAN, 1.0),
    (INF, 1.0, 1.0),
    (INF, -INF, 1.0),
    (1.0, INF, 1.0),
    (NAN, INF, 1.0),
    ([0.0, 1.0], [1e-3, 1.0], 1e-6),
    (0.0, 1e-300, 1e-3),
    ([1.0, 1.0, 1.0 + 1e-6], [1.0, 1.0, 1.0], 1e-7),
    (1 + 1j, 1 - 1j, 1e-3),
    (np.zeros((0, 3)), np.zeros((0, 2)), 1.0),
]


@pytest.mark.parametrize("actual, expected, tolerance", AGREE)
def test_passes(actual, expected, tolerance):
    assert_close(actual, expected, tolerance)


@pytest.mark.parametrize("actual, expected, tolerance", DISAGREE)
def test_fails(actual, expected, tolerance):
    with pytest.raises(AssertionError):
        assert_close(actual, expected, tolerance)


def test_message_has_the_position_of_the_largest_error():
    with pytest.raises(AssertionError) as caught:
        assert_close([[1.0, 2.001], [3.0, 5.0]], [[1.0, 2.0], [3.0, 4.0]], 1e-6, "step 7")
    text = str(caught.value)
    assert "step 7" in text and "(1, 1)" in text and "4.0" in text and "5.0" in text
    assert "0.25" in text and "2 of 4" in text


@pytest.mark.parametrize("tolerance", [-1e-3, NAN])
def test_refuses_a_tolerance_that_passes_everything(tolerance):
    with pytest.raises(ValueError):
        assert_close(1.0, 2.0, tolerance)


def test_trajectories_fail_on_any_difference():
    row = [np.ones(2), np.ones(())]
    assert_trajectories_close([row, row], [row, row], 0)
    wrong = [
        [row],
        [],
        [row, row[:1]],
        [row, [np.ones(2), np.array(1.1)]],
    ]
    for other in wrong:
        with pytest.raises(AssertionError):
            assert_trajectories_close(other, [row, row], 1e-6)
    with pytest.raises(AssertionError):
        assert_trajectories_close([], [], 1e-6)
