"""A cell of the matrix proves that it is the one of its row in ci/cells.tsv, and that the wheel is what it tests."""

import csv
import os
import pathlib
import sysconfig

import pytest

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent
CELL = os.environ.get("COMPAT_OPT_CELL")

pytestmark = pytest.mark.skipif(CELL is None, reason="not in a cell of the matrix: COMPAT_OPT_CELL is not set")


@pytest.fixture(scope="module")
def row():
    with open(str(CHECKOUT / "ci" / "cells.tsv")) as file:
        rows = {row["cell"]: row for row in csv.DictReader(file, delimiter="\t")}
    return rows[CELL]


@pytest.mark.parametrize("name", ["python", "tensorflow", "keras", "tf_keras"])
def test_version_is_the_rows(name, row, installed):
    promised, found = row[name], installed[name]
    assert found == promised or found.startswith(promised + "."), (name, promised, found)


def test_backend_is_the_rows(row, installed):
    assert installed["backend"] == row["backend"]


def test_compile_takes_the_keras_of_the_rows_default(row, installed):
    package = "-"
    if installed["tensorflow"] != "-":
        import tensorflow as tf

        package = tf.keras.optimizers.Optimizer.__module__.split(".")[0]
    assert (package == "tf_keras") == row["default"].startswith("tf_keras:"), package


def test_targets_are_the_rows(row):
    import compat_opt

    targets = compat_opt.targets()
    promised = [] if row["targets"] == "-" else row["targets"].split()
    assert sorted(str(target) for target in targets) == sorted(promised)
    for target in targets:
        assert str(target) == "{}:{}".format(target.namespace, target.generation)


def test_default_target_is_the_rows(row):
    import compat_opt

    if row["default"] == "-":
        assert list(compat_opt.targets()) == []
    else:
        assert str(compat_opt.default_target()) == row["default"]


def installed_package():
    import compat_opt

    return pathlib.Path(compat_opt.__file__).resolve().parent


def test_compat_opt_is_the_installed_one():
    assert installed_package() == pathlib.Path(sysconfig.get_paths()["purelib"]).resolve() / "compat_opt"


def files_of(package):
    return {
        path.relative_to(package).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_left_no_file_out():
    assert files_of(installed_package()) == files_of(CHECKOUT / "compat_opt")
