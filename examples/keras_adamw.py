"""keras-adamw's AdamW with warm restarts, per-layer rates and decays, on every TensorFlow 2.x.

    python examples/keras_adamw.py

The package (1.38, for TensorFlow up to 2.4) is one optimizer class with all of it inside. Here Adam, weight
decay, the schedule and the per-layer settings are four parts. The numbers are the package's:
tests/groups holds a trajectory that ci/compare_keras_adamw.py took from it.
"""

import re

import numpy as np

import compat_opt as co
from compat_opt import rules, schedules, transforms
from compat_opt.testing.digits import digits, keras_of

#: What the package calls AdamW: the decay is not multiplied by the learning rate.
RULE = transforms.decoupled_weight_decay(rules.Adam)


def adamw(
    variables, learning_rate=1e-3, total_iterations=100, lr_multipliers=None, weight_decays=None, eta_min=0.0, target=None
):
    """The optimizer that ``keras_adamw.AdamW(..., use_cosine_annealing=True)`` is.

    Args:
        variables: the model's trainable variables, whose names choose their settings.
        learning_rate: a number.
        total_iterations: steps of one cycle of the cosine, which then restarts.
        lr_multipliers: {part of a variable's name: multiplier of its rate}; the first that fits counts.
        weight_decays: {part of a variable's name: L2 decay, before it is divided by sqrt(total_iterations)}.
        eta_min: the cosine falls from 1 to this.
        target: as for `compat_opt.compile_rule`.

    Differs from:
        keras-adamw: L1 decays, and an eta_max that is not 1, which the package uses from the second step on.
    """
    eta = schedules.WarmRestarts(1.0, total_iterations, final=eta_min, shortened=1)
    by_setting = {}
    for variable in variables:
        name = (getattr(variable, "path", None) or variable.name).split(":")[0]
        setting = (_first(lr_multipliers, name, 1.0), _first(weight_decays, name, 0.0))
        by_setting.setdefault(setting, []).append("^%s$" % re.escape(name))
    groups = [
        co.Group(
            names,
            name="rate x %g, decay %g" % (multiplier, decay),
            learning_rate_multiplier=multiplier,
            decoupled_decay=schedules.Product(eta, decay / np.sqrt(total_iterations).item()),
        )
        for (multiplier, decay), names in by_setting.items()
    ]
    return co.compile_rule(RULE, target)(schedules.Product(eta, learning_rate), decoupled_decay=0.0, groups=groups)


def _first(values, name, otherwise):
    return next((value for part, value in (values or {}).items() if part in name), otherwise)


def main():
    """Train on scikit-learn's digits for three cycles; print the settings and the accuracy."""
    keras, layers = keras_of(co.default_target()), keras_of(co.default_target()).layers
    given = keras.Input((64,))
    hidden = layers.Dense(32, activation="relu", name="hidden")(given)
    model = keras.Model(given, layers.Dense(10, activation="softmax", name="head")(hidden))
    train_x, train_y, test_x, test_y = digits()
    optimizer = adamw(
        model.trainable_variables,
        learning_rate=1e-2,
        total_iterations=90,
        lr_multipliers={"hidden": 0.5},
        weight_decays={"hidden/kernel": 1e-2, "head/kernel": 1e-3},
        eta_min=0.05,
    )
    model.compile(optimizer=optimizer, loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(train_x, train_y, batch_size=32, epochs=6, shuffle=False, verbose=0)
    for name, group in optimizer.groups.items():
        print("%-24s %d variables" % (name, len(group.variables)))
    print("accuracy %.2f" % model.evaluate(test_x, test_y, verbose=0)[1])


if __name__ == "__main__":
    main()
