"""`compat-opt bridge run`: a script of TensorFlow 2.4, as it is."""

import os
import subprocess
import sys

import pytest
from bridging import LEGACY, needs_host

from compat_opt.cli import main


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "compat_opt", "bridge", "run"] + [str(argument) for argument in arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=300, **options
    )  # fmt: skip


@needs_host
@pytest.mark.long
def test_a_script_trains_unchanged():
    done = run(LEGACY / "train_script.py", "0.1")
    assert done.returncode == 0, done.stderr
    # w = 0.1 * 2 after one step; then g = 2 (w - 1), v = 0.9 * -2 + g. Adam moves by lr, then by lr / (1 + decay).
    w = 0.2 + 0.1 * (0.9 * 2 + 2 * 0.8)
    assert done.stdout.splitlines() == ["weight %.6f True" % w, "adam %.4f" % -(0.5 + 0.25)]


@needs_host
@pytest.mark.long
def test_a_script_with_options_that_ends_as_it_says(tmp_path):
    script = tmp_path / "ends.py"
    script.write_text(
        "import sys, beside\nprint(sys.argv[1:], __name__, beside.NAME)\n"
        "def fails():\n    raise ValueError('of the script')\n"
        "if sys.argv[-1] == 'exit':\n    sys.exit(3)\nfails()\n"
    )
    (tmp_path / "beside.py").write_text("NAME = 'beside'\n")
    done = run(script, "--rate", "0.1", "-v", "exit")
    assert (done.returncode, done.stdout) == (3, "['--rate', '0.1', '-v', 'exit'] __main__ beside\n"), done.stderr
    done = run(script, "go")
    assert done.returncode == 1 and done.stdout == "['go'] __main__ beside\n"
    lines = done.stderr.strip().splitlines()
    assert lines[-1] == "ValueError: of the script"
    assert any(str(script) in line and "line 4, in fails" in line for line in lines), done.stderr


@needs_host
@pytest.mark.long
def test_a_script_with_an_installed_package(tmp_path):
    """The package has legacy classes; the script asks for them as always, and today's models take them."""
    package = tmp_path / "site" / "oldoptimizers"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from oldoptimizers.momentum import Momentum\n")
    text = (LEGACY / "momentum_v2.py").read_text()
    base = "tf.keras.optimizers.Optimizer)"
    assert base in text
    text = "import abc\n" + text.replace(base, base[:-1] + ", metaclass=abc.ABCMeta)")
    (package / "momentum.py").write_text("from tensorflow.python.training import training_ops\n" + text)
    script = tmp_path / "uses.py"
    script.write_text(
        "import numpy as np\nimport tensorflow as tf\nimport oldoptimizers\n"
        "layer = tf.keras.layers.Dense(1, use_bias=False, kernel_initializer='zeros')\n"
        "model = tf.keras.Sequential([layer])\n"
        "model.compile(oldoptimizers.Momentum(0.1), tf.keras.losses.MeanSquaredError())\n"
        "model.fit(np.ones((4, 1)), np.ones((4, 1)), epochs=2, batch_size=4, verbose=0)\n"
        "print('%.6f' % float(model.get_weights()[0][0, 0]))\n"
    )
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(package.parent)] + sys.path))
    done = run("--private", "oldoptimizers", script, env=environment)
    assert done.stdout == "%.6f\n" % (0.2 + 0.1 * (0.9 * 2 + 2 * 0.8)), done.stderr
    done = run(script, env=environment)
    last = done.stderr.strip().splitlines()[-1]
    if "ImportError" in last or "ModuleNotFoundError" in last:  # where TensorFlow has no training_ops any more
        assert "--private oldoptimizers" in last


def test_a_script_that_is_not_there(capsys):
    assert main(["bridge", "run", "no_such_script.py"]) == 2
    assert "compat-opt bridge: There is no script" in capsys.readouterr().err


@needs_host
@pytest.mark.long
def test_a_script_with_bases_from_private_modules(tmp_path):
    """One step of w <- w - lr * g on (w - 1) ** 2 from 0 with g = -2; Adam's first step is lr."""
    script = tmp_path / "private.py"
    script.write_text(
        "import tensorflow as tf\n"
        "from tensorflow.python.keras.optimizer_v2 import optimizer_v2\n"
        "from tensorflow.python.keras.optimizer_v2.adam import Adam\n"
        "from tensorflow.keras.optimizers.legacy import SGD\n\n\n"
        "class Plain(optimizer_v2.OptimizerV2):\n"
        "    def __init__(self, learning_rate=0.1, name='Plain', **kwargs):\n"
        "        super().__init__(name, **kwargs)\n"
        "        self._set_hyper('learning_rate', kwargs.get('lr', learning_rate))\n\n"
        "    def _resource_apply_dense(self, grad, var, apply_state=None):\n"
        "        return var.assign_sub(self._get_hyper('learning_rate', var.dtype.base_dtype) * grad)\n\n\n"
        "for optimizer in (Plain(lr=0.25), Adam(lr=0.5, decay=0.1), SGD(lr=0.125)):\n"
        "    layer = tf.keras.layers.Dense(1, use_bias=False, kernel_initializer='zeros')\n"
        "    model = tf.keras.Sequential([layer])\n"
        "    model.compile(optimizer, 'mse')\n"
        "    model.fit(tf.ones((1, 1)), tf.ones((1, 1)), verbose=0)\n"
        "    print('%.4f' % layer.get_weights()[0][0, 0])\n"
    )
    done = run(script)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["0.5000", "0.5000", "0.2500"]
