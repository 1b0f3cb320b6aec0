"""Every file that a real TensorFlow wrote is read to what the live optimizer held; no TensorFlow is needed."""

import importlib.util

import pytest
from written import ACCUMULATORS, AVERAGES, cases

from compat_opt.errors import StateError
from compat_opt.state import files, read_file
from compat_opt.state.files import names
from compat_opt.testing.compare import assert_close

#: Files without the state, and state that no rule can go on with: (a function of the case, the error).
REFUSED = [
    (lambda c: c.format == "keras" and c.generation == "optimizer_v2", "holds no optimizer state"),
    (lambda c: c.format == "h5" and c.namespace.endswith("experimental"), "holds no optimizer state"),
    (lambda c: c.name == "RMSprop_centered" and c.namespace.endswith("experimental"), "averages squared gradients"),
    (lambda c: c.name == "shards" and c.cell == "tf2.4", "and no slots"),
    # Keras treats an embedding by its layer's name, the rule by its shape.
    (lambda c: c.name == "Muon", "otherwise than its shape says"),
]
#: What a file does not tell, by case: it is asked for.
ASKED = {
    "Adam_accumulating": {"config": {"gradient_accumulation_steps": 2}},
    "SGD": {"config": {"momentum": 0.0}},  # Keras 2 has the slot all the same
    "shards": {"class_name": "Adam"},  # tf_keras calls its slots "ShardedVariable"
}


def needs_h5py(case):
    return case.format in ("h5", "keras", "weights.h5") or (case.format == "backup" and case.generation == "keras3")


def refusal(case):
    return next((message for applies, message in REFUSED if applies(case)), None)


READ = [case for case in cases() if refusal(case) is None]


def read(case):
    if needs_h5py(case) and importlib.util.find_spec("h5py") is None:
        pytest.skip("no h5py, with which H5 and .keras files are read")
    return read_file(case.path, optimizer=case.optimizer, **ASKED.get(case.name, {}))


@pytest.mark.parametrize("case", READ, ids=repr)
def test_holds_what_the_optimizer_held(case):
    record = read(case)
    assert record.algorithm == case.algorithm
    paths = paths_of(record, case)
    expected = case.slots()
    found = {(paths.index(path), name): a for path, slots in record.slots.items() for name, a in slots.items()}
    assert sorted(found) == sorted(expected)
    for key, array in expected.items():
        assert_close(found[key], array, 0, "%s of variable %d" % (key[1], key[0]))
    for part, called in ((record.averages, AVERAGES), (record.accumulators, ACCUMULATORS)):
        wanted = case.of(called)
        assert sorted(paths.index(path) for path in part) == sorted(wanted)
        for path, array in part.items():
            assert_close(array, wanted[paths.index(path)], 0, path)


def paths_of(record, case):
    """Paths in the record in the order of the case's variables."""
    by_name = [path for path, _ in case.variables]
    numbered = ["variable_%d" % number for number in range(len(by_name))]
    own = [variable.path for variable in record.variables]
    assert not own or sorted(own) in (sorted(by_name), sorted(numbered)), own
    return numbered if sorted(own) == sorted(numbered) else by_name


@pytest.mark.parametrize("case", READ, ids=repr)
def test_counts_finished_updates(case):
    record = read(case)
    calls = case.iterations
    if case.name in ("Adam_accumulating", "compiled_Adam_ema"):
        assert (record.iterations, record.micro_step) == (1, 1)  # 3 calls, 2 to an update
    else:
        assert (record.iterations, record.micro_step) == (calls, 0)
    if "schedule" not in case.name and case.arguments and case.format != "weights.h5":
        assert_close(record.hypers["learning_rate"], case.arguments["learning_rate"], 1e-7)


@pytest.mark.parametrize("case", [case for case in cases() if refusal(case) is not None], ids=repr)
def test_refuses_what_is_not_there(case):
    with pytest.raises(StateError, match=refusal(case)):
        read(case)


def test_every_format_is_there():
    written = {case.format for case in cases()}
    assert written == {"checkpoint", "weights", "savedmodel", "h5", "keras", "weights.h5", "backup"}
    assert set(files.formats()) == {"backup", "checkpoint", "h5", "keras", "record"}


@pytest.mark.parametrize("cell", ["tf2.10/tf.keras", "tf2.15/tf.keras", "tf2.21/keras"])
def test_the_loss_scale_is_read(cell):
    case = next(c for c in cases() if "%s/%s" % (c.cell, c.namespace) == cell and c.name == "Adam_scaled")
    assert read(case).loss_scale == {"scale": 2.0**15, "good_steps": 3}


def test_several_optimizers_are_told_apart():
    case = next(case for case in cases() if case.name == "two_generator")
    with pytest.raises(StateError, match="has 2 optimizers.*generator_optimizer"):
        read_file(case.path)
    with pytest.raises(StateError, match="no such optimizer.*Did you mean 'generator_optimizer'"):
        read_file(case.path, optimizer="generator_optimiser")


def test_slots_that_are_not_in_the_file_are_no_other_class():
    """TensorFlow 2.4 saves no slots of sharded variables; what is left of Adam looks like an SGD, but for beta_1."""
    case = next(c for c in cases() if c.name == "shards" and c.cell == "tf2.4")
    with pytest.raises(StateError, match="holds the count of steps of Adam, and no slots"):
        read_file(case.path)


def test_an_unnamed_class_is_asked_for():
    written = {"_momentums": "mine/words_momentum", "_velocities": "mine/words_velocity"}
    with pytest.raises(StateError, match="of which class.*RMSprop.*Adam.*Lamb"):
        names.class_name("keras3", "mine/words_momentum", written, files.Hints())
    assert names.class_name("keras3", "mine/words_momentum", written, files.Hints(class_name="Lamb")) == "Lamb"


@pytest.mark.parametrize("hint", [{"config": [1]}, {"variables": ["dense/kernel"]}, {"variables": [("dense/kernel", "4x3")]}])
def test_a_hint_of_another_kind_is_refused(hint):
    with pytest.raises(StateError, match="%s (is|are)" % next(iter(hint))):
        read_file(cases()[0].path, **hint)
