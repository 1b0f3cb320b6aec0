"""The readme's example runs, and prints what the readme says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

import compat_opt

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_prints_what_the_readme_says():
    pytest.importorskip("tensorflow", reason="the example needs TensorFlow")
    if compat_opt.default_target().backend != "tensorflow":
        pytest.skip("the example is for the tensorflow backend")
    code, printed = re.findall(r"```(?:python)?\n(.*?)```", README, re.S)[:2]
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    lines, expected = output.getvalue().splitlines(), printed.splitlines()
    assert lines[:-1] == expected[:-1]
    assert lines[-1] == compat_opt.default_target().describe()


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#:]+)\)", README))
def test_links_lead_somewhere(link):
    assert (ROOT / link).exists()


def test_the_matrix_is_the_test_command():
    assert "python3 ci/run_matrix.py" in README
    assert "python3 ci/run_matrix.py" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
