"""The support table says what the matrix found, and only that part of the readme changes."""

import importlib.util
import json
import pathlib

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "ci" / "support_table.py"

CELLS = [
    {
        "cell": "tf2.16",
        "status": "passed",
        "python": "3.11.7",
        "tensorflow": "2.16.2",
        "keras": "3.15.1",
        "tf_keras": "2.16.0",
        "targets": ["keras:keras3", "tf_keras.legacy:optimizer_v2", "tf_keras:keras2"],
        "default": "keras:keras3",
        "laws_passed": 40,
        "passed": 90,
    },
    {
        "cell": "no-tensorflow",
        "status": "passed",
        "python": "3.11.7",
        "tensorflow": "-",
        "keras": "-",
        "tf_keras": "-",
        "targets": [],
        "default": "-",
        "laws_passed": 0,
        "passed": 12,
    },
    {"cell": "tf2.0", "status": "missing"},
]

TABLE = """\
| cell | Python | TensorFlow | Keras | tf_keras | targets, the default in bold | laws passed | tests passed |
| --- | --- | --- | --- | --- | --- | --- | --- |
| tf2.16 | 3.11.7 | 2.16.2 | 3.15.1 | 2.16.0 | **keras:keras3**, tf_keras.legacy:optimizer_v2, tf_keras:keras2 | 40 | 90 |
| no-tensorflow | 3.11.7 | - | - | - | none | 0 | 12 |
| tf2.0 | - | - | - | - | - | missing | missing |"""


@pytest.fixture(scope="module")
def support_table():
    spec = importlib.util.spec_from_file_location("support_table", str(SCRIPT))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_table_has_a_line_for_every_cell(support_table):
    assert support_table.make_table(CELLS) == TABLE


def test_only_the_text_between_the_comments_changes(support_table, tmp_path):
    readme, results = tmp_path / "README.md", tmp_path / "results.json"
    results.write_text(json.dumps({"cells": CELLS}))
    readme.write_text("# Title\n\n{0.BEGIN}\nan old table\n{0.END}\n\nThe end.\n".format(support_table))
    support_table.main(str(results), str(readme))
    first = readme.read_text()
    assert first == "# Title\n\n{0.BEGIN}\n\n{1}\n\n{0.END}\n\nThe end.\n".format(support_table, TABLE)
    support_table.main(str(results), str(readme))
    assert readme.read_text() == first


@pytest.mark.parametrize("comments", ["", "{0.BEGIN}", "{0.END} {0.BEGIN}", "{0.BEGIN} {0.BEGIN} {0.END}"])
def test_a_readme_without_the_comments_is_refused(support_table, comments):
    with pytest.raises(ValueError, match="once each"):
        support_table.replace_table(comments.format(support_table), TABLE)
