"""examples/keras_adamw.py on every target against the trajectory of keras-adamw 1.38 itself."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from test_examples import load

import compat_opt
from compat_opt.testing.compare import assert_close
from compat_opt.testing.digits import keras_of

HERE = Path(__file__).resolve().parent


def comparison():
    """The script that wrote the trajectory: it has the problem and the settings."""
    spec = importlib.util.spec_from_file_location("compare_keras_adamw", str(HERE.parent.parent / "ci" / "compare_keras_adamw.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_trajectory_of_the_package(on):
    script = comparison()
    written = json.loads((HERE / "keras_adamw_1_38.json").read_text(encoding="utf-8"))
    values, rows = script.problem()
    names = [name.replace("/", "_") if on.tf is None else name for name in script.NAMES]
    settings = {
        name: {part.replace("/", "_") if on.tf is None else part: number for part, number in value.items()}
        if isinstance(value, dict)
        else value
        for name, value in script.SETTINGS.items()
    }
    variables = [on.variable(value, name=name) for value, name in zip(values, names)]
    optimizer = load("keras_adamw").adamw(variables, target=on.target, **settings)
    for number, (row, expected) in enumerate(zip(rows, written["trajectory"])):
        on.step(optimizer, *zip(row, variables))
        for variable, value in zip(variables, expected):
            assert_close(np.ravel(on.value(variable)), value, 1e-4, "step %d" % number, smallest=0.01)


@pytest.mark.long
def test_the_example_runs(capsys):
    pytest.importorskip("sklearn", reason="the digits come with scikit-learn")
    # Names are unique in a process: other tests have had layers called "hidden", and TF 2.0 makes hidden_1 of it.
    keras_of(compat_opt.default_target()).backend.clear_session()
    load("keras_adamw").main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["rate", "x", "0.5,", "decay", "0.01", "1", "variables"] and len(lines) == 5
    assert float(lines[-1].split()[-1]) > 0.9
