"""compat-opt doctor: the environment in words and as JSON, without importing a framework."""

import json
import subprocess
import sys

import pytest

import compat_opt
from compat_opt import cli
from compat_opt.cli import doctor
from compat_opt.env import EnvironmentRecord, detect


def lines_for(**fields):
    record = EnvironmentRecord(python="3.11.7", **fields)
    return "\n".join(doctor._lines(record, detect(record)))


def test_json_says_what_the_library_says(capsys):
    code = cli.main(["doctor", "--json"])
    found = json.loads(capsys.readouterr().out)
    offered = compat_opt.targets()
    assert [target["name"] for target in found["targets"]] == [target.key for target in offered]
    assert found["default"] == (compat_opt.default_target().key if offered else None)
    assert code == (0 if offered else 1)
    assert set(found) == {"compat_opt", "environment", "targets", "default", "reason", "missing"}
    for item in found["missing"]:
        assert item["what"] and item["why"] and item["remedy"]


def test_text_names_every_target_and_the_default(capsys):
    cli.main(["doctor"])
    text = capsys.readouterr().out
    for target in compat_opt.targets():
        assert target.key in text
    assert "Default: " in text


def test_imports_no_framework():
    code = (
        "import sys; from compat_opt import cli; cli.main(['doctor']);"
        "print([m for m in ('numpy', 'tensorflow', 'keras', 'tf_keras', 'jax', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    assert done.stdout.decode().splitlines()[-1] == "[]", done.stderr.decode()


def test_what_is_missing_and_what_to_do():
    text = lines_for(tensorflow="2.17.1", keras="3.5.0")
    assert "Default: keras:keras3 (tf.keras is Keras 3 since TensorFlow 2.16)" in text
    assert "tf-keras is not installed" in text
    assert "to have it: pip install 'tf-keras~=2.17.0'" in text


def test_an_old_tensorflow_is_told_when_the_others_came():
    text = lines_for(tensorflow="2.4.4")
    assert "Keras 2 optimizers came with TensorFlow 2.9, and 2.4.4 is installed" in text
    assert "Keras 3 optimizers came with TensorFlow 2.16, and 2.4.4 is installed" in text


@pytest.mark.parametrize(
    "fields, reason",
    [
        ({}, "neither TensorFlow nor a usable Keras 3 is installed"),
        (
            {"tensorflow": "2.16.1", "use_legacy_keras": "1"},
            "TF_USE_LEGACY_KERAS=1 asks for tf-keras, which is not installed",
        ),
    ],
)
def test_no_default_says_why(fields, reason):
    assert "Default: none (%s)" % reason in lines_for(**fields)
