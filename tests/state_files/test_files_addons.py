"""What TensorFlow Addons and keras-adamw wrote is read to what the live optimizer held; neither is needed."""

import shutil

import pytest
from addons import addons_cases

from compat_opt.errors import StateError
from compat_opt.state import natives, read_file
from compat_opt.state.files import Hints, by_slots, checkpoint
from compat_opt.state.files.writing import write_file
from compat_opt.testing.compare import assert_close


def read(case):
    if case.path.suffix == ".h5":
        pytest.importorskip("h5py", reason="no h5py, with which H5 files are read")
        return read_file(case.path)
    return read_file(case.path, class_name=case.class_name, config=case.config)


def case_of(version, name):
    return next(case for case in addons_cases() if (case.version, case.name) == (version, name))


@pytest.mark.parametrize("case", addons_cases(), ids=repr)
def test_holds_what_the_optimizer_held(case):
    record = read(case)
    assert record.algorithm == case.rule.__name__
    assert record.iterations == case.steps
    found = {(case.paths.index(path), slot): a for path, slots in record.slots.items() for slot, a in slots.items()}
    assert sorted(found) == sorted(case.slots)
    for key, array in case.slots.items():
        wanted = array / -0.05 if (case.name, key[1]) == ("NovoGrad", "momentum") else array  # a step there
        assert_close(found[key], wanted, 1e-6 if wanted is not array else 0, "%s of variable %d" % (key[1], key[0]))
    for name, value in case.config.items():
        if name != "weight_decay":  # Addons' is not multiplied by the learning rate
            assert_close(float(record.hypers[name]), float(value), 1e-7, name)


def test_an_h5_file_tells_what_is_inside_of_a_wrapper():
    pytest.importorskip("h5py", reason="no h5py, with which H5 files are read")
    record = read(next(case for case in addons_cases() if case.path.suffix == ".h5"))
    assert (record.hypers["sync_period"], record.hypers["sma_threshold"]) == (3, 5.0)


@pytest.mark.parametrize("case", [case for case in addons_cases() if case.path.suffix != ".h5"], ids=repr)
def test_a_class_that_the_file_does_not_tell_is_asked_for_and_never_another(case):
    try:
        record = read_file(case.path, config=case.config)
    except StateError as error:
        assert "of which class its optimizer is" in str(error)
        assert case.class_name.rstrip(")").split("(")[-1] in str(error).split("Received")[0]
    else:
        assert record.algorithm == case.rule.__name__


def test_the_class_inside_is_asked_for_and_the_wrapper_known():
    case = case_of("0.19.0", "Lookahead_RectifiedAdam")
    with pytest.raises(StateError, match="of which class its optimizer is. Expected: class_name= one of .*Addons>RectifiedAdam"):
        read_file(case.path)
    assert read_file(case.path, class_name="Addons>RectifiedAdam").algorithm == "LookaheadRectifiedAdam"
    # The slots of SWA and MovingAverage are called alike; their names begin with that of the wrapper.
    assert read_file(case_of("0.19.0", "SWA_SGD").path, class_name="SGD").algorithm == "SwaSGD"


def test_a_wrapper_with_another_name_is_asked_for(tmp_path):
    case = case_of("0.19.0", "SWA_SGD")
    for path in case.path.parent.glob("SWA_SGD.*"):
        shutil.copy(str(path), str(tmp_path / path.name))
    reader = checkpoint.Reader(str(tmp_path / "SWA_SGD"))
    (number,) = reader.found()
    for slot in reader.graph.nodes[number].slots:
        reader.graph.nodes[slot.slot].name = "mine/dense/kernel/average"
    with pytest.raises(StateError, match=r"which wrapper.*class_name= one of Addons>MovingAverage\(CLASS\), Addons>SWA\(CLASS\)"):
        by_slots.read(reader, number, Hints(class_name="SGD"))
    assert by_slots.read(reader, number, Hints(class_name="Addons>SWA(SGD)")).class_name == "Addons>SWA(SGD)"


def test_a_wrapper_in_a_wrapper_is_refused():
    with pytest.raises(StateError, match="counts no steps, and what it does belongs to no rule"):
        natives.find("optimizer_v2", "Addons>MovingAverage(Addons>Lookahead(Adam))")


def test_several_optimizers_in_one_are_refused():
    with pytest.raises(StateError, match="files hold none of them.*for each spec in optimizer.optimizer_specs"):
        natives.find("optimizer_v2", ["Addons>MultiOptimizer", "Optimizer"])


def test_a_count_of_steps_alone_is_no_optimizer():
    """As in the checkpoint of a MultiOptimizer; without slots it looked like an SGD."""
    reader = checkpoint.Reader(str(case_of("0.19.0", "SGDW").path))
    (number,) = reader.found()
    node = reader.graph.nodes[number]
    node.children, node.slots = {"iter": node.children["iter"]}, []
    with pytest.raises(StateError, match="holds a count of steps, and neither slots nor hyperparameters"):
        by_slots.read(reader, number, Hints())


@pytest.mark.parametrize("name", ["Lookahead_Nadam", "MovingAverage_Adam", "SWA_SGD", "NovoGrad", "COCOB"])
def test_goes_into_a_checkpoint_of_another_version(name, tmp_path):
    old, new = case_of("0.13.0", name), case_of("0.23.0", name)
    record = read(old)
    for path, slots in record.slots.items():
        for slot in slots:
            slots[slot] = slots[slot] + 1
    hints = Hints(class_name=new.class_name, config=new.config)
    report = write_file(record, tmp_path / "out", new.path, hints=hints)
    assert not report.of_kind("dropped") and not report.of_kind("defaulted"), str(report)
    found = read_file(tmp_path / "out", class_name=new.class_name, config=new.config)
    told = [str(d.text) for d in found.diff(record, 1e-6)]
    assert not told, told
