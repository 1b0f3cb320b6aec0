"""Files of models with a LossScaleOptimizer: the state inside is read, and Keras 3's own two numbers."""

import os
import zipfile

import numpy as np
import pytest
from actors import optimizers_of

from compat_opt.state import read_file
from compat_opt.testing.compare import assert_close
from on_target import on  # noqa: F401


@pytest.mark.parametrize("extension", [".h5", ".keras"])
def test_a_wrapped_optimizer_is_read(on, tmp_path, extension):
    if not on.has("mixed_precision.LossScaleOptimizer") or on.target.namespace == "tf.keras.experimental":
        pytest.skip("no LossScaleOptimizer that this Keras saves around these optimizers")
    pytest.importorskip("h5py")
    model = on.linear(name="scores")
    inner = optimizers_of(on.target).Adam(learning_rate=0.1)
    on.compile(model, on.keras.mixed_precision.LossScaleOptimizer(inner))
    on.fit(model, np.ones((4, 2), "float32"), np.zeros((4, 1), "float32"), epochs=2)
    path = os.path.join(str(tmp_path), "model" + extension)
    try:
        model.save(path)
    except AttributeError as error:
        if "_variables" not in str(error):
            raise
        pytest.skip("no variables in LossScaleOptimizerV3, which Model.save of this Keras asks for")
    if extension == ".keras" and (on.target.generation == "optimizer_v2" or not zipfile.is_zipfile(path)):
        pytest.skip("no state of OptimizerV2 in .keras files, which came with TensorFlow 2.12")
    record = read_file(path)
    assert record.algorithm == "Adam" and record.iterations == 2
    assert_close(record.hypers["learning_rate"], 0.1, 1e-6)
    assert [sorted(slots) for slots in record.slots.values()] == [["momentum", "velocity"]] * 2
    assert [v.shape for v in record.variables] == [(2, 1), (1,)]
    if on.is_keras3:
        assert record.loss_scale == {"scale": 2.0**15, "good_steps": 2}
