"""Every test of the matrix has a cache of its own."""

import pytest


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    """COMPAT_OPT_CACHE, in a folder of this test."""
    path = tmp_path / "cache"
    monkeypatch.setenv("COMPAT_OPT_CACHE", str(path))
    return path


@pytest.fixture
def rule_subject(tmp_path):
    """The subject of a file with one rule."""
    from compat_opt.testing.matrix.subjects import Subject
    from matrix_fakes import RULE_FILE

    path = tmp_path / "plain_rule.py"
    path.write_text(RULE_FILE)
    return Subject(str(path))
