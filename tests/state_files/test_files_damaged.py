"""Damaged files: an error that names the file, or the right state; never a wrong one in silence."""

import shutil

import numpy as np
import pytest
from written import cases

from compat_opt.errors import StateError
from compat_opt.state import read_file
from compat_opt.state.files.crc32c import crc32c
from compat_opt.state.files.writing import write_file
from compat_opt.testing.compare import assert_close

TRIALS = 150


def case_of(cell, namespace, format, name="Adam"):
    return next(
        c for c in cases() if (c.cell, c.namespace, c.name, c.format) == (cell, namespace, name, format)
    )


CHECKPOINTS = [case_of("tf2.0", "tf.keras", "checkpoint"), case_of("tf2.21", "keras", "checkpoint")]
CHECKPOINTS += [case_of("tf2.15", "tf.keras", "checkpoint", "shards"), case_of("tf2.10", "tf.keras.experimental", "checkpoint")]


def copied(case, folder):
    """The files of a checkpoint in another folder: (prefix, [paths])."""
    paths = sorted(case.path.parent.glob(case.path.name + ".*"))
    copies = [folder / path.name for path in paths]
    for path, copy in zip(paths, copies):
        shutil.copy(str(path), str(copy))
    return folder / case.path.name, copies


def right_or_refused(path, original, where, class_name="Adam"):
    """Whether the file was refused; it must not be read to something else."""
    try:
        record = read_file(path, class_name=class_name)
    except StateError as error:
        assert path.name.split(".")[0] in str(error), "%s does not name the file: %s" % (where, error)
        return True
    assert not record.diff(original), "%s: a wrong state was read" % where
    return False


@pytest.mark.parametrize("case", CHECKPOINTS, ids=repr)
def test_a_flipped_byte_of_a_checkpoint_is_noticed(case, tmp_path):
    original = read_file(case.path, class_name="Adam")
    prefix, paths = copied(case, tmp_path)
    random, refused = np.random.RandomState(0), 0
    for trial in range(TRIALS):
        path = paths[trial % len(paths)]
        data = path.read_bytes()
        position, bit = random.randint(len(data)), random.randint(8)
        path.write_bytes(data[:position] + bytes([data[position] ^ 1 << bit]) + data[position + 1 :])
        refused += right_or_refused(prefix, original, "byte %d of %s" % (position, path.name))
        path.write_bytes(data)
    assert refused > TRIALS // 2


@pytest.mark.parametrize("case", CHECKPOINTS, ids=repr)
def test_a_truncated_checkpoint_is_noticed(case, tmp_path):
    original = read_file(case.path, class_name="Adam")
    prefix, paths = copied(case, tmp_path)
    random = np.random.RandomState(1)
    for trial in range(TRIALS // 3):
        path = paths[trial % len(paths)]
        data = path.read_bytes()
        length = random.randint(len(data))
        path.write_bytes(data[:length])
        if path.name.endswith(".index"):
            with pytest.raises(StateError, match=path.name):
                read_file(prefix)
        else:
            right_or_refused(prefix, original, "%s cut at %d" % (path.name, length))
        path.write_bytes(data)
    paths[0].unlink()
    with pytest.raises(StateError, match="byte [0-9]+ of .*data-00000-of-00001.*can't be read"):
        read_file(prefix)


def test_the_message_names_key_and_byte(tmp_path):
    case = CHECKPOINTS[0]
    prefix, paths = copied(case, tmp_path)
    data = bytearray(paths[0].read_bytes())
    from compat_opt.state.files.bundle import Bundle

    key = "model/layer_with_weights-1/kernel/.OPTIMIZER_SLOT/optimizer/v/.ATTRIBUTES/VARIABLE_VALUE"
    entry = Bundle(str(prefix))._entries[key.encode()]
    data[entry.offset + 3] ^= 0x40
    paths[0].write_bytes(bytes(data))
    with pytest.raises(StateError) as caught:
        read_file(prefix)
    assert key in str(caught.value) and "byte %d of" % entry.offset in str(caught.value)


def test_swapped_tensors_of_a_checkpoint_are_noticed(tmp_path):
    from compat_opt.state.files.bundle import Bundle

    case = CHECKPOINTS[0]
    prefix, paths = copied(case, tmp_path)
    data = bytearray(paths[0].read_bytes())
    part = "model/layer_with_weights-1/kernel/.OPTIMIZER_SLOT/optimizer/%s/.ATTRIBUTES/VARIABLE_VALUE"
    m, v = (Bundle(str(prefix))._entries[(part % slot).encode()] for slot in "mv")
    data[m.offset : m.offset + m.size], data[v.offset : v.offset + v.size] = (
        data[v.offset : v.offset + v.size],
        data[m.offset : m.offset + m.size],
    )
    paths[0].write_bytes(bytes(data))
    with pytest.raises(StateError, match="another checksum"):
        read_file(prefix)


@pytest.mark.parametrize("cell,namespace", [("tf2.15", "tf.keras"), ("tf2.21", "keras")])
def test_a_damaged_keras_file_is_noticed(cell, namespace, tmp_path):
    pytest.importorskip("h5py", reason="no h5py, with which .keras files are read")
    case = case_of(cell, namespace, "keras")
    original = read_file(case.path)
    path, data = tmp_path / case.path.name, case.path.read_bytes()
    random = np.random.RandomState(2)
    refused = 0
    for trial in range(TRIALS):
        position = random.randint(4, len(data))
        if trial % 3:
            changed = data[:position] + bytes([data[position] ^ 1 << random.randint(8)]) + data[position + 1 :]
        else:
            changed = data[:position]
        path.write_bytes(changed)
        refused += right_or_refused(path, original, "byte %d of trial %d" % (position, trial), None)
    assert refused > TRIALS // 2


@pytest.mark.parametrize("cell,namespace", [("tf2.0", "tf.keras"), ("tf2.21", "keras")])
def test_a_damaged_h5_file_never_crashes(cell, namespace, tmp_path):
    """Keras writes H5 without checksums: a flipped bit inside a number can't be seen, everything else is."""
    pytest.importorskip("h5py", reason="no h5py, with which H5 files are read")
    case = case_of(cell, namespace, "h5")
    original = read_file(case.path)
    path, data = tmp_path / case.path.name, case.path.read_bytes()
    random = np.random.RandomState(3)
    for trial in range(TRIALS):
        position = random.randint(len(data))
        cut = trial % 3 == 0
        path.write_bytes(data[:position] if cut else data[:position] + bytes([data[position] ^ 1 << random.randint(8)]) + data[position + 1 :])
        try:
            record = read_file(path)
        except StateError:
            continue
        assert not cut or not record.diff(original)
        assert [key for key, _ in record.arrays()] == [key for key, _ in original.arrays()]
        for (key, array), (_, other) in zip(record.arrays(), original.arrays()):
            assert array.shape == other.shape, key


@pytest.mark.parametrize("cell,namespace", [("tf2.0", "tf.keras"), ("tf2.21", "keras")])
def test_a_flipped_byte_of_an_h5_file_that_was_written_here_is_noticed(cell, namespace, tmp_path):
    pytest.importorskip("h5py", reason="no h5py, with which H5 files are read")
    case = case_of(cell, namespace, "h5")
    record = read_file(case.path)
    path = tmp_path / "written.h5"
    write_file(record, path, template=case.path)
    assert not read_file(path).diff(record)
    data = path.read_bytes()
    arrays = [array for _, array in record.arrays() if np.ndim(array)]
    assert len(arrays) == len(case.slots())
    for array in arrays:
        assert data.count(array.tobytes()) == 1
        position = data.index(array.tobytes()) + array.nbytes // 2
        path.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        with pytest.raises(StateError, match="written.h5 can't be read"):
            read_file(path)


def test_swapped_datasets_of_an_h5_file_are_noticed_by_their_shape(tmp_path):
    h5py = pytest.importorskip("h5py", reason="no h5py, with which H5 files are read")
    case = case_of("tf2.0", "tf.keras", "h5")
    path = tmp_path / "swapped.h5"
    shutil.copy(str(case.path), str(path))
    with h5py.File(str(path), "r+") as file:
        group = file["optimizer_weights/Adam/scores"]
        group.move("kernel/m:0", "spare")
        group.move("bias/m:0", "kernel/m:0")
        group.move("spare", "bias/m:0")
    with pytest.raises(StateError, match="wrong shape"):
        read_file(path)


def test_checksums_are_those_of_the_standard():
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(b"\0" * 32) == 0x8A9136AA  # RFC 3720, B.4
    assert crc32c(b"\xff" * 32) == 0x62A8AB43


def bit_by_bit(data):
    """The checksum as the standard defines it: a division of polynomials."""
    register = 0xFFFFFFFF
    for byte in data:
        for bit in range(8):
            register = register >> 1 ^ (0x82F63B78 if (register ^ byte >> bit) & 1 else 0)
    return register ^ 0xFFFFFFFF


@pytest.mark.parametrize("size", [0, 1, 255, 1023, 1024, 1025, 5000, 16384, 16389])
def test_long_data_have_the_checksum_of_the_definition(size):
    data = np.random.RandomState(size).bytes(size)
    assert crc32c(data) == bit_by_bit(data) == crc32c(bytearray(data)) == crc32c(memoryview(data))
    assert crc32c(data[size // 3 :], crc32c(data[: size // 3])) == crc32c(data)


def test_the_longest_rows_agree_with_short_ones():
    data = np.random.RandomState(0).bytes((1 << 20) + 7)
    crc = 0
    for start in range(0, len(data), 1000):
        crc = crc32c(data[start : start + 1000], crc)
    assert crc32c(data) == crc
    assert crc32c(data[:-1] + bytes([data[-1] ^ 1])) != crc
