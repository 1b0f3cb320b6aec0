"""Files of records: exact, atomic, and an error for every kind of damage."""

import json
import os
import signal
import struct
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

from compat_opt import state
from compat_opt.errors import StateError
from compat_opt.state.storage import HEADER

#: For each line that it reads it forks a child that saves one state after the other, and prints its process id
#: once the child is at it.
SAVER = """
import os, sys
import numpy as np
from compat_opt import state
path, size = sys.argv[1], int(sys.argv[2])
for line in sys.stdin:
    receive, send = os.pipe()
    child = os.fork()
    if not child:
        number = int(line)
        while True:
            number += 1
            array = np.full(size, float(number))
            variables = [("w", (size,), "float64")]
            state.save(state.StateRecord("Adam", number, slots={"w": {"momentum": array}}, variables=variables), path)
            os.write(send, b".")
    os.read(receive, 1)
    print(child, flush=True)
    os.waitpid(child, 0)
    print("dead", flush=True)
"""


def record(number=3):
    random = np.random.RandomState(number)
    kernel, bias = random.normal(size=(4, 3)).astype("float32"), random.normal(size=3).astype("float32")
    return state.StateRecord(
        "Nadam",
        iterations=number,
        hypers={"learning_rate": {"class_name": "ExponentialDecay", "config": {"rate": 0.1}}, "beta_1": 1 / 3.0, "x": None},
        shared={"momentum_product": np.asarray(0.123456789)},
        slots={"d1/kernel": {"momentum": kernel, "velocity": kernel ** 2}, "d1/bias": {"momentum": bias, "velocity": bias ** 2}},
        averages={"d1/kernel": kernel + 1, "d1/bias": bias + 1},
        accumulators={"d1/kernel": kernel * 0},
        calls={"d1/kernel": 2},
        micro_step=2,
        variables=[("d1/kernel", (4, 3), "float32"), ("d1/bias", (3,), "float32")],
        options={"use_ema": True},
        loss_scale={"scale": 1024.0, "good_steps": 7},
        provenance={"tensorflow": "2.15.0"},
    )


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "adam.state")


def test_what_is_saved_is_loaded(path):
    saved = record()
    state.save(saved, path)
    loaded = state.load(path)
    assert loaded == saved and loaded.provenance == saved.provenance
    assert list(loaded.slots) == list(saved.slots) and loaded.variables == saved.variables
    for (key, one), (_, two) in zip(saved.arrays(), loaded.arrays()):
        assert one.dtype == two.dtype and one.tobytes() == two.tobytes(), key
    assert [name for name in os.listdir(os.path.dirname(path))] == ["adam.state"]


def test_the_arrays_are_plain_npy_files(path):
    state.save(record(), path)
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read(HEADER).decode())
        entry = [e for e in header["arrays"] if e["key"] == ["slots", "d1/bias", "velocity"]][0]
        with archive.open(entry["member"]) as member:
            array = np.load(member)
    assert np.array_equal(array, record().slots["d1/bias"]["velocity"])


def test_bfloat16_is_kept(path):
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="no bfloat16 in this NumPy: ml_dtypes is not installed")
    array = np.asarray([1.5, -2.0, 1e30], ml_dtypes.bfloat16)
    state.save(state.StateRecord("Lion", slots={"w": {"momentum": array}}), path)
    loaded = state.load(path).slots["w"]["momentum"]
    assert loaded.dtype == array.dtype and loaded.tobytes() == array.tobytes()


def test_what_is_no_number_is_refused_and_nothing_is_left_behind(path):
    state.save(record(1), path)
    bad = record(2)
    bad.slots["d1/bias"]["momentum"] = np.asarray([object()])
    with pytest.raises(StateError, match="slots/d1/bias/momentum holds objects"):
        state.save(bad, path)
    assert state.load(path) == record(1) and os.listdir(os.path.dirname(path)) == ["adam.state"]


def test_a_link_stays_a_link_and_a_mode_stays(path):
    state.save(record(1), path)
    os.chmod(path, 0o640)
    link = path + ".link"
    os.symlink(path, link)
    state.save(record(2), link)
    assert os.path.islink(link) and state.load(path) == record(2)
    assert os.stat(path).st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    "content, message",
    [(b"", "is no state file"), (b"\x89HDF\r\n", "is no state file"), (b"PK\x03\x04 and so on", "truncated or damaged")],
)
def test_a_foreign_file_is_named(path, content, message):
    with open(path, "wb") as file:
        file.write(content)
    with pytest.raises(StateError, match=message) as caught:
        state.load(path)
    assert path in str(caught.value)


def test_another_archive_is_named(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", "{}")
    with pytest.raises(StateError, match="is an archive, but no state file.*config.json"):
        state.load(path)


def test_a_later_version_is_refused(path):
    state.save(record(), path)
    rewrite(path, {HEADER: lambda text: text.replace(b'"version": 1', b'"version": 2')})
    with pytest.raises(StateError, match="version 1 or earlier. Received: compat_opt state, version 2"):
        state.load(path)


def rewrite(path, changes, names=None):
    """The same archive with changed members, all checksums of the archive right."""
    with zipfile.ZipFile(path) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members:
            archive.writestr((names or {}).get(name, name), changes.get(name, lambda c: c)(content))


def test_swapped_arrays_are_noticed(path):
    state.save(record(), path)
    one, two = "arrays/000001.npy", "arrays/000002.npy"
    rewrite(path, {}, {one: two, two: one})
    with pytest.raises(StateError, match=r"damaged in slots/d1/kernel/momentum \(arrays/000001.npy\), at offset \d+"):
        state.load(path)


def test_every_truncation_is_noticed(path):
    state.save(record(), path)
    whole = open(path, "rb").read()
    for length in list(range(0, len(whole), 97)) + [len(whole) - 1]:
        with open(path, "wb") as file:
            file.write(whole[:length])
        with pytest.raises(StateError) as caught:
            state.load(path)
        assert path in str(caught.value)


@pytest.mark.parametrize("count", [300, pytest.param(10000, marks=pytest.mark.long)])
def test_flipped_bits_are_noticed_or_harmless(path, count):
    saved = record()
    state.save(saved, path)
    whole = open(path, "rb").read()
    random = np.random.RandomState(count)
    noticed = 0
    for _ in range(count):
        damaged = bytearray(whole)
        place = random.randint(len(whole))
        damaged[place] ^= 1 << random.randint(8)
        with open(path, "wb") as file:
            file.write(bytes(damaged))
        try:
            loaded = state.load(path)
        except StateError as error:
            noticed += 1
            assert path in str(error)
        else:
            assert loaded == saved, "a flipped bit at %d gave another state" % place
    assert noticed > count // 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no os.fork on this system")
@pytest.mark.parametrize("kills", [20, pytest.param(200, marks=pytest.mark.long)])
def test_a_killed_save_leaves_the_old_file_or_the_new(path, kills):
    size = 20000
    random = np.random.RandomState(kills)
    pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    saver = subprocess.Popen([sys.executable, "-c", SAVER, path, str(size)], **pipes)
    number = 0
    for _ in range(kills):
        saver.stdin.write(b"%d\n" % number)
        saver.stdin.flush()
        child = int(saver.stdout.readline())
        time.sleep(0.02 * random.random_sample())
        os.kill(child, signal.SIGKILL)
        assert saver.stdout.readline() == b"dead\n"
        loaded = state.load(path)
        assert loaded.iterations > number, "a save that had returned is lost"
        number = loaded.iterations
        assert np.array_equal(loaded.slots["w"]["momentum"], np.full(size, float(number)))
    saver.stdin.close()
    assert saver.wait() == 0
    halves = [name for name in os.listdir(os.path.dirname(path)) if name.endswith(".tmp")]
    assert halves, "no process was killed while it was saving"


def test_the_offset_of_the_damage_is_named(path):
    state.save(record(), path)
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("arrays/000003.npy")
    with open(path, "r+b") as file:
        file.seek(info.header_offset + 26)
        name, extra = struct.unpack("<HH", file.read(4))
        file.seek(info.header_offset + 30 + name + extra + 130)
        file.write(b"\xff\xff")
    with pytest.raises(StateError, match=r"arrays/000003.npy\), at offset %d" % info.header_offset):
        state.load(path)
