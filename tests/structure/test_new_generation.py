"""A new generation is a new folder: one with the fixed file names passes a law, and no other file is edited."""

import pathlib
import shutil
import sys

import pytest

import compat_opt as co
from compat_opt import adapters
from compat_opt.adapters import compile as compiling
from compat_opt.testing.laws import run_law
from compat_opt.testing.subject import Subject


class Plain(co.UpdateRule):
    learning_rate = co.Hyper(0.1)
    mean = co.Slot()

    def update(self, grad, var, slots, hyper, ops):
        mean = 0.9 * slots.mean + grad
        return var - hyper.learning_rate * mean, {"mean": mean}


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A copy of the default target's generation as the folder ``toy``, beside the real ones on the package's path."""
    target = co.default_target()
    source = pathlib.Path(adapters.__file__).parent / target.generation
    folder = tmp_path / "toy"
    shutil.copytree(str(source), str(folder), ignore=shutil.ignore_patterns("__pycache__"))
    own, new = "compat_opt.adapters.%s" % target.generation, "compat_opt.adapters.toy"
    for path in folder.glob("*.py"):
        path.write_text(path.read_text().replace(own, new))
    monkeypatch.setattr(adapters, "__path__", list(adapters.__path__) + [str(tmp_path)])
    compiled = dict(compiling._COMPILED)
    yield target._replace(generation="toy")
    compiling._COMPILED.clear()
    compiling._COMPILED.update(compiled)
    for name in [name for name in sys.modules if name == new or name.startswith(new + ".")]:
        del sys.modules[name]
    if hasattr(adapters, "toy"):
        del adapters.toy


@pytest.mark.skipif(not co.targets(), reason="no framework is installed here to compile for")
def test_a_folder_is_all_that_a_generation_needs(toy):
    assert "toy" in compiling.generations()
    subject = Subject(Plain, toy)
    assert subject.optimizer_class.target.generation == "toy"
    assert subject.optimizer_class.__mro__[1].__module__ == "compat_opt.adapters.toy.adapter"
    run_law("dense", subject)


def test_a_generation_without_folder_is_refused():
    record = co.Target("keras9", "keras", "tensorflow", "2.30", "9.0")
    with pytest.raises(co.errors.TargetError) as caught:
        co.compile_rule(Plain, record)
    assert str(caught.value) == (
        "There is no adapter for the generation 'keras9'. Expected: one of keras2, keras3, optimizer_v2."
    )
