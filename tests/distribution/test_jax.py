"""Keras 3 on JAX: four devices give what one gives, and slots are laid out as their variables."""

import json

import pytest

co = pytest.importorskip("compat_opt")
from running import run  # noqa: E402

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def found():
    if not any(target.backend == "jax" for target in co.targets()):
        pytest.skip("Keras does not run on JAX here")
    flags = "--xla_force_host_platform_device_count=4"
    output = run("jax_parallel.py", KERAS_BACKEND="jax", XLA_FLAGS=flags, JAX_PLATFORMS="cpu")
    return json.loads(output[output.index("{") :])


@pytest.mark.parametrize("kind", ["data_parallel", "model_parallel"])
def test_four_devices_equal_one(found, kind):
    assert found["devices"] == 4
    assert found[kind]["iterations"] == 6
    assert found[kind]["weights differ by"] < 1e-6
    assert found[kind]["state differs by"] < 1e-6


@pytest.mark.parametrize("kind", ["data_parallel", "model_parallel"])
def test_slots_have_their_variables_layout(found, kind):
    count, of = found[kind]["slots laid out as their variables"].split(" of ")
    assert count == of and int(of) > 0


def test_model_parallel_cuts_slots(found):
    assert found["model_parallel"]["variables with slots in parts"] == ["table/embeddings", "wide/kernel"]
