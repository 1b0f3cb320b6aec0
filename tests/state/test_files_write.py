"""Files written for this TensorFlow are read by its own loaders, and training goes on from there."""

import inspect
import os
import sys
import warnings
import zipfile

import numpy as np
import pytest
from actors import Actor, optimizers_of

from compat_opt.state import read_file, write
from compat_opt.state.files.writing import write_file
from compat_opt.testing.compare import assert_close
from on_target import file_holds_state, on  # noqa: F401

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "state_files"))
from written import cases  # noqa: E402

#: One file of each generation, as sources.
SOURCES = [("tf2.0", "tf.keras"), ("tf2.10", "tf.keras.experimental"), ("tf2.15", "tf.keras"), ("tf2.21", "keras")]
FORMATS = ("checkpoint", "h5", "keras")


def source(cell, namespace, name="Adam"):
    return next(c for c in cases() if (c.cell, c.namespace, c.name, c.format) == (cell, namespace, name, "checkpoint"))


class Saved:
    """A model of this target with a built native Adam, and its formats."""

    def __init__(self, on, folder, case):
        self.on, self.folder, self.case = on, str(folder), case

    def model(self):
        layers = self.on.keras.layers
        given = self.on.keras.Input((2,), dtype="int32", name="given")
        flat = layers.Flatten(name="flat")(layers.Embedding(3, 2, name="words")(given))
        model = self.on.keras.Model(given, layers.Dense(2, name="scores")(flat), name="net")
        model.set_weights(self.case.weights)
        return self.on.compile(model, optimizers_of(self.on.target).Adam(learning_rate=0.05))

    def built(self):
        """A model whose optimizer has met its variables, by a step that is undone for the weights only."""
        model = self.model()
        actor = Actor(self.on.target, "Adam", True)
        actor.run(model.optimizer, model.trainable_variables, [[np.ones_like(w) for w in self.case.weights]])
        model.set_weights(self.case.weights)
        return model

    def save(self, model, format):
        """Save a template; skips where this Keras has no such format, or none with the state."""
        path = os.path.join(self.folder, "template" + {"checkpoint": "", "h5": ".h5", "keras": ".keras"}[format])
        if format == "checkpoint":
            if self.on.tf is None:
                pytest.skip("no tf.train.Checkpoint on the backend %s" % self.on.target.backend)
            return self.on.tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(path)
        model.save(path)
        if format == "keras" and not (os.path.isfile(path) and zipfile.is_zipfile(path)):
            pytest.skip("no .keras format: Model.save writes another format under that name")
        if format == "keras" and self.on.target.generation == "optimizer_v2":
            pytest.skip("a .keras file holds no state of OptimizerV2")
        if not file_holds_state(path):
            pytest.skip("TensorFlow 2.9 and 2.10 write no state of Keras 2 optimizers into H5")
        return path

    def load(self, path, format):
        """The model, by this Keras's own loader."""
        if format != "checkpoint":
            return self.on.keras.models.load_model(path)
        model = self.model()
        status = self.on.tf.train.Checkpoint(model=model, optimizer=model.optimizer).restore(path)
        if hasattr(model.optimizer, "build"):
            model.optimizer.build(model.trainable_variables)
        status.assert_existing_objects_matched()
        return model


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("cell,namespace", [SOURCES[0]] + [pytest.param(*s, marks=pytest.mark.long) for s in SOURCES[1:]])
def test_the_own_loader_takes_it(on, tmp_path, cell, namespace, format):
    pytest.importorskip("h5py")
    case = source(cell, namespace)
    saved = Saved(on, tmp_path, case)
    template = saved.save(saved.built(), format)
    if format == "h5" and on.is_keras3 and not saved.load(template, format).optimizer._trainable_variables:
        pytest.skip("Keras 3 builds an optimizer from an H5 file without variables, also from its own")
    out = os.path.join(str(tmp_path), "converted" + os.path.splitext(template)[1])
    report = write_file(read_file(case.path), out, template)
    assert not report.of_kind("dropped") and not report.of_kind("defaulted"), str(report)
    with warnings.catch_warnings():
        warnings.simplefilter("error" if format == "keras" else "ignore")
        model = saved.load(out, format)
    assert int(on.value(model.optimizer.iterations)) == 3
    actor = Actor(on.target, "Adam", True)
    for step, row in enumerate(case.gradients()):
        for value, wanted in zip(actor.run(model.optimizer, model.trainable_variables, [row]), case.after[step]):
            assert_close(value, wanted, 1e-6, "%s step %d" % (format, step + 1), smallest=1.0)


def test_a_saved_model_keeps_its_state(on, tmp_path):
    """Keras 2 restores no optimizer from a SavedModel; the state is in it all the same."""
    if "save_format" not in inspect.signature(on.keras.Model.save).parameters:
        pytest.skip("no save_format in Model.save: this Keras has no SavedModel format")
    if on.target.namespace == "tf.keras.experimental":
        pytest.skip("TensorFlow 2.9 and 2.10 do not load a SavedModel with such an optimizer")
    case = source(*SOURCES[0])
    saved = Saved(on, tmp_path, case)
    trained = saved.built()
    path = os.path.join(str(tmp_path), "saved")
    trained.save(path, save_format="tf")
    record = read_file(path)
    assert record.iterations == 1
    fresh = saved.model()
    write(fresh.optimizer, record, fresh.trainable_variables)
    actor, row = Actor(on.target, "Adam", True), case.gradients()[0]
    for value, wanted in zip(
        actor.run(fresh.optimizer, fresh.trainable_variables, [row]),
        actor.run(trained.optimizer, trained.trainable_variables, [row]),
    ):
        assert_close(value, wanted, 0)
