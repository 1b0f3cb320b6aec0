"""What the bridge can't carry out is refused, with the reason, before anything is made."""

import pytest
from bridging import TARGETS, location, needs_host

import compat_opt as co
from compat_opt import bridge
from compat_opt.bridge import frameworks


@needs_host
def test_a_hook_that_nothing_would_call():
    place = location("momentum_v2.py", "Noisy")
    with pytest.raises(co.errors.UnsupportedError) as caught:
        bridge.load(place)
    message = str(caught.value)
    assert "get_gradients (momentum_v2.py, line " in message and "uncalled=('get_gradients',)" in message
    with open(place.rpartition(":")[0]) as file:
        line = 1 + file.read().split("\n").index("    def get_gradients(self, loss, params):")
    assert "line %d)" % line in message
    assert bridge.load(place, uncalled=("get_gradients",)).__name__ == "Noisy"


@needs_host
def test_a_hook_that_only_minimize_calls():
    place = location("momentum_v2.py", "Scaled")
    if co.default_target().generation == "keras3":
        with pytest.raises(co.errors.UnsupportedError, match="_transform_loss"):
            bridge.load(place)
    else:
        assert bridge.load(place).__name__ == "Scaled"


@needs_host
def test_options_of_the_newer_api():
    cls = bridge.load(location("momentum_v2.py", "Momentum"))
    with pytest.raises(TypeError):
        cls(0.1, use_ema=True)
    optimizer = cls(0.1)
    for name, value in (("use_ema", True), ("weight_decay", 0.1), ("gradient_accumulation_steps", 2)):
        with pytest.raises(co.errors.UnsupportedError, match=name):
            setattr(optimizer, name, value)


@needs_host
def test_state_of_another_model():
    import tensorflow as tf

    optimizer = bridge.load(location("momentum_v2.py", "Momentum"))(0.1)
    optimizer.build([tf.Variable([1.0, 2.0])])
    before = [w.copy() for w in optimizer.get_weights()]
    with pytest.raises(co.errors.StateError):
        optimizer.set_weights(before[:-1])
    assert [w.tolist() for w in optimizer.get_weights()] == [w.tolist() for w in before]


def test_without_tf_keras_the_error_names_it(monkeypatch):
    keras3 = co.Target("keras3", "keras", "tensorflow", "2.21", "3.15")
    monkeypatch.setattr(frameworks, "targets", lambda: (keras3,))
    with pytest.raises(co.errors.TargetError, match="tf-keras"):
        frameworks.target_with("optimizer_v2")


@pytest.mark.skipif(not TARGETS or co.default_target().backend == "tensorflow", reason="the backend is TensorFlow")
def test_other_backends_are_refused():
    with pytest.raises((co.errors.UnsupportedError, co.errors.TargetError)) as caught:
        bridge.load(location("momentum_v2.py", "Momentum"))
    assert "backend" in str(caught.value) and "KERAS_BACKEND" in str(caught.value)
