"""Reports on moving averages of weights, on gradient accumulation, and on replicas."""

from compat_opt.rules import SGD, Adam


def test_use_ema_is_an_argument_everywhere(on):
    """tfa#2797, tfa#2844, tfa#423: missing up to 2.10. The average starts from the first value."""
    w = on.variable([0.0])
    optimizer = on.optimizer(SGD, 1.0, use_ema=True, ema_momentum=0.5)
    for _ in range(2):
        on.step(optimizer, ([1.0], w))
    on.assert_value(w, [-2.0])
    optimizer.finalize_variable_values([w])
    on.assert_value(w, [0.5 * (0.5 * 0 + 0.5 * -1) + 0.5 * -2])


def test_an_average_does_not_start_from_zero(on):
    """keras#18949, keras#18972, keras-core#437: weights collapsed towards zero."""
    w = on.variable([1.0])
    optimizer = on.optimizer(SGD, 1e-6, use_ema=True, ema_momentum=0.9999)
    for _ in range(3):
        on.step(optimizer, ([1.0], w))
    optimizer.finalize_variable_values([w])
    on.assert_value(w, [1.0], 1e-5)


def test_accumulated_calls_equal_one_step_with_their_mean(on):
    """keras#19990, keras#19998, tfa#2525, horovod#3631: weight decay and bias correction ran on every call."""
    a, b = on.variable([1.0]), on.variable([1.0])
    accumulating = on.optimizer(Adam, 0.1, weight_decay=0.1, gradient_accumulation_steps=3)
    plain = on.optimizer(Adam, 0.1, weight_decay=0.1)
    for gradients in ((1.0, 2.0, 6.0), (-3.0, 0.0, 1.5)):
        for gradient in gradients:
            on.step(accumulating, ([gradient], a))
        on.step(plain, ([sum(gradients) / 3], b))
        on.assert_value(a, on.value(b))
    assert int(on.value(accumulating.iterations)) == 2
