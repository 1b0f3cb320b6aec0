"""Which releases a selection means, what they need, and which cells they make."""

import pytest

from compat_opt.errors import CommandError
from compat_opt.testing.matrix import plan, releases


def names(text):
    return [release.name for release in releases.select(text)]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("2.0,2.4,2.10-2.12", ["2.0", "2.4", "2.10", "2.11", "2.12"]),
        ("2.12, 2.4", ["2.4", "2.12"]),
        ("2.9.1-2.10.0", ["2.9.1", "2.9.2", "2.9", "2.10.0"]),
        ("2.9,2.9,2.8-2.9", ["2.8", "2.9"]),
        ("keras3-jax,2.16-oldest-keras,2.16", ["2.16", "2.16-oldest-keras", "keras3-jax"]),
        ("2.0.1", ["2.0.1"]),
    ],
)
def test_selection(text, expected):
    assert names(text) == expected


def test_latest_is_the_newest_tensorflow():
    newest = releases.numbered()[-1]
    assert [r.tensorflow for r in releases.select("latest")] == [newest.tensorflow]
    assert names("2.19-latest")[-1] == names("latest")[0]


def test_here_is_this_interpreter():
    import sys

    (here,) = releases.select("here")
    assert here.python == "%d.%d" % sys.version_info[:2]


@pytest.mark.parametrize("text, hint", [("2.99", "2.9"), ("2.10.7", "2.10"), ("", "no release"), ("2.11-2.9", "empty")])
def test_what_there_is_not_is_refused(text, hint):
    with pytest.raises(CommandError, match=hint):
        releases.select(text)


def test_every_release_is_there_once_and_in_order():
    versions = [release.tensorflow for release in releases.numbered()]
    assert versions == sorted(set(versions), key=releases.version_key)
    assert versions[0] == "2.0.0"
    assert {r.name for r in releases.every()} >= {"2.%d" % minor for minor in range(22)}


@pytest.mark.parametrize("name", [release.name for release in releases.every()])
def test_cells_are_known_before_the_environment_is_made(name):
    (release,) = releases.select(name)
    cells = plan.make_cells([release])
    assert sum(cell.is_default for cell in cells) == 1
    assert all(":" in cell.target for cell in cells)


def test_a_patch_release_can_need_more_than_the_last_one():
    assert "protobuf<3.21" in releases.find("2.9.0").requirements()
    assert "protobuf<3.21" not in releases.find("2.9").requirements()


def test_what_tf_keras_brings_is_held_to_the_same_version():
    needed = releases.find("2.16.1").requirements()
    assert needed[0] != "tensorflow-cpu==2.16.1" or "tensorflow==2.16.1" in needed


def test_targets_by_generation_namespace_and_default():
    chosen = releases.select("2.8,2.10,2.11,2.21")
    assert [c.label for c in plan.make_cells(chosen, ["keras2"])] == [
        "2.10 tf.keras.experimental:keras2",
        "2.11 tf.keras:keras2",
        "2.21 tf_keras:keras2",
    ]
    assert [c.target for c in plan.make_cells(chosen, ["default"])] == [
        "tf.keras:optimizer_v2",
        "tf.keras:optimizer_v2",
        "tf.keras:keras2",
        "keras:keras3",
    ]
    assert [c.target for c in plan.make_cells(chosen, has_targets=False)] == ["own"] * 4
    with pytest.raises(CommandError, match="target"):
        plan.make_cells(chosen, ["keras4"])
