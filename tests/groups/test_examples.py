"""The examples that use groups run on the default target, and do what they say."""

import importlib.util
import re
from pathlib import Path

import pytest

import compat_opt as co
from compat_opt.testing.compare import assert_close

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


def load(name):
    """The module of an example."""
    if not co.targets():
        pytest.skip("no framework is installed")
    spec = importlib.util.spec_from_file_location("example_" + name, str(EXAMPLES / (name + ".py")))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.long
def test_layerwise_decay(capsys):
    load("layerwise_decay").main()
    lines = capsys.readouterr().out.splitlines()
    found = [re.match(r"(\w+) +(\d+) variables, learning rate ([0-9.]+)", line).groups() for line in lines[:-1]]
    assert [(name, count) for name, count, _ in found] == [
        ("embedding", "1"), ("block_0_", "12"), ("block_1_", "12"), ("block_2_", "12"),
    ]  # fmt: skip
    assert_close([float(rate) for _, _, rate in found], [5e-3 * 0.75**depth for depth in (4, 3, 2, 1)], 1e-3)
    assert float(lines[-1].split()[-1]) > 0.7
