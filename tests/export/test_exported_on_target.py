"""Exported classes train as the compiled ones do, on every target of the environment."""

import numpy as np
import pytest
from exported import MODES, SHAPES, differences, exported_class, hypers_in_float32, modes, trajectory
from on_target import OnTarget, file_holds_state, regression

import compat_opt as co
from compat_opt import rules
from compat_opt.adapters import compile_rule
from compat_opt.testing.compare import assert_close, assert_trajectories_close
from compat_opt.testing.harness import harness_for

TARGETS = co.targets()
#: Rules that between them have flags, shared scalars, norms, sums over all variables and slots by shape.
CORE = ("Adam", "Nadam", "Adafactor", "Prodigy")
#: Configurations whose branches the defaults do not take: {label: (rule, static settings, hyperparameters)}.
BRANCHES = {
    "SGD nesterov": ("SGD", {"nesterov": True}, {"momentum": 0.875}),
    "Adam amsgrad": ("Adam", {"amsgrad": True}, {}),
    "RMSprop centered": ("RMSprop", {"centered": True}, {"momentum": 0.875}),
    "NovoGrad amsgrad": ("NovoGrad", {"amsgrad": True, "grad_averaging": True}, {}),
    "AdEMAMix warm-up": ("AdEMAMix", {"warmup_steps": 4}, {}),
    "Prodigy corrected": ("Prodigy", {"bias_correction": True, "safeguard_warmup": True}, {}),
    "MARS lion": ("MARS", {"direction": "lion"}, {}),
    "Shampoo momentum": ("Shampoo", {"largest_side": 3}, {"momentum": 0.5}),
    "ConditionalGradient nuclear": ("ConditionalGradient", {"ord": "nuclear"}, {}),
    "Apollo belief": ("Apollo", {"rebound": "belief"}, {}),
}
#: float32 rounds in another order; powers and differences of them lose more of their digits.
TOLERANCE = 3e-6
ROUNDING = {"Ftrl": 1e-5, "Padam": 1e-5, "Apollo": 1e-5}


def keys(targets):
    return [target.key for target in targets]


on_each_target = pytest.mark.parametrize("target", TARGETS, ids=keys(TARGETS))


def needs_a_later_keras(rule, target):
    """Keras 3.0 and 3.1 have no hook that runs once per step; exported classes that need one say so."""
    if target.generation != "keras3" or not (rule.shared() or rule.overrides("measure")):
        return False
    from keras.optimizers import Optimizer

    return not hasattr(Optimizer, "_backend_update_step")


def check(name, target, settings=None, hypers=None, only=MODES):
    rule = getattr(rules, name)
    if needs_a_later_keras(rule, target):
        with pytest.raises(NotImplementedError, match="A later Keras 3 is needed"):
            exported_class(rule, target)()
        return
    given = dict(hypers_in_float32(rule, target), **(hypers or {}))
    for mode, difference in differences(rule, target, given, settings, only=only).items():
        assert difference <= ROUNDING.get(name, TOLERANCE), "%s, %s: %.2e" % (name, mode, difference)


@on_each_target
@pytest.mark.parametrize("name", CORE)
def test_trains_as_the_compiled_rule(name, target):
    """The sparse run has dense gradients, too; compiled steps of all rules are for the long suite."""
    eager = "sparse" if "sparse" in modes(target) else "dense"
    check(name, target, only=(eager, "compiled") if name == "Nadam" else (eager,))


def has_weight_decay(target):
    """The Keras 2 optimizers of TF 2.9 and 2.10 have no weight decay in their base class."""
    return target.generation != "keras2" or target.namespace != "tf.keras.experimental"


def has_what_the_rule_needs(name, target):
    return getattr(rules, name).weight_decay.default is None or has_weight_decay(target)


@pytest.mark.exhaustive
@on_each_target
def test_every_rule_trains_as_the_compiled_one(target):
    eager = "sparse" if "sparse" in modes(target) else "dense"
    for name in rules.names():
        if has_what_the_rule_needs(name, target):
            check(name, target, only=(eager,))


@pytest.mark.exhaustive
@on_each_target
@pytest.mark.parametrize("name", rules.names())
def test_every_rule_trains_as_the_compiled_one_in_every_mode(name, target):
    if not has_what_the_rule_needs(name, target):
        pytest.skip("the Keras 2 optimizers of TF 2.9 and 2.10 have no weight decay")
    check(name, target)


@pytest.mark.exhaustive
@on_each_target
@pytest.mark.parametrize("label", sorted(BRANCHES))
def test_branches_train_as_the_compiled_rule(label, target):
    name, settings, hypers = BRANCHES[label]
    check(name, target, settings, hypers, only=("sparse", "compiled"))


@on_each_target
def test_the_comparison_notices_a_changed_sign(target):
    def change(text):
        assert " + (1 - self.beta_1) * grad" in text or ' + coefficients["one_minus_beta_1"] * grad' in text
        text = text.replace(" + (1 - self.beta_1) * grad", " - (1 - self.beta_1) * grad")
        return text.replace(' + coefficients["one_minus_beta_1"] * grad', ' - coefficients["one_minus_beta_1"] * grad')

    found = differences(rules.Adam, target, change=change, only=("dense",))
    assert min(found.values()) > 1e-3


@on_each_target
def test_half_precision_keeps_its_averages_in_float32_or_is_refused(target):
    exported = exported_class(rules.Adam, target)
    if target.generation == "optimizer_v2":
        with pytest.raises(TypeError, match="too coarse"):
            trajectory(exported, target, "dense", {}, "float16")
        return
    ours = trajectory(exported, target, "dense", {}, "float16")
    theirs = trajectory(compile_rule(rules.Adam, target), target, "dense", {}, "float16")
    assert_trajectories_close(ours, theirs, 2e-3, smallest=1e-2)


@on_each_target
def test_config_gives_the_same_optimizer_again(target):
    optimizer = exported_class(rules.Adam, target)(learning_rate=0.25, beta_1=0.5, amsgrad=True)
    config = optimizer.get_config()
    again = type(optimizer).from_config(config)
    assert again.get_config() == config
    assert (config["learning_rate"], config["beta_1"], config["amsgrad"]) == (0.25, 0.5, True)


@on_each_target
def test_the_learning_rate_can_be_set_and_scheduled(target):
    harness = harness_for(target)
    on = OnTarget(target)
    schedules = on.keras.optimizers.schedules
    schedule = schedules.PiecewiseConstantDecay([0], [0.5, 0.25])
    cls = exported_class(rules.SGD, target)
    for given, second in ((0.5, None), (schedule, 0.25)):
        variable = harness.variable(np.ones(2), "float32")
        optimizer = cls(learning_rate=given)
        steps = []
        for number in range(2):
            if number and second is None:
                optimizer.learning_rate = 0.25
            before = harness.numpy(variable)
            optimizer.apply_gradients([(harness.gradient(np.ones(2), "float32"), variable)])
            steps.append(before - harness.numpy(variable))
        assert_close(steps, [[0.5, 0.5], [0.25, 0.25]], 1e-6)


@pytest.mark.exhaustive
@on_each_target
def test_trains_a_model_whose_state_is_saved(target, tmp_path):
    on = OnTarget(target)
    if on.tf is None or not on.has("Sequential"):
        pytest.skip("checkpoints are TensorFlow's")
    if needs_a_later_keras(rules.Nadam, target):
        pytest.skip("Nadam's exported class needs a later Keras 3")
    x, y = regression()
    cls = exported_class(rules.Nadam, target)

    def make():
        return on.compile(on.linear(name="dense"), cls(learning_rate=0.125))

    def checkpoint(model):
        return on.tf.train.Checkpoint(model=model, optimizer=model.optimizer)

    model = make()
    on.fit(model, x, y, epochs=2)
    path = checkpoint(model).write(str(tmp_path / "checkpoint"))
    on.fit(model, x, y, epochs=2)
    again = make()
    on.fit(again, x, y, epochs=1)
    checkpoint(again).read(path)
    on.fit(again, x, y, epochs=2)
    for ours, theirs in zip(again.get_weights(), model.get_weights()):
        assert_close(ours, theirs, 1e-6)


@pytest.mark.long
@on_each_target
@pytest.mark.parametrize("name", ["Lion", "Adagrad"])
def test_fits_an_embedding_and_is_loaded_with_its_model(name, target, tmp_path):
    """The rest of the training is the compiled rule's; where files hold no registered names, Keras is told the class."""
    on = OnTarget(target)
    if on.tf is None or not on.has("Sequential"):
        pytest.skip("models with sparse gradients are TensorFlow's")
    rule, keras = getattr(rules, name), on.keras
    registered = on.is_keras3 or hasattr(keras.utils, "get_registered_name")
    if not registered and name == "Adagrad":
        pytest.skip("TensorFlow 2.0 and 2.1 load their own class of that name, whatever they are told")
    random = np.random.RandomState(0)
    x, y = random.randint(0, 4, (8, 2)), random.uniform(-1, 1, (8, 1)).astype("float32")
    first = [random.uniform(-1, 1, shape).astype("float32") for shape in ((6, 3), (6, 1), (1,))]
    hypers = dict(hypers_in_float32(rule, target), learning_rate=0.125)

    def make(cls):
        layers = keras.layers
        given = keras.Input((2,), dtype="int32")
        last = layers.Flatten()(layers.Embedding(6, 3, name="words")(given))
        model = keras.Model(given, layers.Dense(1, name="head")(last))
        model.set_weights(first)
        return on.compile(model, cls(**hypers))

    def fit(model, epochs):
        model.fit(x, y, epochs=epochs, batch_size=8, shuffle=False, verbose=0)

    exported = exported_class(rule, target)
    compiled, model = make(compile_rule(rule, target)), make(exported)
    fit(compiled, 5), fit(model, 3)
    path = str(tmp_path / ("model.keras" if on.is_keras3 else "model.h5"))
    model.save(path)
    told = {} if registered else {"custom_objects": {name: exported}}
    loaded = keras.models.load_model(path, **told)
    assert type(loaded.optimizer) is exported
    if not file_holds_state(path):
        pytest.skip("no state in H5 files: this Keras writes none of its experimental optimizers")
    fit(loaded, 2)
    for ours, theirs in zip(loaded.get_weights(), compiled.get_weights()):
        assert_close(ours, theirs, 1e-5)


def test_shapes_meet_every_kind_of_slot():
    assert {len(shape) for shape in SHAPES} == {0, 1, 2, 3}
