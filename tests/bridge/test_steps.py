"""Legacy classes of every style make the steps that they always made."""

import numpy as np
import pytest
from bridging import GENERATIONS, HOSTED, adam, location, lookahead, momentum, needs_base, needs_host

import compat_opt as co
from compat_opt import bridge
from compat_opt.testing.compare import assert_close

pytestmark = needs_base

FIRST = [1.0, -2.0, 3.0]
GRADIENTS = [[1.0, 2.0, -0.5], [0.5, -1.0, 2.0], [2.0, 0.25, 1.0], [-1.0, 1.0, 0.5]]


def accumulated(first, gradients):
    w, path = np.array(first, "float64"), []
    for step, gradient in enumerate(gradients):
        if step % 2:
            w = w - 0.01 * (np.array(gradients[step - 1]) + gradient)
        path.append(w)
    return path


#: File, class, its arguments, and its trajectory in float64.
STYLES = {
    "OptimizerV2": ("momentum_v2.py", "Momentum", {"momentum": 0.8, "decay": 0.5}, momentum(FIRST, GRADIENTS, 0.1, 0.8, 0.5)),
    "the old lr=": ("momentum_v2.py", "Momentum", {"lr": 0.5}, momentum(FIRST, GRADIENTS, 0.5)),
    "private imports": ("private_imports.py", "Accelerated", {}, momentum(FIRST, GRADIENTS)),
    "a subclass of Adam": (
        "private_imports.py",
        "DecayedAdam",
        {"learning_rate": 0.1, "rate": 0.3, "norm": 1.5},
        adam(FIRST, GRADIENTS, 0.1, 0.3, 1.5),
    ),
    "a wrapper": (
        "wrappers.py",
        "Lookahead",
        {"optimizer": "sgd"},
        lookahead(FIRST, GRADIENTS, lambda w, g: w - 0.01 * g),
    ),
    "an accumulator": ("wrappers.py", "Accumulated", {"optimizer": "sgd"}, accumulated(FIRST, GRADIENTS)),
    "get_updates": ("get_updates.py", "OldMomentum", {"momentum": 0.5}, momentum(FIRST, GRADIENTS, 0.1, 0.5)),
    "get_updates that reads its counter": (
        "get_updates.py", "OldWarmup", {}, [
            np.array(FIRST) - 0.1 * sum((k + 1) * np.array(g) for k, g in enumerate(GRADIENTS[: n + 1])) for n in range(4)
        ],
    ),
    "Keras 2": ("newer.py", "Keras2Momentum", {}, momentum(FIRST, GRADIENTS)),
    "Keras 3": ("keras3_momentum.py", "Keras3Momentum", {}, momentum(FIRST, GRADIENTS)),
}
NEEDS = {"Keras 2": "keras2", "Keras 3": "keras3", "get_updates": None, "get_updates that reads its counter": None}


def class_of(style):
    need = NEEDS.get(style, "optimizer_v2")
    if need is not None and need not in GENERATIONS or need is None and not HOSTED:
        pytest.skip("no target of this environment has the base class: %s" % (need or "a host for get_updates"))
    if style in ("a wrapper", "an accumulator") and not HOSTED:
        pytest.skip("keras.optimizers.legacy in a plain OptimizerV2 environment is not what these import")
    file, name, arguments, path = STYLES[style]
    return bridge.load(location(file, name)), arguments, path


def variable(value=FIRST):
    import tensorflow as tf

    return tf.Variable(np.array(value, "float32"))


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "tf.function"])
@pytest.mark.parametrize("style", STYLES)
def test_every_style(style, compiled):
    import tensorflow as tf

    cls, arguments, path = class_of(style)
    optimizer, w = cls(**arguments), variable()

    def step(gradient):
        optimizer.apply_gradients([(gradient, w)])

    step = tf.function(step) if compiled else step
    for gradient, expected in zip(GRADIENTS, path):
        step(tf.constant(gradient))
        assert_close(w.numpy(), expected, 2e-5)
    assert int(np.array(optimizer.iterations)) == len(GRADIENTS)


@needs_host
def test_a_backend_function_replaced_for_a_base_class_is_refused():
    import tensorflow as tf

    optimizer = bridge.load(location("get_updates.py", "Patches"))(0.1)
    with pytest.raises(co.errors.UnsupportedError, match="keras.backend.update"):
        optimizer.apply_gradients([(tf.constant(GRADIENTS[0]), variable())])


def test_rows_that_have_a_gradient_only():
    import tensorflow as tf

    cls = bridge.load(location("momentum_v2.py", "Momentum"))
    optimizer, w = cls(0.1), variable([[1.0], [2.0], [3.0]])
    for value in (2.0, 4.0):
        rows = tf.IndexedSlices(tf.constant([[value], [1.0], [1.0]]), tf.constant([2, 0, 2]), tf.constant([3, 1]))
        optimizer.apply_gradients([(rows, w)])
    expected = np.array([momentum([1.0], [[1.0], [1.0]])[-1], [2.0], momentum([3.0], [[3.0], [5.0]])[-1]])
    assert_close(w.numpy(), expected, 1e-6)


@needs_host
def test_state_is_in_variables_and_moves_by_weights():
    import tensorflow as tf

    cls = bridge.load(location("momentum_v2.py", "Momentum"))
    one, w = cls(0.1), variable()
    for gradient in GRADIENTS[:2]:
        one.apply_gradients([(tf.constant(gradient), w)])
    velocity = 0.9 * np.array(GRADIENTS[0]) + GRADIENTS[1]
    arrays = [v.numpy() for v in one.variables]
    assert [a.shape for a in arrays].count((3,)) == 1
    assert_close([a for a in arrays if a.shape == (3,)][0], velocity, 1e-6)
    assert_close(one.get_slot(w, "velocity").numpy(), velocity, 1e-6)
    other = cls(0.1)
    other.set_weights(one.get_weights())  # before its first step
    other.apply_gradients([(tf.constant(GRADIENTS[2]), w)])
    assert_close(w.numpy(), momentum(FIRST, GRADIENTS)[2], 1e-6)


@needs_host
def test_the_learning_rate_is_live_in_a_compiled_step():
    import tensorflow as tf

    optimizer, w = bridge.load(location("momentum_v2.py", "Momentum"))(0.1, momentum=0.0), variable([0.0])
    step = tf.function(lambda: optimizer.apply_gradients([(tf.constant([1.0]), w)]))
    step()
    optimizer.learning_rate = 0.5
    step()
    optimizer.lr = 0.25
    assert_close(float(np.array(optimizer.learning_rate)), 0.25, 1e-7)
    step()
    assert_close(w.numpy(), [-0.85], 1e-6)
    optimizer.momentum = 1.0
    step()
    assert_close(w.numpy(), [-0.85 - 0.25 * 2], 1e-6)


@needs_host
def test_a_schedule_of_todays_keras():
    import tensorflow as tf

    schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.4, 1, 0.5)
    cls = bridge.load(location("momentum_v2.py", "Momentum"))
    for optimizer in (cls(schedule, momentum=0.0), cls.from_config(cls(schedule, momentum=0.0).get_config())):
        w = variable([0.0])
        for _ in range(3):
            optimizer.apply_gradients([(tf.constant([1.0]), w)])
        assert_close(w.numpy(), [-0.7], 1e-6)
        assert_close(float(np.array(optimizer.learning_rate)), 0.05, 1e-6)
    with pytest.raises(TypeError, match="not settable"):
        optimizer.learning_rate = 0.1


@needs_host
def test_a_schedule_for_a_built_optimizer_is_refused():
    import tensorflow as tf

    optimizer, w = bridge.load(location("momentum_v2.py", "Momentum"))(0.1), variable()
    optimizer.apply_gradients([(tf.constant(GRADIENTS[0]), w)])
    with pytest.raises(co.errors.HyperError, match="constructor"):
        optimizer.learning_rate = tf.keras.optimizers.schedules.ExponentialDecay(0.4, 1, 0.5)


@needs_host
def test_a_wrapper_around_an_optimizer_of_todays_keras():
    import tensorflow as tf

    cls = bridge.load(location("wrappers.py", "Lookahead"))
    schedule = tf.keras.optimizers.schedules.PiecewiseConstantDecay([100], [0.1, 0.0])
    for rate in (0.1, schedule):
        optimizer, w = cls(tf.keras.optimizers.SGD(rate)), variable()
        for gradient, expected in zip(GRADIENTS, lookahead(FIRST, GRADIENTS, lambda w, g: w - 0.1 * g)):
            optimizer.apply_gradients([(tf.constant(gradient), w)])
            assert_close(w.numpy(), expected, 2e-6)


@needs_host
@pytest.mark.parametrize("wrong", ["weight_decay", "use_ema"])
def test_a_wrapper_refuses_what_its_optimizer_would_lose(wrong):
    import tensorflow as tf

    inner = tf.keras.optimizers.SGD(0.1, **{wrong: 0.5 if wrong == "weight_decay" else True})
    with pytest.raises(co.errors.UnsupportedError, match=wrong):
        bridge.load(location("wrappers.py", "Lookahead"))(inner)


@needs_host
def test_a_wrapper_refuses_an_optimizer_with_steps():
    import tensorflow as tf

    inner = tf.keras.optimizers.SGD(0.1)
    inner.apply_gradients([(tf.constant(GRADIENTS[0]), variable())])
    with pytest.raises(co.errors.UnsupportedError, match="made steps"):
        bridge.load(location("wrappers.py", "Lookahead"))(inner)


@needs_host
def test_the_config_makes_an_equal_optimizer():
    import tensorflow as tf

    optimizer = bridge.load(location("momentum_v2.py", "Momentum"))(0.1, momentum=0.5, clipnorm=1.0, name="mine")
    optimizer.learning_rate = 0.2
    copy, w = type(optimizer).from_config(optimizer.get_config()), variable([0.0, 0.0])
    assert type(copy) is type(optimizer) and copy.get_config() == optimizer.get_config()
    copy.apply_gradients([(tf.constant([3.0, 4.0]), w)])
    assert_close(w.numpy(), [-0.12, -0.16], 1e-6)


@needs_host
@pytest.mark.skipif("keras3" not in GENERATIONS, reason="Model.fit of Keras 2 calls minimize, where the hook is called anyway")
def test_gradient_hooks_run_where_fit_calls_apply_gradients_only():
    import tensorflow as tf

    optimizer, w = bridge.load(location("momentum_v2.py", "Halved"), "keras3")(0.1), variable()
    for gradient in GRADIENTS:
        optimizer.apply_gradients([(tf.constant(gradient), w)])
    assert_close(w.numpy(), momentum(FIRST, 0.5 * np.array(GRADIENTS))[-1], 1e-6)


@pytest.mark.skipif("keras3" not in GENERATIONS or "keras2" not in GENERATIONS, reason="needs Keras 3 and tf-keras")
@pytest.mark.parametrize("style", ["Keras 3", "OptimizerV2"])
def test_the_other_way_into_tf_keras(style):
    import tensorflow as tf
    import tf_keras

    file, name, arguments, path = STYLES[style]
    cls = bridge.load(location(file, name), "keras2")
    assert issubclass(cls, tf_keras.optimizers.Optimizer)
    optimizer, w = cls(**arguments), variable()
    for gradient in GRADIENTS:
        optimizer.apply_gradients([(tf.constant(gradient), w)])
    assert_close(w.numpy(), path[-1], 2e-5)
