"""Shipped rules against torch's and optax's optimizers, where one of them is installed.

A row is a rule, its hyperparameters, how the peer is made, and the tolerance: 1e-10, or where the
peer itself works in less than float64, what that leaves. Rows are the agreements that the rules'
docstrings claim; what differs stands there under "Differs from".
"""

import importlib.util

import numpy as np
import pytest

from compat_opt import rules
from compat_opt.adapters.reference import run_reference
from compat_opt.testing.compare import assert_trajectories_close

pytestmark = pytest.mark.long

SHAPES = [(), (5,), (4, 3), (3, 5)]
GENERATOR = np.random.RandomState(0)
VARIABLES = [GENERATOR.normal(size=shape) for shape in SHAPES]
GRADIENTS = [[GENERATOR.normal(size=shape) for shape in SHAPES] for _ in range(20)]

TORCH = [
    ("SGD", dict(learning_rate=0.1, momentum=0.8, nesterov=True), "SGD", dict(lr=0.1, momentum=0.8, nesterov=True)),
    ("Adam", dict(learning_rate=0.1, epsilon=0.0), "Adam", dict(lr=0.1, eps=0)),
    ("Adam", dict(learning_rate=0.1, epsilon=0.0, amsgrad=True), "Adam", dict(lr=0.1, eps=0, amsgrad=True)),
    ("AdamW", dict(learning_rate=0.1, epsilon=0.0, weight_decay=0.2), "AdamW", dict(lr=0.1, eps=0, weight_decay=0.2)),
    (
        "RMSprop",
        dict(learning_rate=0.1, epsilon=0.1, epsilon_outside=True, centered=True, momentum=0.7),
        "RMSprop",
        dict(lr=0.1, alpha=0.9, eps=0.1, centered=True, momentum=0.7),
    ),
    (
        "Adagrad",
        dict(learning_rate=0.1, epsilon=0.1, epsilon_outside=True, initial_accumulator_value=0.3),
        "Adagrad",
        dict(lr=0.1, eps=0.1, initial_accumulator_value=0.3),
    ),
    ("Nadam", dict(learning_rate=0.1, epsilon=0.1, schedule_decay=0.004), "NAdam", dict(lr=0.1, eps=0.1)),
    ("Adamax", dict(learning_rate=0.1, epsilon=0.0), "Adamax", dict(lr=0.1, eps=0)),
    ("Adadelta", dict(learning_rate=0.1, rho=0.9, epsilon=1e-3), "Adadelta", dict(lr=0.1, rho=0.9, eps=1e-3)),
    ("ASGD", dict(learning_rate=0.1, lambd=0.1), "ASGD", dict(lr=0.1, lambd=0.1)),
    ("Rprop", dict(learning_rate=0.01), "Rprop", dict(lr=0.01)),
    ("RectifiedAdam", dict(learning_rate=0.1, epsilon=0.0, beta_2=0.95), "RAdam", dict(lr=0.1, eps=0, betas=(0.9, 0.95))),
    ("Adafactor", dict(learning_rate=0.1), "Adafactor", dict(lr=0.1, eps=(1e-30, 1e-3), weight_decay=0)),
]

OPTAX = [
    ("SGD", dict(learning_rate=0.1, momentum=0.8, nesterov=True), "sgd", dict(learning_rate=0.1, momentum=0.8, nesterov=True), 1e-10),
    ("Adam", dict(learning_rate=0.1, epsilon=0.0), "adam", dict(learning_rate=0.1, eps=0), 1e-10),
    ("AdamW", dict(learning_rate=0.1, epsilon=0.0, weight_decay=0.1), "adamw", dict(learning_rate=0.1, eps=0, weight_decay=0.1), 1e-10),
    (
        "RMSprop",
        dict(learning_rate=0.1, epsilon=0.1, centered=True, momentum=0.7),
        "rmsprop",
        dict(learning_rate=0.1, eps=0.1, decay=0.9, centered=True, momentum=0.7),
        1e-10,
    ),
    (
        "Adagrad",
        dict(learning_rate=0.1, epsilon=0.1, initial_accumulator_value=0.3),
        "adagrad",
        dict(learning_rate=0.1, eps=0.1, initial_accumulator_value=0.3),
        1e-10,
    ),
    ("Adamax", dict(learning_rate=0.1, epsilon=0.0), "adamax", dict(learning_rate=0.1, eps=0), 1e-10),
    ("Adadelta", dict(learning_rate=0.1, rho=0.9, epsilon=1e-3), "adadelta", dict(learning_rate=0.1, rho=0.9, eps=1e-3), 1e-10),
    ("RectifiedAdam", dict(learning_rate=0.1, beta_2=0.95, epsilon=0.01), "radam", dict(learning_rate=0.1, b2=0.95, eps=0.01), 1e-8),
    ("AdaBelief", dict(learning_rate=0.1, epsilon=1e-3, rectify=False), "adabelief", dict(learning_rate=0.1, eps=1e-3, eps_root=1e-3), 1e-10),
    ("LAMB", dict(learning_rate=0.1, epsilon=1e-6, decay_in_ratio=0.1), "lamb", dict(learning_rate=0.1, weight_decay=0.1, eps=1e-6), 1e-10),
    ("LARS", dict(learning_rate=0.1, momentum=0.8), "lars", dict(learning_rate=0.1, momentum=0.8), 1e-10),
    ("Lion", dict(learning_rate=0.1, weight_decay=0.1), "lion", dict(learning_rate=0.1, weight_decay=0.1), 1e-10),
    ("NovoGrad", dict(learning_rate=0.1, beta_2=0.25, epsilon=1e-6), "novograd", dict(learning_rate=0.1, b1=0.9, b2=0.25, eps=1e-6), 1e-10),
    ("AdEMAMix", dict(learning_rate=0.1, epsilon=0.01), "contrib.ademamix", dict(learning_rate=0.1, alpha=5.0, eps=0.01), 1e-10),
    ("ADOPT", dict(learning_rate=0.1, epsilon=0.1), "contrib.adopt", dict(learning_rate=0.1, eps=0.1), 1e-10),
    ("COCOB", {}, "contrib.cocob", {}, 1e-10),
    ("DAdaptAdam", dict(d_0=0.01, bias_correction=True), "contrib.dadapt_adamw", dict(learning_rate=1.0, estim_lr0=0.01), 1e-10),
    ("Prodigy", dict(d_0=0.01, bias_correction=True), "contrib.prodigy", dict(learning_rate=1.0, estim_lr0=0.01), 1e-10),
    ("DoG", {}, "contrib.dog", dict(learning_rate=1.0), 1e-10),
    ("ScheduleFreeSGD", dict(learning_rate=0.1), "contrib.schedule_free_sgd", dict(learning_rate=0.1), 1e-10),
    (
        "ScheduleFreeAdamW",
        dict(learning_rate=0.1, weight_lr_power=2.0),
        "contrib.schedule_free_adamw",
        dict(learning_rate=0.1, eps=1e-8),
        1e-10,
    ),
    ("MADGRAD", dict(learning_rate=0.1 + 1e-6), "contrib.madgrad", dict(learning_rate=0.1, eps=1e-6), 1e-4),  # float32 roots
]


def ours(name, hypers):
    return run_reference(getattr(rules, name), VARIABLES, GRADIENTS, **hypers)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("name, hypers, peer, arguments", TORCH)
def test_torch(name, hypers, peer, arguments):
    import torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)  # NAdam and ASGD keep their scalars in it
    try:
        parameters = [torch.nn.Parameter(torch.tensor(value)) for value in VARIABLES]
        optimizer, found = getattr(torch.optim, peer)(parameters, **arguments), []
        for row in GRADIENTS:
            for parameter, gradient in zip(parameters, row):
                parameter.grad = torch.tensor(gradient)
            optimizer.step()
            found.append([parameter.detach().numpy().copy() for parameter in parameters])
    finally:
        torch.set_default_dtype(before)
    tolerance = 1e-8 if name == "RectifiedAdam" else 1e-10
    assert_trajectories_close(ours(name, hypers), found, tolerance, "%s and torch's %s" % (name, peer))


@pytest.mark.skipif(importlib.util.find_spec("optax") is None, reason="optax is not installed")
@pytest.mark.parametrize("name, hypers, peer, arguments, tolerance", OPTAX)
def test_optax(name, hypers, peer, arguments, tolerance):
    import jax
    import optax
    import optax.contrib

    wide = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        make = optax
        for part in peer.split("."):
            make = getattr(make, part)
        transformation = make(**arguments)
        values = [jax.numpy.asarray(value) for value in VARIABLES]
        state, found = transformation.init(values), []
        for row in GRADIENTS:
            steps, state = transformation.update([jax.numpy.asarray(g) for g in row], state, values)
            values = optax.apply_updates(values, steps)
            found.append([np.asarray(value) for value in values])
    finally:
        jax.config.update("jax_enable_x64", wide)
    assert_trajectories_close(ours(name, hypers), found, tolerance, "%s and optax's %s" % (name, peer))
