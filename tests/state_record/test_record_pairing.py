"""Which variable is which: by path, by name, in order; and what is refused."""

import pytest

from compat_opt.errors import StateError
from compat_opt.state.pairing import pair
from compat_opt.state.record import Variable


def variables(*named):
    return [Variable(name, shape, "float32") for name, shape in named]


SQUARE = (3, 3)
D1, D2, D3 = (("d%d/kernel" % i, SQUARE) for i in (1, 2, 3))


def partners(record, target, **how):
    return pair(variables(*record), variables(*target), **how)


def test_by_path_whatever_the_order():
    assert partners([D1, D2], [D2, D1]).partners == [1, 0]
    assert partners([D1, D2], [D2, D1]).how == ["path", "path"]


def test_by_the_end_of_the_path():
    found = partners([("net/d1/kernel", SQUARE), ("net/d2/kernel", SQUARE)], [D2, D1])
    assert found.partners == [1, 0] and found.how == ["name", "name"]


def test_by_a_path_that_keras_3_wrote_with_underscores():
    found = partners([("net_d1_kernel", SQUARE), ("net_d2_kernel", SQUARE)], [("net/d2/kernel", SQUARE), ("net/d1/kernel", SQUARE)])
    assert found.partners == [1, 0] and found.how == ["name", "name"]


def test_a_layer_that_was_added_or_removed_shifts_nothing():
    found = partners([D1, D3], [D1, D2, D3])
    assert found.partners == [0, None, 1] and found.left == []
    found = partners([D1, D2, D3], [D1, D3])
    assert found.partners == [0, 2] and found.left == [1]


def test_a_layer_that_was_replaced_gets_no_state():
    found = partners([D1, D2], [D1, D3])
    assert found.partners == [0, None] and found.left == [1]


@pytest.mark.parametrize("renames", ["ordered", [("d1/kernel", "d2/kernel")], {"d1/kernel": "d2/kernel", "d3/kernel": "d2/kernel"}])
def test_renames_that_are_no_pairs_are_refused(renames):
    with pytest.raises(StateError, match="These renames are not pairs"):
        partners([D1, D2, D3], [D1, D2, D3], renames=renames)


def test_names_without_any_match_go_in_order():
    found = partners([D1, D2], [("a/w", SQUARE), ("b/w", SQUARE)])
    assert found.partners == [0, 1] and found.how == ["order", "order"]


def test_numbers_that_count_up_go_in_order():
    found = partners([("dense/kernel", (4, 3)), ("dense_1/kernel", (3, 2))], [("dense_1/kernel", (4, 3)), ("dense_2/kernel", (3, 2))])
    assert found.partners == [0, 1]


def test_numbers_that_count_up_but_could_be_names_are_refused():
    record = [("dense/kernel", SQUARE), ("dense_1/kernel", SQUARE)]
    target = [("dense_1/kernel", SQUARE), ("dense_2/kernel", SQUARE)]
    with pytest.raises(StateError) as caught:
        partners(record, target)
    assert "by name dense_1/kernel is dense_1/kernel, in order it is dense/kernel" in str(caught.value)
    assert "dense/kernel in the record, dense_2/kernel in the optimizer" in str(caught.value)
    assert partners(record, target, renames="order").partners == [0, 1]
    found = partners(record, target, renames={"dense/kernel": "dense_2/kernel"})
    assert found.partners == [1, 0] and found.how == ["name", "given"] or found.how == ["path", "given"]


def test_shapes_tell_apart_where_names_do_not():
    found = partners([("a", (4, 3)), ("b", (3,))], [("y", (3,)), ("x", (4, 3))])
    assert found.partners == [1, 0] and found.how == ["shape", "shape"]


def test_several_candidates_are_named():
    with pytest.raises(StateError) as caught:
        partners([("a", SQUARE), ("b", SQUARE), ("c", (2,))], [("x", SQUARE), ("y", SQUARE)])
    assert "Variable x could be several of the record." in str(caught.value)
    assert "Received: a, b of shape (3, 3)." in str(caught.value)


def test_the_same_name_with_another_shape_is_refused():
    with pytest.raises(StateError) as caught:
        partners([D1, D2], [("d1/kernel", (4, 3)), D2])
    assert "Expected: shape (4, 3). Received: shape (3, 3) of d1/kernel." in str(caught.value)


def test_a_rename_of_nothing_is_refused():
    with pytest.raises(StateError, match="No single variable of the record is called 'd9'"):
        partners([D1], [D1], renames={"d9": "d1/kernel"})


def test_one_end_of_a_path_in_two_places_is_no_name():
    record = [("a/d1/kernel", SQUARE), ("b/d1/kernel", SQUARE)]
    assert partners(record, [("b/d1/kernel", SQUARE), ("a/d1/kernel", SQUARE)]).partners == [1, 0]
    found = partners(record, [("c/d1/kernel", SQUARE), ("d/d1/kernel", SQUARE)])
    assert found.how == ["order", "order"]
