"""Reports on variables that an optimizer meets after its first step."""

import pytest

from compat_opt.errors import CompatOptError
from compat_opt.rules import SGD, Adam


def test_one_optimizer_takes_a_second_models_variables(on):
    """pyod#459, nonlincausality#12, UniTVelo#20, muzero-cartpole#2: KeyError or "Unknown variable"."""
    a, b = on.variable([1.0], name="a"), on.variable([1.0], name="b")
    optimizer = on.optimizer(Adam, 0.1)
    on.step(optimizer, ([1.0], a))
    on.step(optimizer, ([1.0], b))
    # The second step counts as step 2, whose corrections turn a first gradient into this move.
    corrected = 0.1 * (0.1 / (1 - 0.9**2)) / (0.001 / (1 - 0.999**2)) ** 0.5
    on.assert_value(b, [1 - corrected], 1e-5)


def test_an_unfrozen_layer_joins_and_the_head_keeps_its_momentum(on):
    """Esri/arcgis#1849, Concerto#7, keras#22413: unfreezing the backbone was an error."""
    head, base = on.variable([0.0], name="head"), on.variable([0.0], name="base")
    optimizer = on.optimizer(SGD, 1.0, momentum=0.9)
    for _ in range(2):
        on.step(optimizer, ([1.0], head))
    on.step(optimizer, ([1.0], head), ([1.0], base))
    on.assert_value(head, [-(1 + 1.9 + 2.71)])
    on.assert_value(base, [-1.0])


def test_a_second_build_loses_nothing(on):
    """TimeSeriesDeepClustering#1: compiling again with more layers must keep what is there."""
    head, base = on.variable([0.0], name="head"), on.variable([0.0], name="base")
    optimizer = on.optimizer(SGD, 1.0, momentum=0.9)
    optimizer.build([head])
    on.step(optimizer, ([1.0], head))
    optimizer.build([base, head])
    on.step(optimizer, ([1.0], head))
    on.assert_value(head, [-2.9])


def two_in_one_function(on):
    if on.tf is None:
        pytest.skip("no tf.function on the backend %s" % on.target.backend)
    w = on.variable([1.0])
    optimizers = [on.optimizer(SGD, 0.25, momentum=0.5), on.optimizer(SGD, 0.125, momentum=0.5)]

    @on.tf.function
    def step(number):
        optimizers[number].apply_gradients([(2.0 * w, w)])

    return w, optimizers, step


def test_two_optimizers_share_a_tf_function_once_they_are_built(on):
    """tensorflow#34983, tensorflow#27120: "tried to create variables on non-first call"."""
    w, optimizers, step = two_in_one_function(on)
    for optimizer in optimizers:
        optimizer.build([w])
    for number in (0, 1, 0):
        step(number)
    assert [int(on.value(o.iterations)) for o in optimizers] == [2, 1]
    # w: 1 - .25*2 = .5; - .125*1 = .375; velocity .5*(.5) + .25*.75 -> .375 - .4375
    on.assert_value(w, [0.375 - (0.5 * 0.5 + 0.25 * 0.75)])


def test_without_build_the_error_says_what_to_do(on):
    """tensorflow#34983, tensorflow#34316: the second optimizer's state can't be made inside the traced function."""
    w, optimizers, step = two_in_one_function(on)
    step(0)
    before = on.value(w)
    try:
        step(1)
    except (CompatOptError, ValueError) as error:
        assert "build(" in str(error)
        on.assert_value(w, before)
    else:
        on.assert_value(w, [0.375])
