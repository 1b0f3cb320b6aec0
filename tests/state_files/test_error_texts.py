"""The ten errors that people are most likely to meet, in full."""

import shutil

import numpy as np
import pytest
from addons import FILES as ADDONS
from written import FILES

from compat_opt.errors import StateError
from compat_opt.state import load, read_file, save
from compat_opt.state.files.bundle import Bundle
from compat_opt.state.files.writing import write_file
from compat_opt.state.pairing import pair
from compat_opt.state.record import Variable

OLD, NEW = FILES / "tf2.0" / "tf.keras" / "Adam.ckpt", FILES / "tf2.21" / "keras" / "Adam.ckpt"


def text(function, **places):
    """The message, with a name in place of each path."""
    with pytest.raises(StateError) as caught:
        function()
    message = str(caught.value)
    for name, path in dict(places, FILES=FILES, ADDONS=ADDONS).items():
        message = message.replace(str(path), name)
    return message


def test_1_a_path_that_is_not_there(tmp_path):
    assert text(lambda: read_file(tmp_path / "model.ckpt"), TMP=tmp_path) == (
        "There is nothing at TMP/model.ckpt. Expected: the folder of BackupAndRestore; a TensorFlow checkpoint: its prefix, "
        "its index, its folder, or a SavedModel; an H5 file: model.save(x.h5), or Keras 3's save_weights(x.weights.h5); a "
        ".keras archive, of Keras 2.12 or newer; a file of compat_opt.state.save. A checkpoint is given by its prefix, "
        "without .index and .data-...."
    )


def test_2_several_optimizers():
    assert text(lambda: read_file(FILES / "tf2.21" / "keras" / "two.ckpt")) == (
        "The checkpoint FILES/tf2.21/keras/two.ckpt has 2 optimizers. Expected: optimizer= one of discriminator_optimizer, "
        "generator_optimizer. Received: optimizer=None."
    )


def test_3_a_class_that_the_file_does_not_tell():
    assert text(lambda: read_file(ADDONS / "0.19.0" / "Lookahead_RectifiedAdam")) == (
        "The file does not say of which class its optimizer is. Expected: class_name= one of Addons>AdaBelief, "
        "Addons>RectifiedAdam. Received: an optimizer of optimizer_v2 with m, v, named 'iter'."
    )


def test_4_an_optimizer_that_was_saved_without_its_model():
    assert text(lambda: read_file(FILES / "tf2.4" / "tf.keras" / "shards.ckpt")) == (
        "FILES/tf2.4/tf.keras/shards.ckpt holds the count of steps of Adam, and no slots. Expected: the model's variables in "
        "the same checkpoint: the slots of OptimizerV2 hang on them. Save tf.train.Checkpoint(model=model, "
        "optimizer=optimizer)."
    )


def test_5_a_file_without_the_state():
    pytest.importorskip("h5py", reason="no h5py, with which H5 files are read")
    assert text(lambda: read_file(FILES / "tf2.10" / "tf.keras.experimental" / "Adam.h5")) == (
        "FILES/tf2.10/tf.keras.experimental/Adam.h5 holds no optimizer state. Expected: a group optimizer_weights. Received: "
        "an optimizer's config alone, of Custom>Adam. TensorFlow 2.9 and 2.10 write none for optimizers of "
        "keras.optimizers.experimental: take a checkpoint."
    )


def test_6_a_damaged_checkpoint(tmp_path):
    for path in OLD.parent.glob("Adam.ckpt.*"):
        shutil.copy(str(path), str(tmp_path / path.name))
    key = "model/layer_with_weights-1/kernel/.OPTIMIZER_SLOT/optimizer/v/.ATTRIBUTES/VARIABLE_VALUE"
    shard = tmp_path / "Adam.ckpt.data-00000-of-00001"
    data = bytearray(shard.read_bytes())
    data[Bundle(str(OLD))._entries[key.encode()].offset] ^= 1
    shard.write_bytes(bytes(data))
    assert text(lambda: read_file(tmp_path / "Adam.ckpt"), TMP=tmp_path) == (
        "The tensor '%s' at byte 176 of TMP/Adam.ckpt.data-00000-of-00001 can't be read: it has another checksum than was "
        "written. Copy the file again, or take an earlier checkpoint." % key
    )


def test_7_another_algorithm(tmp_path):
    template = FILES / "tf2.21" / "keras" / "Adagrad.ckpt"
    assert text(lambda: write_file(read_file(OLD), tmp_path / "out", template)) == (
        "The state is that of another algorithm. Expected: Adagrad. Received: a record of Adam. strict=False moves the slots "
        "that have the same names. [FILES/tf2.21/keras/Adagrad.ckpt (keras3 Adagrad)]"
    )


def test_8_a_layer_that_is_gone(tmp_path):
    record = read_file(OLD)
    record.slots["extra/kernel"] = {"momentum": np.zeros((5, 5), "float32"), "velocity": np.zeros((5, 5), "float32")}
    record.variables.append(Variable("extra/kernel", (5, 5), "float32"))
    assert text(lambda: write_file(record, tmp_path / "out", NEW)) == (
        "The state does not fit the optimizer: dropped momentum of extra/kernel: the optimizer has no such variable; dropped "
        "velocity of extra/kernel: the optimizer has no such variable. Nothing was changed. strict=False moves what fits and "
        "reports the rest. [FILES/tf2.21/keras/Adam.ckpt (keras3 Adam)]"
    )
    assert not list(tmp_path.iterdir())


def test_9_a_variable_that_could_be_several():
    theirs = [Variable("a/w", (2, 2), None), Variable("b/w", (2, 2), None), Variable("c/b", (3,), None)]
    ours = [Variable("x/w", (2, 2), None), Variable("y/b", (3,), None)]
    assert text(lambda: pair(theirs, ours)) == (
        "Variable x/w could be several of the record. Expected: one candidate by path, name, or shape and order. Received: "
        'a/w, b/w of shape (2, 2). Say which is which with renames={"path in the record": "path in the optimizer"}, or '
        'renames="order".'
    )


def test_10_a_record_that_was_cut_off(tmp_path):
    path = tmp_path / "adam.state"
    save(read_file(OLD), path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    assert text(lambda: load(path), TMP=tmp_path) == (
        "The file TMP/adam.state is truncated or damaged in the archive's directory, at its end. Expected: what "
        "compat_opt.state.save wrote. Received: an archive without an end. Nothing was read from it."
    )
