"""`compat-opt bridge run`: a script of TensorFlow 2.4, as it is."""

import subprocess
import sys

import pytest
from bridging import LEGACY, needs_host

from compat_opt.cli import main


@needs_host
@pytest.mark.long
def test_a_script_trains_unchanged():
    done = subprocess.run(
        [sys.executable, "-m", "compat_opt", "bridge", "run", str(LEGACY / "train_script.py"), "0.1"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # w = 0.1 * 2 after one step; then g = 2 (w - 1), v = 0.9 * -2 + g. Adam moves by lr, then by lr / (1 + decay).
    w = 0.2 + 0.1 * (0.9 * 2 + 2 * 0.8)
    assert done.stdout.splitlines() == ["weight %.6f True" % w, "adam %.4f" % -(0.5 + 0.25)]


def test_a_script_that_is_not_there(capsys):
    assert main(["bridge", "run", "no_such_script.py"]) == 2
    assert "compat-opt bridge: There is no script" in capsys.readouterr().err
