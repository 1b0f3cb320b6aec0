"""One real run, on the interpreter that runs this test and what is installed in it."""

import json

import pytest

from compat_opt import cli
from compat_opt.env import targets

pytestmark = pytest.mark.skipif(not targets(), reason="this environment has no target to run a cell on")


def test_a_rule_on_this_environment(tmp_path, rule_subject, capsys, monkeypatch):
    # The second run must find the first one's result, also while somebody works on the package.
    monkeypatch.setattr("compat_opt.testing.matrix.cache.source_digests", lambda: ("rules", "others"))
    base = ["matrix", rule_subject.path, "--tf", "here", "--target", "default", "--laws", "dense,sparse"]
    files = ["--json", str(tmp_path / "cells.json"), "--html", str(tmp_path / "report.html")]
    code = cli.main(base + files + ["--record", str(tmp_path / "base")])
    printed = capsys.readouterr().out
    assert code == 0, printed
    (cell,) = json.loads((tmp_path / "cells.json").read_text())
    assert cell["status"] == "passed" and cell["laws"]["dense"]["status"] == "kept"
    assert 0 <= cell["distance_to_reference"] < (1e-9 if cell["dtype"] == "float64" else 1e-3)
    assert cell["times"].get("step_ms", 0) > 0, cell["times"]
    assert "<svg" in (tmp_path / "report.html").read_text(encoding="utf-8")
    code = cli.main(base + ["--against", str(tmp_path / "base")])
    printed = capsys.readouterr().out
    assert code == 0 and "kept from an earlier run" in printed and "same" in printed, printed


def test_a_builtin_on_this_environment(capsys):
    code = cli.main(["matrix", "tf.keras.optimizers:SGD", "--tf", "here", "--target", "default", "--no-times"])
    printed = capsys.readouterr().out
    assert code == 0 and "1 passed" in printed, printed
