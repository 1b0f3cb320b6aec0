"""A record has the model's variables in the model's order, also where a file has another one."""

import importlib

import pytest

import compat_opt as co
from compat_opt.state import read, read_file, write
from compat_opt.state.files.graph import Graph, Node
from compat_opt.testing.compare import assert_close


def test_the_order_is_that_of_the_model_and_not_of_the_distance_from_the_root():
    """The root has a model; that a weight of its own, a layer 2 with a weight and the layers 3 and 4, and a layer 5."""
    graph = Graph()
    graph.nodes = [Node({"model": 1}), Node({"scale": 8, "layer-0": 2, "layer-1": 5}), Node({"a": 3, "own": 10, "b": 4})]
    graph.nodes += [Node({"kernel": 6}), Node({"kernel": 7}), Node({"kernel": 9})]
    graph.nodes += [Node(key=str(number)) for number in range(6, 11)]
    assert graph.in_model_order({6, 7, 8, 9, 10}) == [10, 6, 7, 9, 8]
    graph.nodes[4].children["up"] = 1  # a circle
    assert graph.in_model_order({6, 7, 8, 9, 10}) == [10, 6, 7, 9, 8]


def target_of_v2():
    found = [t for t in co.targets() if t.generation == "optimizer_v2"]
    if not found:
        pytest.skip("no OptimizerV2 here")
    return found[0]


def trained(scaled):
    """A model in a model, all of one shape, and its optimizer after two steps."""
    from actors import optimizers_of

    target = target_of_v2()
    import numpy as np
    import tensorflow as tf

    keras = tf.keras if target.namespace.startswith("tf.keras") else importlib.import_module("tf_keras")
    entry = keras.Input((3,))
    inner = keras.Sequential([keras.layers.Dense(3, input_shape=(3,)), keras.layers.Dense(3)], name="encoder")
    model = keras.Model(entry, keras.layers.Dense(3, name="last")(inner(entry)))
    optimizer = optimizers_of(target).Adam(0.1)
    if scaled and not hasattr(keras.mixed_precision, "LossScaleOptimizer"):
        pytest.skip("no keras.mixed_precision.LossScaleOptimizer here")
    model.compile(keras.mixed_precision.LossScaleOptimizer(optimizer) if scaled else optimizer, "mse")
    random = np.random.RandomState(0)
    model.fit(random.normal(size=(8, 3)), random.normal(size=(8, 3)), batch_size=4, verbose=0)
    return model, optimizer


@pytest.mark.parametrize("scaled", [False, True], ids=["plain", "scaled"])
@pytest.mark.parametrize("format", ["checkpoint", "h5"])
def test_variables_of_optimizer_v2_stand_in_the_order_of_the_model(format, scaled, tmp_path):
    if format == "h5":
        pytest.importorskip("h5py")
    model, optimizer = trained(scaled)
    path = str(tmp_path / ("model.h5" if format == "h5" else "weights"))
    model.save(path) if format == "h5" else model.save_weights(path)
    record = read_file(path)
    variables = model.trainable_variables
    assert [v.path for v in record.variables] == [v.name.split(":")[0] for v in variables]
    assert list(record.slots) == [v.path for v in record.variables]
    assert all(v.shape == tuple(w.shape) for v, w in zip(record.variables, variables))
    import tensorflow as tf

    copies = [tf.Variable(v, name="copy_%s" % number) for number, v in enumerate(variables)]  # no name is the same
    other = type(optimizer)(0.1)
    write(other, record, copies)
    for copy, slots in zip(variables, read(other, copies).slots.values()):
        assert_close(slots["momentum"], optimizer.get_slot(copy, "m").numpy(), 0, copy.name)


def test_a_model_of_ones_own_has_its_layers_in_the_order_of_keras(tmp_path):
    from actors import optimizers_of

    target = target_of_v2()
    import tensorflow as tf

    keras = tf.keras if target.namespace.startswith("tf.keras") else importlib.import_module("tf_keras")

    class Block(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.parts = [keras.layers.Dense(3), keras.layers.Dense(3)]

        def build(self, shape):
            self.scale = self.add_weight(name="scale", shape=(3,), initializer="ones")
            super().build(shape)

        def call(self, x):
            return self.parts[1](self.parts[0](x)) * self.scale

    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.last, self.blocks, self.first = keras.layers.Dense(3), [Block(), Block()], keras.layers.Dense(3)
            self.factor = tf.Variable([1.0, 2.0, 3.0])

        def call(self, x):
            return self.last(self.blocks[1](self.blocks[0](self.first(x)))) * self.factor

    model, optimizer = Net(), optimizers_of(target).Adam(0.1)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(tf.constant([[1.0, 2.0, -1.0]])) - 1) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    path = tf.train.Checkpoint(net=model, optimizer=optimizer).write(str(tmp_path / "checkpoint"))
    found = [v.path for v in read_file(path).variables]
    assert found == [v.name.split(":")[0] for v in model.trainable_variables]
