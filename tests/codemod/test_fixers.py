"""Each fixer: first what it must leave alone, then what it changes. The rest of a file keeps its form."""

import ast

import pytest

from compat_opt.codemod.fixers import fix, fixers

HEAD = "import tensorflow as tf\nfrom tensorflow.keras.optimizers import SGD\n"

UNTOUCHED = {
    "learning_rate_argument": ["Adam(lr=1)", "tf.keras.layers.Dense(lr=1)", "SGD(learning_rate=1)", "SGD(**{'lr': 1})", "f(lr=SGD)"],
    "decay_argument": ["f(decay=0.1)", "SGD(0.1)", "tf.keras.layers.LSTM(3, decay=0.1)", "SGD(weight_decay=0.1)"],
    "legacy_namespace": ["tf.keras.optimizers.Adam()", "my.legacy.Adam()", "tf.keras.legacy", "legacy = 1"],
    "optimizer_weights": ["model.get_weights()", "optimizer.get_weights", "layer.optimizers.get_weights()", "get_weights()"],
    "apply_gradients_argument": [
        "optimizer.apply_gradients(pairs)",
        "optimizer.apply_gradients(pairs, name='x')",
        "optimizer.apply_gradients(pairs, experimental_aggregate_gradients=flag)",
        "super().apply_gradients(pairs, experimental_aggregate_gradients=False)",
    ],
    "learning_rate_attribute": ["model.lr", "args.lr", "optimizer.lr_t", "lr", "optimizer.inner.lr"],
    "private_import": ["from tensorflow.keras import backend", "import tensorflow.python", "from .python.keras import x", "from a.tensorflow import b"],
}

CHANGED = {
    "learning_rate_argument": [
        ("SGD(lr=0.1)", "SGD(learning_rate=0.1)"),
        ("tf.keras.optimizers.Adam(\n    lr = 0.1,  # kept\n)", "tf.keras.optimizers.Adam(\n    learning_rate = 0.1,  # kept\n)"),
    ],
    "decay_argument": [
        ("SGD(0.1, decay=0.0)", "SGD(0.1)"),
        ("SGD(decay=0)", "SGD()"),
        ("SGD(0.1,  # rate\n    decay=0.0)", "SGD(0.1  # rate\n    )"),
        (
            "tf.keras.optimizers.SGD(0.1, decay=1e-4, nesterov=True)",
            "tf.keras.optimizers.SGD(tf.keras.optimizers.schedules.InverseTimeDecay(0.1, decay_steps=1, decay_rate=1e-4), nesterov=True)",
        ),
    ],
    "legacy_namespace": [
        ("x = tf.keras.optimizers.legacy.Adam(1)", "x = tf.keras.optimizers.Adam(1)"),
        ("from tensorflow.keras.optimizers.legacy import Adam", "from tensorflow.keras.optimizers import Adam"),
    ],
    "optimizer_weights": [
        ("w = model.optimizer.get_weights()", "w = [variable.numpy() for variable in model.optimizer.variables]"),
        ("opt.get_weights( )", "[variable.numpy() for variable in opt.variables]"),
    ],
    "apply_gradients_argument": [
        ("opt.apply_gradients(p, experimental_aggregate_gradients=True)", "opt.apply_gradients(p)"),
        ("opt.apply_gradients(p, experimental_aggregate_gradients=False)", "opt.apply_gradients(p, skip_gradients_aggregation=True)"),
    ],
    "learning_rate_attribute": [
        ("K.set_value(model.optimizer.lr, 0.1)", "K.set_value(model.optimizer.learning_rate, 0.1)"),
        ("optimizer.lr = optimizer.lr / 2", "optimizer.learning_rate = optimizer.learning_rate / 2"),
        ("é = optimizer.lr", "é = optimizer.learning_rate"),
    ],
    "private_import": [
        ("from tensorflow.python.keras import backend as K  # b", "from tensorflow.keras import backend as K  # b"),
        ("from tensorflow.python.keras.optimizer_v2.adam import Adam", "from tensorflow.keras.optimizers import Adam"),
    ],
}

#: What a person has to look at; nothing is changed.
SAID = [
    ("legacy_namespace", "tf.keras.optimizers.legacy.Optimizer", "no equal"),
    ("optimizer_weights", "optimizer.set_weights(w)", "compat_opt.state"),
    ("private_import", "from tensorflow.python.keras.optimizer_v2 import optimizer_v2", "private"),
    ("decay_argument", "SGD(0.1, decay=1e-4)", "InverseTimeDecay"),
    ("private_import", "import tensorflow.python.keras.backend as K", "private"),
    ("learning_rate_attribute", "print(f'{model.optimizer.lr:.1e}')", "inside of an f-string"),
    ("optimizer_weights", "f'{optimizer.get_weights()}'", "inside of an f-string"),
]

def pairs(table):
    return [pytest.param(name, case, id="%s-%d" % (name, i)) for name in sorted(table) for i, case in enumerate(table[name])]


@pytest.mark.parametrize("name, text", pairs(UNTOUCHED))
def test_untouched(name, text):
    new, done = fix(HEAD + text + "\n")
    assert new == HEAD + text + "\n"
    assert name not in [d.fixer for d in done]


@pytest.mark.parametrize("name, case", pairs(CHANGED))
def test_changed(name, case):
    new, done = fix(HEAD + case[0] + "\n")
    ast.parse(HEAD + case[1])
    assert new == HEAD + case[1] + "\n"
    assert [d.fixer for d in done if d.changed] and set(d.fixer for d in done) == {name}
    assert fix(new) == (new, [])


@pytest.mark.parametrize("name, text, words", SAID)
def test_said(name, text, words):
    new, done = fix(HEAD + text + "\n")
    assert new == HEAD + text + "\n"
    assert [d.fixer for d in done] == [name] and not done[0].changed and words in done[0].text


def test_an_old_class_by_another_name():
    old = "from tensorflow.python.keras.optimizer_v2.adam import Adam as Old\n\nold = Old(lr = 0.5)\n"
    new, _ = fix(old)
    assert new == "from tensorflow.keras.optimizers import Adam as Old\n\nold = Old(learning_rate = 0.5)\n"
    assert fix(new) == (new, [])


def test_several_in_one_call():
    new, _ = fix(HEAD + "o = tf.keras.optimizers.legacy.SGD(lr=0.5, decay=0.0)\n")
    assert new == HEAD + "o = tf.keras.optimizers.SGD(learning_rate=0.5)\n"


def test_every_fixer_is_tested_both_ways():
    assert set(fixers()) == set(UNTOUCHED) == set(CHANGED)


DECAY = "optimizer = tf.keras.optimizers.SGD(0.1, decay=1e-4)\n"


@pytest.mark.parametrize(
    "line",
    [
        "optimizer.lr = 0.01",
        "model.optimizer.learning_rate *= 0.5",
        "K.set_value(optimizer.lr, 0.01)",
        "callbacks = [tf.keras.callbacks.ReduceLROnPlateau()]",
    ],
)
def test_a_rate_that_is_set_beside_decay_is_said(line):
    said = "the learning rate is a schedule now"
    text, done = fix(HEAD + DECAY + line + "\n")
    assert "InverseTimeDecay(0.1, decay_steps=1, decay_rate=1e-4)" in text
    assert [d.line for d in done if not d.changed and said in d.text] == [4]
    assert not [d for d in fix(HEAD + DECAY.replace("1e-4", "0") + line + "\n")[1] if said in d.text]
    assert not [d for d in fix(HEAD + DECAY + "args.lr = 0.01\n")[1] if said in d.text]


def test_positions_in_the_weights_are_said():
    text, done = fix(HEAD + "state = optimizer.get_weights()[1:]\nother = model.get_weights()[get_weights()[0]]\n")
    assert "state = [variable.numpy() for variable in optimizer.variables][1:]" in text
    assert [(d.line, d.changed) for d in done] == [(3, False), (3, True)]
    assert "order" in done[0].text
