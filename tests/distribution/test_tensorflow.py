"""Several devices, processes and parameter servers give what one process gives for the same global batches.

Adam with weight decay, clipnorm and a moving average; a table and a dense layer. The tolerance is
1e-6 after six steps: replicas' gradients are summed in another order than one process sums them.
"""

import pytest

np = pytest.importorskip("numpy")
tf = pytest.importorskip("tensorflow")

import compat_opt as co  # noqa: E402
from compat_opt.testing.compare import assert_close  # noqa: E402
from running import Result, run  # noqa: E402

pytestmark = pytest.mark.long

TOLERANCE = 1e-6


def for_target(target):
    return ["--target", str(target)]


@pytest.fixture(scope="module")
def one_process(tmp_path_factory):
    """A function: the `Result` of one process, made once for each set of arguments."""
    made = {}

    def result(target, *arguments):
        key = (str(target),) + arguments
        if key not in made:
            path = tmp_path_factory.mktemp("one") / "result.npz"
            run("one_process.py", path, *(for_target(target) + list(arguments)))
            made[key] = Result(path)
        return made[key]

    return result


@pytest.fixture
def default():
    target = co.default_target()
    if target.backend != "tensorflow":
        pytest.skip("no TensorFlow strategies: Keras runs on %s" % target.backend)
    return target


@pytest.fixture
def default_with_workers(default):
    if not hasattr(tf.distribute, "MultiWorkerMirroredStrategy"):
        # tensor_shape.cc:324 "Check failed: size >= 0", seen on 2.0.4: the process ends.
        pytest.skip("MultiWorkerMirroredStrategy is experimental here, and aborts when it gathers sparse gradients")
    return default


@pytest.fixture
def default_with_servers(default):
    coordinators = getattr(tf.distribute, "coordinator", None) or getattr(
        tf.distribute.experimental, "coordinator", None
    )
    if coordinators is None:
        pytest.skip("this TensorFlow has no ClusterCoordinator")
    return default


def launch(tmp_path, kind, target, *arguments):
    path = tmp_path / "result.npz"
    run("launch.py", kind, path, *(list(arguments) + for_target(target)))
    return Result(path)


def assert_equal(result, one):
    assert result.facts["iterations"] == one.facts["iterations"]
    for actual, expected in zip(result.weights + result.state, one.weights + one.state):
        assert_close(np.nan_to_num(actual), np.nan_to_num(expected), TOLERANCE, "after the last step", smallest=1.0)
    assert len(result.state) == len(one.state) and len(result.weights) == len(one.weights)
    result.assert_slots_beside_variables()


def test_clipping_acts(one_process, default):
    clipped, free = one_process(default), one_process(default, "--without-clipping")
    assert np.max(np.abs(clipped.flat_weights() - free.flat_weights())) > 1e-3


def test_mirrored(tmp_path, one_process, compat_opt_target):
    if compat_opt_target.backend != "tensorflow":
        pytest.skip("no TensorFlow strategies: Keras runs on %s" % compat_opt_target.backend)
    path = tmp_path / "result.npz"
    run("mirrored.py", path, *for_target(compat_opt_target))
    result = Result(path)
    assert result.facts["replicas"] == 2
    assert len(result.devices()) == 2
    assert_equal(result, one_process(compat_opt_target))


@pytest.mark.exhaustive  # with a worker killed, below, it is the same and more
def test_two_workers(tmp_path, one_process, default_with_workers):
    result = launch(tmp_path, "multi_worker", default_with_workers)
    assert result.facts["replicas"] == 2
    assert_equal(result, one_process(default_with_workers))


def test_a_killed_worker_continues_from_the_checkpoint(tmp_path, one_process, default_with_workers):
    result = launch(tmp_path, "multi_worker", default_with_workers, "--kill")
    assert result.facts["first"] == 3
    assert result.facts["replicas"] == 2
    assert_equal(result, one_process(default_with_workers))


@pytest.mark.exhaustive  # with workers killed, below, it is the same and more
def test_parameter_servers(tmp_path, one_process, default_with_servers):
    result = launch(tmp_path, "parameter_server", default_with_servers)
    assert len(result.devices()) == 2, "variables of both servers"
    assert_equal(result, one_process(default_with_servers))


def test_killed_workers_of_parameter_servers_come_back(tmp_path, one_process, default_with_servers):
    result = launch(tmp_path, "parameter_server", default_with_servers, "--kill")
    assert len(result.devices()) == 2, "variables of both servers"
    assert_equal(result, one_process(default_with_servers))


@pytest.mark.exhaustive
def test_parameter_servers_continue_from_the_checkpoint(tmp_path, one_process, default_with_servers):
    result = launch(tmp_path, "parameter_server", default_with_servers, "--restart")
    assert result.facts["first"] == 3
    assert_equal(result, one_process(default_with_servers))


def test_variables_in_pieces(tmp_path, one_process, default_with_servers):
    if co.default_target().generation == "keras3":
        pytest.skip("Keras 3 makes no variables in pieces")
    result = launch(tmp_path, "parameter_server", default_with_servers, "--shards", "2")
    one = one_process(default_with_servers, "--global-clipping")
    assert len(result.weights) > len(one.weights)
    assert_close(result.flat_weights(), one.flat_weights(), TOLERANCE, "weights end to end", smallest=1.0)
    result.assert_slots_beside_variables()


@pytest.mark.exhaustive
def test_each_step_of_workers_at_once_is_counted(tmp_path, default_with_servers):
    result = launch(tmp_path, "parameter_server", default_with_servers, "--at-once", "--steps", "40")
    assert result.facts["iterations"] == 40
    assert np.all(np.isfinite(result.flat_weights()))
