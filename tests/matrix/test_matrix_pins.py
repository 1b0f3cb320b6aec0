"""releases.tsv is the one place for pins: what CI installs in its cells is the same."""

import pathlib

import pytest

from compat_opt.testing.matrix import releases

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "ci" / "requirements"
FILES = sorted(path.stem for path in FOLDER.glob("*.txt"))


def requirements(path):
    lines = [line.strip() for line in path.read_text().splitlines()]
    return sorted(line for line in lines if line and not line.startswith("#"))


def test_the_folder_is_there():
    assert FILES, "ci/requirements is not beside tests/"


@pytest.mark.parametrize("cell", [name for name in FILES if name != "no-tensorflow"])
def test_ci_installs_what_the_matrix_installs(cell):
    name = cell[2:] if cell.startswith("tf2") else cell
    release = releases.find(name)
    if not release.requirements()[0].startswith("tensorflow"):
        expected = release.requirements()
    else:
        row = next(r for r in releases._rows() if r["name"] == release.minor)
        expected = ["%s==%s" % (row["package"], release.tensorflow)] + list(release.pins)
    assert requirements(FOLDER / (cell + ".txt")) == sorted(set(expected) - {"packaging"})


def test_every_release_has_its_cell():
    known = {name[2:] if name.startswith("tf2") else name for name in FILES}
    assert {release.name for release in releases.every()} <= known
