"""Runs every scenario under MirroredStrategy on two logical CPUs; prints one JSON object.

Usage: python replicas.py TARGET. It is a process of its own because logical devices have to be set
up first, and because one failing replica function spoils all later steps of its process.
"""

import json
import sys
import traceback
import warnings

import numpy as np
import tensorflow as tf

GLOBAL = [
    [np.array([1.0, -2.0]), np.array([[0.5, 1.0], [0.0, 0.0], [2.0, -1.0]])],
    [np.array([-0.5, 3.0]), np.array([[0.0, 0.0], [1.0, 1.0], [-2.0, 0.25]])],
    [np.array([2.0, 0.25]), np.array([[1.0, -1.0], [0.5, 0.0], [0.0, 0.0]])],
    [np.array([0.1, 0.2]), np.array([[1.0, 1.0], [0.5, 0.5], [0.25, 0.25]])],
]
FIRST = [np.array([1.0, 2.0]), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])]
SHARES = (0.25, 0.75)

CASES = {
    "momentum": ("SGD", dict(learning_rate=0.1, momentum=0.9)),
    "clipnorm": ("Adam", dict(learning_rate=0.1, clipnorm=0.5)),
    "global_clipnorm": ("SGD", dict(learning_rate=0.5, global_clipnorm=0.5)),
    "weight_decay": ("AdamW", dict(learning_rate=0.1, weight_decay=0.5)),
    "ema_overwrite": ("SGD", dict(learning_rate=0.1, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=2)),
    "accumulation": ("Adam", dict(learning_rate=0.1, gradient_accumulation_steps=2, clipnorm=0.5)),
    "shared": ("Nadam", dict(learning_rate=0.1)),
    "lookahead": ("lookahead Adam", dict(learning_rate=0.1, sync_period=2)),
    "moving_average": ("moving_average SGD", dict(learning_rate=0.1, average_decay=0.5)),
    "swa": ("swa Adam", dict(learning_rate=0.1, average_period=2)),
    "cautious": ("cautious AdamW", dict(learning_rate=0.1, weight_decay=0.5)),
    "centralize": ("centralize_gradient SGD", dict(learning_rate=0.1, momentum=0.9)),
    "noise": ("noisy_gradient SGD", dict(learning_rate=0.1)),
    "accumulated lookahead": (
        "lookahead SGD",
        dict(learning_rate=0.1, sync_period=2, gradient_accumulation_steps=2),
    ),
    "average of weights": ("ScheduleFreeSGD", dict(learning_rate=0.1)),
    "multiplier": ("Adam", dict(learning_rate=0.1)),
    "group decay": ("AdamW", dict(learning_rate=0.1, weight_decay=0.5)),
    "group rule": ("Nadam", dict(learning_rate=0.1, weight_decay=0.5)),
    "group transform": ("Nadam", dict(learning_rate=0.1)),
}

#: Cases whose second variable has a group: (its rule or None, what the group sets).
GROUPS = {
    "multiplier": (None, dict(learning_rate_multiplier=0.5)),
    "group decay": (None, dict(weight_decay=0.1, beta_1=0.5)),
    "group rule": ("DAdaptAdam", dict(learning_rate=0.5)),
    "group transform": ("lookahead Nadam", dict(learning_rate=0.2, sync_period=2)),
}

#: What to evaluate with, from a variable's last value and its slots.
EVALUATED = {
    "moving_average": lambda value, slots: slots["running_mean"],
    "swa": lambda value, slots: slots["snapshot_mean"],
    "average of weights": lambda value, slots: (value - 0.1 * slots["base"]) / 0.9,
}


def rule_of(names):
    """The rule of "Adam", or of "lookahead Adam" with its transforms, the outermost first."""
    from compat_opt import rules, transforms

    words = names.split()
    rule = getattr(rules, words.pop())
    while words:
        rule = getattr(transforms, words.pop())(rule)
    return rule


def made(on, case):
    """An optimizer of the case."""
    import compat_opt as co

    name, hypers = CASES[case]
    if case in GROUPS:
        rule, own = GROUPS[case]
        hypers = dict(hypers, groups=[co.Group("^v1", rule=rule and rule_of(rule), **own)])
    return on.optimizer(rule_of(name), **hypers)


def alone(case):
    """NumPy runs on the sums of the gradients: [(positions of variables, `Trajectory`)], one per group."""
    import compat_opt as co

    name, hypers = CASES[case]
    runs = [([0, 1], name, hypers)]
    if case in GROUPS:
        rule, own = GROUPS[case]
        own = dict(own) if rule else dict(hypers, **own)
        own["learning_rate"] *= own.pop("learning_rate_multiplier", 1.0)
        runs = [([0], name, hypers), ([1], rule or name, own)]
    return [
        (places, co.run_reference(rule_of(rule), [FIRST[p] for p in places], [[row[p] for p in places] for row in GLOBAL], **given))
        for places, rule, given in runs
    ]


def two_devices():
    config = tf.config.experimental
    cpu = config.list_physical_devices("CPU")[0]
    config.set_virtual_device_configuration(cpu, [config.VirtualDeviceConfiguration()] * 2)
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def copies(strategy, variable):
    held = variable if callable(variable.value) else variable.value  # Keras 3 holds a variable of TensorFlow
    return [v.numpy() for v in strategy.experimental_local_results(held)]


def assert_both(strategy, variables, expected, tolerance=1e-4):
    from compat_opt.testing.compare import assert_close

    for number, (variable, wanted) in enumerate(zip(variables, expected)):
        first, second = copies(strategy, variable)
        assert np.array_equal(first, second), "the replicas' copies differ: %r, %r" % (first, second)
        assert_close(first, wanted, tolerance, "variable %d" % number)


def custom_loop(strategy, on, case, sparse=False, moves=False):
    """Each replica has its share of the gradients; the step is that of their sum.

    With `moves`, the second half of the steps is made by another optimizer, which gets the state of the
    first outside of the strategy's scope.
    """
    from compat_opt import state

    runs = alone(case)
    run = getattr(strategy, "run", None) or strategy.experimental_run_v2
    with strategy.scope():
        variables = [tf.Variable(value.astype("float32"), name="v%d" % i) for i, value in enumerate(FIRST)]
        optimizer, other = made(on, case), made(on, case)
        optimizer.build(variables)
    vectors = tf.constant(np.stack([row[0] for row in GLOBAL]), tf.float32)
    tables = tf.constant(np.stack([row[1] for row in GLOBAL]), tf.float32)

    def one_step(number, optimizer):
        def replica():
            which = tf.distribute.get_replica_context().replica_id_in_sync_group
            share = tf.gather(tf.constant(SHARES), which)
            table = tf.gather(tables, number) * share
            if sparse:  # row 1 comes in two halves, unsorted
                rows = tf.concat([table[2:], table[1:2] / 2, table[:2] * [[1.0], [0.5]]], 0)
                table = tf.IndexedSlices(rows, tf.constant([2, 1, 0, 1]), tf.constant([3, 2]))
            optimizer.apply_gradients(zip([tf.gather(vectors, number) * share, table], variables))

        run(replica)

    step = tf.function(lambda number: one_step(number, optimizer))
    for number in range(len(GLOBAL)):
        if moves and number == len(GLOBAL) // 2:
            state.write(other, state.read(optimizer), variables)
            optimizer, step = other, tf.function(lambda number: one_step(number, other))
        step(tf.constant(number))
    for places, expected in runs:
        assert_both(strategy, [variables[p] for p in places], expected[-1])
        for place, slots in zip(places, expected.slots):
            kept = [optimizer.get_slot(variables[place], name) for name in slots]
            assert_both(strategy, kept, slots.values())
        count = int(on.value(optimizer.iterations))
        assert count == expected.iterations, "iterations: %d, expected %d" % (count, expected.iterations)
    if case in EVALUATED:
        assert_evaluated(strategy, optimizer, variables, runs[0][1], EVALUATED[case])


def assert_evaluated(strategy, optimizer, variables, expected, evaluated):
    """Both copies have the weights for evaluation in the block, and the trained ones after it."""
    with strategy.scope(), optimizer.evaluation_weights():
        assert_both(strategy, variables, [evaluated(*pair) for pair in zip(expected[-1], expected.slots)])
    assert_both(strategy, variables, expected[-1])


class Skipped(Exception):
    """The Keras at hand lacks what the scenario is about."""


def require_scaled_loss(on):
    """fit has to divide the mean loss by the number of replicas."""
    if on.is_keras3:
        import keras.src.losses.loss as losses

        if not hasattr(losses, "scale_loss_for_distribution"):
            raise Skipped("no scale_loss_for_distribution in this Keras 3: fit sums the replicas' mean losses")


def fit(strategy, on, case):
    """fit splits each batch over the replicas; the weights are those of whole batches."""
    from compat_opt import rules
    from on_target import assert_weights, reference_fit, regression

    require_scaled_loss(on)
    name, hypers = CASES[case]
    rule = getattr(rules, name)
    x, y = regression(rows=8)
    with strategy.scope():
        model = on.linear()
        on.compile(model, on.optimizer(rule, **hypers))
    first = model.get_weights()
    on.fit(model, x, y, batch_size=4, epochs=2)
    batches = [(x[i : i + 4], y[i : i + 4]) for _ in range(2) for i in (0, 4)]
    assert_weights(model, reference_fit(rule, first, batches, **hypers), 1e-4)
    count = int(on.value(model.optimizer.iterations))
    assert count == 4 // (hypers.get("gradient_accumulation_steps") or 1), count


def fit_embedding(strategy, on):
    """Sparse gradients of an Embedding, with ids that both replicas have."""
    import compat_opt as co
    from compat_opt.rules import Adam
    from on_target import assert_weights
    from test_fit import embedding_gradients, embedding_model

    require_scaled_loss(on)
    ids = np.array([[0, 0], [1, 2], [2, 2], [4, 0]], "int32")
    y = np.array([[1.0], [-1.0], [2.0], [0.5]], "float32")
    hypers = dict(learning_rate=0.05, clipnorm=0.3)
    with strategy.scope():
        model = embedding_model(on)
        on.compile(model, on.optimizer(Adam, **hypers))
    first = [np.asarray(w, "float64") for w in model.get_weights()]
    on.fit(model, ids, y, epochs=3)
    now, gradients = first, []
    for _ in range(3):
        gradients.append(embedding_gradients(now, ids, y))
        now = co.run_reference(Adam, first, gradients, **hypers)[-1]
    assert_weights(model, now, 2e-4)


def fit_group(strategy, on):
    """A group chosen by the variable itself, with a transform: the mirrored variable is found in each replica."""
    import compat_opt as co
    from on_target import assert_weights, mse_gradients, regression

    require_scaled_loss(on)
    hypers, name = dict(learning_rate=0.1, sync_period=2, weight_decay=0.5), "lookahead AdamW"
    x, y = regression(rows=8)
    with strategy.scope():
        model = on.linear()
        bias = model.trainable_variables[1]
        groups = [co.Group([bias], name="bias", learning_rate_multiplier=0.5, weight_decay=0.0)]
        on.compile(model, on.optimizer(rule_of(name), groups=groups, **hypers))
    first = [np.asarray(w, "float64") for w in model.get_weights()]
    on.fit(model, x, y, epochs=4)
    own, gradients, now = [hypers, dict(hypers, learning_rate=0.05, weight_decay=0.0)], [], first
    for _ in range(4):
        gradients.append(mse_gradients(now, x, y))
        rows = [[[row[i]] for row in gradients] for i in (0, 1)]
        now = [co.run_reference(rule_of(name), [first[i]], rows[i], **own[i])[-1][0] for i in (0, 1)]
    assert_weights(model, now, 1e-4)


def scenarios():
    """{name: function(strategy, on)}."""
    found = {}
    for case in CASES:
        found["loop " + case] = lambda s, on, case=case: custom_loop(s, on, case)
    for case in ("momentum", "clipnorm", "ema_overwrite", "accumulation"):
        found["sparse loop " + case] = lambda s, on, case=case: custom_loop(s, on, case, sparse=True)
    for case in ("lookahead", "group rule"):
        found["sparse loop " + case] = lambda s, on, case=case: custom_loop(s, on, case, sparse=True)
    for case in ("shared", "ema_overwrite"):
        found["moved loop " + case] = lambda s, on, case=case: custom_loop(s, on, case, moves=True)
    for case in ("clipnorm", "weight_decay", "ema_overwrite", "accumulation"):
        found["fit " + case] = lambda s, on, case=case: fit(s, on, case)
    found["fit embedding"] = fit_embedding
    found["fit group"] = fit_group
    return found


def main(key):
    strategy = two_devices()
    import compat_opt as co
    from on_target import OnTarget

    on = OnTarget(next(target for target in co.targets() if target.key == key))
    results = {}
    for name, scenario in scenarios().items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scenario(strategy, on)
            results[name] = "passed"
        except Skipped as reason:
            results[name] = "skipped: %s" % reason
        except Exception:
            results[name] = traceback.format_exc()
    print("RESULTS " + json.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1])
