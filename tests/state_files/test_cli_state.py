"""`compat-opt state`: show, convert and diff, their output and exit codes."""

import json
import os

import pytest
from written import cases

from compat_opt.cli import main
from compat_opt.state import load, read_file
from compat_opt.testing.compare import assert_close


def path_of(cell, namespace, name="Adam", format="checkpoint"):
    return str(next(c.path for c in cases() if (c.cell, c.namespace, c.name, c.format) == (cell, namespace, name, format)))


OLD, NEW = path_of("tf2.0", "tf.keras"), path_of("tf2.21", "keras")


def test_show_names_every_array(capsys):
    assert main(["state", "show", OLD]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Adam, 3 finished updates\n")
    for line in ("momentum of words/embeddings", "velocity of scores/bias"):
        assert line in out


def test_show_as_json(capsys):
    assert main(["state", "show", NEW, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["algorithm"] == "Adam" and shown["iterations"] == 3
    assert [a["name"] for a in shown["arrays"]][:2] == ["momentum of words/embeddings", "velocity of words/embeddings"]
    assert shown["provenance"]["generation"] == "keras3"


def test_diff_tells_by_its_exit_code(capsys):
    assert main(["state", "diff", NEW, NEW]) == 0
    assert capsys.readouterr().out == "They are equal.\n"
    assert main(["state", "diff", NEW, path_of("tf2.21", "keras", "Adam_amsgrad"), "--json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert not shown["equal"] and "velocity_hat" in json.dumps(shown["differences"])


def test_state_of_two_versions_is_the_same_state(capsys):
    """The same seed, gradients and algorithm: what differs is float32 rounding."""
    old, new = path_of("tf2.10", "tf.keras.experimental"), path_of("tf2.15", "tf.keras")
    assert main(["state", "diff", old, new, "--tolerance", "1e-6"]) == 0, capsys.readouterr().out


def test_convert_to_a_record(tmp_path, capsys):
    out = str(tmp_path / "adam.state")
    assert main(["state", "convert", OLD, "--to", "record", "-o", out]) == 0
    assert "moved  momentum of scores/kernel" in capsys.readouterr().out
    assert not load(out).diff(read_file(OLD))
    assert main(["state", "diff", OLD, out]) == 0


@pytest.mark.parametrize("template", [NEW, path_of("tf2.15", "tf.keras"), path_of("tf2.10", "tf.keras.experimental")], ids=["keras3", "keras2", "2.10"])
def test_convert_into_a_checkpoint_of_another_version(template, tmp_path, capsys):
    out = str(tmp_path / "converted.ckpt")
    assert main(["state", "convert", OLD, "--to", "checkpoint", "--into", template, "-o", out]) == 0
    assert "momentum of words/embeddings" in capsys.readouterr().out
    found, wanted = read_file(out), read_file(OLD)
    assert found.provenance["generation"] == read_file(template).provenance["generation"]
    assert found.iterations == wanted.iterations
    for path, slots in wanted.slots.items():
        for name, array in slots.items():
            assert_close(found.slots[path][name], array, 0, "%s of %s" % (name, path))


def test_what_has_no_place_is_refused_and_nothing_is_written(tmp_path, capsys):
    out = tmp_path / "converted.ckpt"
    arguments = ["state", "convert", path_of("tf2.0", "tf.keras", "Adam_amsgrad"), "--to", "checkpoint", "--into", NEW]
    arguments += ["-o", str(out)]
    assert main(arguments) == 2
    assert "velocity_hat of words/embeddings" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    assert main(arguments + ["--no-strict"]) == 1
    assert "dropped" in capsys.readouterr().out
    assert read_file(out).iterations == 3


@pytest.mark.parametrize(
    "arguments,told",
    [
        (["show", "no/such/file"], "There is nothing at no/such/file"),
        (["show", __file__], "none of the known formats"),
        (["show", path_of("tf2.21", "keras", "two_generator")], "--optimizer"),
        (["convert", OLD, "--to", "nonsense", "-o", "x"], "no format 'nonsense'"),
        (["convert", OLD, "--to", "keras", "-o", "x"], "--into TEMPLATE"),
        (["convert", OLD, "--to", "checkpoint/keras2", "--into", NEW, "-o", "x"], "checkpoint/keras3"),
        (["show", OLD, "--config", "{"], "--config is no JSON"),
        (["convert", OLD, "--to", "checkpoint", "--into", NEW, "-o", "x", "--map", "words"], "OLD=NEW"),
        (["convert", OLD, "--to", "checkpoint", "--into", NEW, "-o", "x", "--map", "a=b", "--map", "a=c"], "once for each OLD"),
        (["show", OLD, "--config", "[1]"], "--config is no JSON object"),
        (["convert", OLD, "--to", "record", "-o", "no_folder/x"], "There is no folder no_folder"),
        (["convert", OLD, "--to", "record", "-o", OLD], "would be overwritten"),
        (["convert", OLD + ".index", "--to", "checkpoint", "--into", NEW, "-o", OLD], "would be overwritten"),
        (["convert", OLD, "--to", "record", "-o", os.path.dirname(__file__)], "is a folder"),
        (["convert", OLD, "--to", "record", "-o", os.path.join(os.devnull, "x")], "There is no folder"),
        (["convert", OLD, "--to", "record", "-o", "x", "--map", "a=b"], "A record is written as it is"),
        (["convert", OLD, "--to", "record", "-o", "x", "--into", NEW], "A record is written as it is"),
        (["convert", OLD, "--to", "record/keras3", "-o", "x"], "A record is written as it is"),
        (["convert", OLD, "--to", "checkpoint", "--into", NEW, "-o", "x", "--into-optimizer", "y"], "no such optimizer"),
        (["convert", OLD, "--to", "checkpoint", "--into", NEW, "-o", "x", "--into-class", "y"], "No table says how y"),
    ],
)
def test_says_what_is_wrong(arguments, told, capsys):
    assert main(["state"] + arguments) == 2
    assert told in capsys.readouterr().err.replace("optimizer= one of", "--optimizer one of")


def test_a_file_that_cannot_be_written_is_an_error(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(os, "replace", mock_refusing)
    assert main(["state", "convert", OLD, "--to", "record", "-o", str(tmp_path / "x")]) == 2
    assert "can't be read or written: [Errno 13] no" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def mock_refusing(*paths):
    raise OSError(13, "no")


def test_a_renamed_variable_is_mapped(tmp_path):
    """A rename alone can't be told from a variable that is new: it is given."""
    out = str(tmp_path / "c.ckpt")
    arguments = ["state", "convert", OLD, "--to", "checkpoint", "--into", NEW, "-o", out]
    assert main(arguments + ["--map", "words/embeddings=words/embeddings"]) == 0
    assert main(arguments + ["--map", "nobody/kernel=words/embeddings"]) == 2
