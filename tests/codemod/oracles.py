"""What the classes in the sources compute, written as float64 recurrences over one variable and its gradients."""

import numpy as np


def _adam(var, grads, lr, b1, b2, eps, amsgrad=False, rate=lambda lr, t: lr, m_only=False):
    m = v = vhat = np.zeros_like(var)
    for t, g in enumerate(grads, 1):
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g * g
        vhat = np.maximum(vhat, v)
        root = np.sqrt(vhat if amsgrad else v) + eps
        scale = (1 if m_only else np.sqrt(1 - b2**t)) / (1 - b1**t)
        var = var - rate(lr, t) * scale * m / root
        yield var


def adam_like(var, grads, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False):
    return _adam(var, grads, learning_rate, beta_1, beta_2, epsilon, amsgrad)


def old_adam(var, grads, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False):
    return _adam(var, grads, learning_rate, beta_1, beta_2, epsilon, amsgrad)


def three_adam(var, grads, learning_rate=0.001, beta=0.9, rho=0.99, epsilon=1e-7):
    return _adam(var, grads, learning_rate, beta, rho, epsilon, m_only=True)


def fused_adam(var, grads, learning_rate=0.01, beta_1=0.9, beta_2=0.99):
    return _adam(var, grads, learning_rate, beta_1, beta_2, 1e-6)


def clipped_adam(var, grads, learning_rate=0.001, weight_decay=0.0):
    m = v = np.zeros_like(var)
    for t, g in enumerate(grads, 1):
        g = g / max(1.0, np.sqrt(np.sum(g * g)))
        m = 0.9 * m + (1 - 0.9) * g
        v = 0.999 * v + (1 - 0.999) * g * g
        var = var - learning_rate * weight_decay * var
        var = var - learning_rate * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * m / (np.sqrt(v) + 1e-7)
        yield var


def momentum(var, grads, learning_rate=0.01, momentum=0.0, nesterov=False):
    speed = np.zeros_like(var)
    for g in grads:
        speed = momentum * speed - learning_rate * g
        if momentum and nesterov:
            var = var + momentum * speed - learning_rate * g
        else:
            var = var + speed
        yield var


def list_momentum(var, grads, learning_rate=0.01, momentum=0.9):
    speed = np.zeros_like(var)
    for g in grads:
        speed = momentum * speed - learning_rate * g
        var = var + speed
        yield var


def lazy_momentum(var, grads, learning_rate=0.1, rho=0.9):
    m = np.zeros_like(var)
    for g in grads:
        m = rho * m + g
        var = var - learning_rate * m
        yield var


half_sparse = summed_momentum = lazy_momentum


def warmup(var, grads, learning_rate=0.1, warmup_steps=0, floor=0.01):
    for t, g in enumerate(grads, 1):
        rate = learning_rate
        if warmup_steps:
            rate = learning_rate * t / warmup_steps if t <= warmup_steps else max(learning_rate / t, floor)
        var = var - rate * g
        yield var


def sign_momentum(var, grads, learning_rate=0.01, beta_1=0.9, beta_2=0.99):
    m = np.zeros_like(var)
    for g in grads:
        var = var - learning_rate * np.sign(beta_1 * m + (1 - beta_1) * g)
        m = beta_2 * m + (1 - beta_2) * g
        yield var


def fused_adagrad(var, grads, learning_rate=0.1, initial_accumulator_value=0.1, epsilon=1e-7):
    total = np.full_like(var, initial_accumulator_value)
    for g in grads:
        total = total + g * g
        var = var - learning_rate * g / (np.sqrt(total) + epsilon)
        yield var


def layer_scaled(var, grads, learning_rate=0.1, trust=0.02):
    for g in grads:
        long = np.sqrt(np.sum(var * var))
        var = var - learning_rate * trust * long / (np.sqrt(np.sum(g * g)) + 1e-9) * g
        yield var


def decayed(var, grads, learning_rate=0.1, decay_in_update=0.0):
    for g in grads:
        var = var - learning_rate * (np.tanh(g) + decay_in_update * var)
        yield var


def activation(var, grads, learning_rate=0.1, activation="sign", scale=2.0):
    for t, g in enumerate(grads):
        step = np.sign(g) if activation == "sign" else np.tanh(scale * g)
        var = var - learning_rate / (1 + t) * step
        yield var


def corner_values(var, grads, learning_rate=0.1, pull=0.3):
    average, anchor = np.ones_like(var), var
    for g in grads:
        average = 0.5 * average + 0.5 * np.abs(g)
        anchor = anchor + pull * (var - anchor)
        var = var - learning_rate * (g / (average + 1) + average * (var - anchor))
        yield var


def conditional_slots(var, grads, learning_rate=0.1, centered=False, start=0.5):
    square, mean = np.full_like(var, start), np.zeros_like(var)
    for g in grads:
        square = 0.9 * square + 0.1 * g * g
        mean = 0.9 * mean + 0.1 * g
        var = var - learning_rate * g / np.sqrt(square - (mean**2 if centered else 0) + 1e-3)
        yield var


def scheduled(var, grads, learning_rate=0.1, shrink=0.9):
    for t, g in enumerate(grads, 1):
        var = var - learning_rate * shrink**t * g
        yield var


def raw_operations(var, grads, learning_rate=0.1, keep=0.5):
    m = np.zeros_like(var)
    for g in grads:
        m = keep * m + g
        var = var - learning_rate * m
        yield var


def at_its_defaults(var, grads, learning_rate=0.1, scale=2.0):
    for g in grads:
        var = var - learning_rate * scale * g
        yield var
