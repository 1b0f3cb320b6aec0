"""What an old class does beside its update is carried over, refused or noted, never dropped."""

import numpy as np
import pytest

from compat_opt import run_reference
from compat_opt.codemod.migrate import migrate_class
from compat_opt.codemod.module import Module
from compat_opt.testing.compare import assert_close

HEAD = '''import functools
import tensorflow as tf
{before}

class Momentum(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.1, mu=0.5, {arguments}name="Momentum", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("mu", mu)
        {constructor}

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "m")

    {decorator}
    def _resource_apply_dense(self, grad, var, apply_state=None):
        lr = self._decayed_lr(var.dtype.base_dtype)
        mu = self._get_hyper("mu", var.dtype.base_dtype)
        m = self.get_slot(var, "m")
        {update}
'''
PLAIN = "m_t = m.assign(mu * m + grad); return var.assign_sub(lr * m_t)"
AROUND = '''
    def apply_gradients(self, grads_and_vars, name=None, clip=True, **kwargs):
        {0}
        return super().apply_gradients(grads_and_vars, name, **kwargs)
'''


def source(update=PLAIN, before="", arguments="", constructor="pass", decorator="", after=""):
    update = update.replace("; ", "\n        ")
    return HEAD.format(before=before, arguments=arguments, constructor=constructor, decorator=decorator, update=update) + after


def around(statement):
    return source(after=AROUND.format(statement))


GLOBAL = "global COUNT; COUNT += 1; m_t = m.assign(mu * m + grad); return var.assign_sub(lr * m_t / COUNT)"
GO = "\n    def _go(self, var, step):\n        return var.assign_sub(step)\n"
HALVED = "def halved(hook):\n    return lambda self, grad, *rest: hook(self, 0.5 * grad, *rest)\n"
SCALED = "m_t = m.assign(mu * m + grad); return var.assign_sub(lr * self.scale * m_t)"
TWO = "if tf.__version__ < '2.5':\n    def half(x):\n        return x / 2.0\nelse:\n    def half(x):\n        return 2.0 * x\n"

REFUSED = {
    "an assignment by a method, under tf.cond": (
        source("return tf.cond(self.iterations > 2, lambda: self._go(var, lr * grad), lambda: var.value())", after=GO),
        "an assignment inside a conditional operation",
    ),
    "an assignment in a conditional expression": (
        source(
            "return var.assign_add(lr * grad) if self.up else var.assign_sub(lr * grad)",
            arguments="up=False, ",
            constructor="self.up = up",
        ),
        "an assignment inside a conditional operation",
    ),
    "a global that counts": (source(GLOBAL, before="COUNT = 0\n"), "a global name is changed"),
    "a global that another method changes": (
        source(SCALED.replace("self.scale", "SCALE"), before="SCALE = 1.0\n", after="\n    def more(self):\n        global SCALE\n        SCALE = 2.0\n"),
        "SCALE is given more than one value in this file",
    ),
    "a number that is changed further down": (
        source(SCALED.replace("self.scale", "SCALE"), before="SCALE = 1.0\nSCALE *= 3.0\n"),
        "SCALE is given more than one value in this file",
    ),
    "a function that is one of two": (source(SCALED.replace("self.scale", "half(1.0)"), before=TWO), "half is defined more than once"),
    "a class that is one of two": (
        source() + "\n\nclass Momentum(tf.keras.optimizers.Adam):\n    pass\n",
        "Momentum is defined more than once",
    ),
    "a decorator": (source(before=HALVED, decorator="@halved"), "_resource_apply_dense is decorated by halved"),
    "gradients scaled": (around("grads_and_vars = [(0.5 * g, v) for g, v in grads_and_vars]"), "changes or leaves out gradients"),
    "gradients negated": (around("grads_and_vars = [(-g, v) for g, v in grads_and_vars]"), "changes or leaves out gradients"),
    "variables left out": (
        around("grads_and_vars = [(g, v) for g, v in grads_and_vars if v.shape.ndims > 1]"),
        "changes or leaves out gradients",
    ),
    "two updates a step": (around("super().apply_gradients(grads_and_vars)"), "hands on 2 times"),
    "an update of some steps": (around("if self.iterations < 3: return None"), "under a condition"),
    "no update": (source(after="\n    def apply_gradients(self, grads_and_vars, name=None):\n        pass\n"), "hands on 0 times"),
    "a loss scaled": (
        source(after="\n    def minimize(self, loss, var_list):\n        return super().minimize(0.5 * loss, var_list)\n"),
        "changes or leaves out gradients",
    ),
    "state that apply_gradients sets": (
        source(SCALED, constructor="self.scale = 1.0", after=AROUND.format("self.scale = 0.5")),
        "the Python attribute self.scale",
    ),
    "state that apply_gradients sets by a method": (
        source(
            SCALED,
            constructor="self.scale = 1.0",
            after=AROUND.format("self.more()") + "\n    def more(self):\n        self.scale = 0.5\n",
        ),
        "the Python attribute self.scale",
    ),
    "a decay that is another": (
        source(
            "m_t = m.assign(self.decay * m + (1 - self.decay) * grad); return var.assign_sub(lr * m_t)",
            arguments="decay=0.9, ",
            constructor="self.decay = decay",
        ),
        "decay, which Keras's base class has for the learning rate, is used for something else",
    ),
    "a decay of weights": (
        source(
            "return var.assign_sub(lr * grad + lr * tf.multiply(self.decay, var))",
            arguments="decay=0.9, ",
            constructor="self.decay = decay",
        ),
        "decay, which Keras's base class has for the learning rate, is used for something else",
    ),
    "a hyperparameter read otherwise": (
        source(after="\n    def _get_hyper(self, name, dtype=None):\n        return 0.5 * super()._get_hyper(name, dtype)\n"),
        "_get_hyper with a name that is computed",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    text, reason = REFUSED[what]
    result = migrate_class(Module(text), "Momentum")
    assert result.outcome == "refused" and reason in result.reason, result.reason


NOTED = {
    "clipping that is on": (source(arguments="clipnorm=1.0, ", constructor="self.clipnorm = clipnorm"), "the class had clipnorm=1.0"),
    "clipping that is always on": (source(constructor="self.clipvalue = 0.5"), "the class had clipvalue=0.5"),
    "decay that is on": (source(arguments="decay=0.01, ", constructor='self._set_hyper("decay", decay)'), "the class had decay=0.01"),
    "decay that is always on": (source(constructor='self._set_hyper("decay", 0.01)'), "the class had decay=0.01"),
    "a decorator of the class": (
        source(before="def twice(cls):\n    return cls\n").replace("class M", "@twice\nclass M"),
        "what the decorator twice makes of Momentum",
    ),
    "a method for callbacks": (
        source(SCALED, constructor="self.scale = 1.0", after="\n    def more(self, scale):\n        self.scale = scale\n"),
        "more sets self.scale; the rule keeps what the constructor gives it",
    ),
    "get_gradients": (
        source(after="\n    def get_gradients(self, loss, params):\n        return [0.5 * g for g in super().get_gradients(loss, params)]\n"),
        "neither fit nor apply_gradients calls get_gradients",
    ),
}


@pytest.mark.parametrize("what", NOTED)
def test_noted(what):
    text, words = NOTED[what]
    result = migrate_class(Module(text), "Momentum")
    assert result.outcome == "notes" and words in result.reason and "# NOTE: " in result.text, result.reason


GRADIENTS = [1.0, -0.5, 2.0]


def trajectory(text, name="Momentum", **given):
    result = migrate_class(Module(text), name)
    assert result.text, result.reason
    names = {}
    exec("from compat_opt import Hyper, Slot, UpdateRule\n" + result.text, names)
    steps = run_reference(names[name], [np.array([1.0])], [[np.array([g])] for g in GRADIENTS], **given)
    return [float(step[0][0]) for step in steps]


def momentum(step):
    """Values of the variable after each step; `step(number, gradient, m)` gives what is taken off it, and the new m."""
    var, m, found = 1.0, 0.0, []
    for number, gradient in enumerate(GRADIENTS, 1):
        moved, m = step(number, gradient, m)
        var -= moved
        found.append(var)
    return found


def plain(number, gradient, m):
    return 0.1 * (0.5 * m + gradient), 0.5 * m + gradient


RIGHT = "\n\nclass Left(Momentum):\n    pass\n\n\nclass Right(Momentum):\n    def sign(self, x):\n        return -x\n"
RIGHT += "\n\nclass Both(Left, Right):\n    pass\n"
CLIPPED = AROUND.format(
    "grads, tvars = zip(*grads_and_vars)\n        if clip and self.limit > 0:\n"
    "            grads, _ = tf.clip_by_global_norm(grads, 1.0)\n        grads_and_vars = zip(grads, tvars)"
)

VALUES = {
    "int() rounds towards zero": (
        source(
            "warm = int(self.total * 0.25); return var.assign_sub(lr * grad / (1.0 + warm))", arguments="total=7, ", constructor="self.total = total"
        ),
        {},
        lambda number, gradient, m: (0.1 * gradient / 2.0, m),
    ),
    "two names of one assignment": (
        source("m_t = kept = m.assign_add(grad); return var.assign_sub(lr * m_t)"),
        {},
        lambda number, gradient, m: (0.1 * (m + gradient), m + gradient),
    ),
    "what assign() returns is the variable, also later": (
        source("m_t = m.assign(mu * m); m.assign_add(grad); return var.assign_sub(lr * m_t)"),
        {},
        plain,
    ),
    "what was read stays": (
        source("old = tf.identity(m.assign(mu * m)); m.assign_add(grad); return var.assign_sub(lr * old)"),
        {},
        lambda number, gradient, m: (0.1 * 0.5 * m, 0.5 * m + gradient),
    ),
    "a number as a condition, off": (
        source("step = lr * self.rate if self.rate else lr; return var.assign_sub(step * grad)", arguments="rate=0.0, ", constructor="self.rate = rate"),
        {},
        lambda number, gradient, m: (0.1 * gradient, m),
    ),
    "a number as a condition, on": (
        source("step = lr * self.rate if not not self.rate else lr; return var.assign_sub(step * grad)", arguments="rate=0.0, ", constructor="self.rate = rate"),
        {"rate": 3.0},
        lambda number, gradient, m: (0.3 * gradient, m),
    ),
    "a default from the top of the file": (
        source(SCALED, before="HALF = 0.5\nSCALE = HALF * 3\n", arguments="scale=SCALE, ", constructor="self.scale = scale"),
        {},
        lambda number, gradient, m: (1.5 * plain(number, gradient, m)[0], plain(number, gradient, m)[1]),
    ),
    "clipping under a condition, off": (
        source(PLAIN, arguments="limit=0.0, ", constructor="self.limit = limit", after=CLIPPED),
        {},
        plain,
    ),
    "clipping under a condition, on": (
        source(PLAIN, arguments="limit=0.0, ", constructor="self.limit = limit", after=CLIPPED),
        {"limit": 1.0},
        lambda number, gradient, m: plain(number, max(-1.0, min(1.0, gradient)), m),
    ),
    "skipping what has no gradient": (around("grads_and_vars = [(g, v) for g, v in grads_and_vars if g is not None]"), {}, plain),
}


@pytest.mark.parametrize("what", VALUES)
def test_values(what):
    text, given, step = VALUES[what]
    assert_close(trajectory(text, **given), momentum(step), 1e-14, what=what)


def test_bases_come_in_the_order_of_python():
    text = source(PLAIN.replace("grad)", "self.sign(grad))"), after="\n    def sign(self, x):\n        return x\n" + RIGHT)
    assert_close(trajectory(text, "Left"), momentum(plain), 1e-14, what="Left")
    for name in ("Right", "Both"):
        assert_close(trajectory(text, name), momentum(lambda n, g, m: plain(n, -g, m)), 1e-14, what=name)


def test_a_number_as_a_condition_is_compared():
    text, _, _ = VALUES["a number as a condition, off"]
    assert "hyper.rate != 0" in migrate_class(Module(text), "Momentum").text  # TensorFlow takes no number there


def test_a_slot_under_a_second_name():
    text = source(
        "m.assign(m + grad); kept = m\n        if self.largest:\n            top = self.get_slot(var, 'top')\n"
        "            top.assign(tf.maximum(top, m))\n            kept = top\n        return var.assign_sub(lr * kept)",
        arguments="largest=False, ",
        constructor="self.largest = largest",
    ).replace('self.add_slot(var, "m")', 'self.add_slot(var, "m")\n            if self.largest:\n                self.add_slot(var, "top")')
    assert_close(trajectory(text), momentum(lambda n, g, m: (0.1 * (m + g), m + g)), 1e-14, what="m")
    sums = [1.0, 0.5, 2.5]
    expected = 1.0 - 0.1 * np.cumsum(np.maximum.accumulate(sums))
    assert_close(trajectory(text, largest=True), list(expected), 1e-14, what="top")


def test_what_a_subclass_of_sgd_does_to_rows():
    text = "import tensorflow as tf\n\nclass Mine(tf.keras.optimizers.SGD):\n    pass\n"
    assert 'sparse="lazy"' in migrate_class(Module(text), "Mine").reason


def test_repeated_rows_of_a_keras_3_class():
    text = (
        "import keras\nfrom keras import ops\n\n\nclass Mine(keras.optimizers.Optimizer):\n"
        "    def update_step(self, gradient, variable, learning_rate):\n"
        "        self.assign_sub(variable, ops.multiply(learning_rate, %s))\n"
    )
    assert "one by one" in migrate_class(Module(text % "ops.square(gradient)"), "Mine").reason
    assert "one by one" not in migrate_class(Module(text % "gradient"), "Mine").reason
