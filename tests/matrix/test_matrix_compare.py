"""Distances, first differences, groups; and what cells say together."""

import numpy as np
import pytest

from compat_opt.testing.matrix import compare
from compat_opt.testing.matrix.analysis import Analysis, describe, spans
from matrix_fakes import row, trace


def test_the_same_trajectory_has_no_distance():
    found = compare.difference(trace(), trace(), 0.0)
    assert found.distance == 0 and found.step is None and list(found.curve) == [0] * 5


def test_first_difference_names_step_variable_index_and_values():
    one, other = trace(), trace(shift=0.25)
    found = compare.difference(one, other, 1e-6)
    assert (found.step, found.variable, found.index) == (2, "kernel", (1, 0))
    assert found.values == (one["var/kernel"][2, 1, 0], other["var/kernel"][2, 1, 0])
    way = max(np.max(np.abs(t["var/%s" % n] - t["var/%s" % n][0])) for t in (one, other) for n in ("kernel", "bias"))
    assert found.distance == pytest.approx(0.25 / way)
    assert "step 2" in describe(found) and "kernel[1, 0]" in describe(found)


def test_a_difference_within_the_tolerance_is_none():
    found = compare.difference(trace(), trace(shift=1e-9), 1e-6)
    assert found.step is None and 0 < found.distance < 1e-6


def test_a_slot_can_differ_first():
    found = compare.difference(trace(), trace(shift=1.0, slot_shift=0.5), 1e-6)
    assert found.slot == (2, "kernel", "momentum")


def test_not_a_number_is_infinitely_far_from_a_number_and_at_one_with_itself():
    broken = trace()
    broken["var/kernel"][3, 0, 0] = np.nan
    assert compare.difference(trace(), broken, 1e-6).distance == float("inf")
    assert compare.difference(trace(), broken, 1e-6).step == 3
    assert compare.difference(broken, {k: v.copy() for k, v in broken.items()}, 0.0).distance == 0


def test_other_variables_and_other_shapes_differ():
    assert compare.difference(trace(), {"var/kernel": trace()["var/kernel"]}, 1.0).step == 0
    assert compare.difference(trace(), trace(steps=5), 1.0).step == 0


def test_groups_are_of_those_that_agree_with_the_first():
    numbers = [0.0, 5.0, 0.1, 5.2, 9.0]
    assert compare.group(numbers, lambda a, b: abs(a - b) < 1) == [[0.0, 0.1], [5.0, 5.2], [9.0]]
    assert [compare.letter(n) for n in (0, 25, 26, 27)] == ["A", "Z", "AA", "AB"]


def test_analysis_gives_letters_companions_and_distances():
    rows = [row("2.9"), row("2.10"), row("2.11", shift=0.5), row("2.12", shift=0.5), row("2.13", shift=2.0)]
    analysis = Analysis(rows, is_rule=False)
    assert [r.letters["dense"] for r in rows] == ["A", "A", "B", "B", "C"]
    assert analysis.companions(rows[2]) == {"dense": [rows[2].label, rows[3].label]}
    assert analysis.differs()
    assert all(r.to_reference is None for r in rows)
    assert rows[4].to_cells > rows[2].to_cells > 0
    assert rows[0].to_cells == rows[4].to_cells
    assert analysis.groups["dense"][1].difference.step == 2


def test_a_float32_cell_joins_the_float64_cells_that_it_rounds():
    rows = [row("keras3-jax", "keras:keras3", dtype="float32"), row("2.9"), row("2.10", shift=0.5)]
    Analysis(rows, is_rule=True)
    assert [r.letters["dense"] for r in rows] == ["A", "A", "B"]


def test_a_rule_is_measured_by_its_reference():
    one = row("2.9", shift=1e-6)
    one.traces["reference.dense"] = trace()
    analysis = Analysis([one], is_rule=True)
    assert 0 < one.to_reference < 1e-5 and one.to_cells is None
    assert not analysis.differs()


def test_spans_join_neighbours():
    rows = [row(name) for name in ("2.9", "2.10", "2.11", "2.13", "2.16-oldest-keras")]
    assert spans(rows) == ["tf.keras:optimizer_v2 2.9-2.11, 2.13, 2.16-oldest-keras"]


def test_tolerances():
    assert compare.tolerance_for(True, {"float64"}) < compare.tolerance_for(False, {"float64"})
    assert compare.tolerance_for(True, {"float64", "float32"}) == compare.SINGLE
    assert compare.tolerance_for(True, {"float32"}, 0.5) == 0.5
