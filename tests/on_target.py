"""What the tests of reports and of integration need of a target: its Keras, variables, models, references."""

import importlib
import warnings

import numpy as np
import pytest

import compat_opt as co
from compat_opt.adapters import compile_rule
from compat_opt.adapters.reference import run_reference
from compat_opt.testing.compare import assert_close
from compat_opt.testing.harness import harness_for


class OnTarget:
    """One target and its framework.

    Attributes:
        target: the `Target`.
        keras: the Keras that owns the target's optimizers.
        tf: the tensorflow module, or None on other backends.
    """

    def __init__(self, target):
        self.target = target
        self.harness = harness_for(target)
        self.tf = getattr(self.harness, "tf", None)
        package = target.namespace.split(".")[0]
        self.keras = self.tf.keras if package == "tf" else importlib.import_module(package)

    @property
    def is_keras3(self):
        """Whether models are Keras 3's."""
        return self.target.namespace == "keras"

    def optimizer(self, rule, *args, **kwargs):
        """An optimizer compiled for the target."""
        return compile_rule(rule, self.target)(*args, **kwargs)

    def require(self, need):
        """Skip unless there are variables of this kind: "float64" or "complex"."""
        if need not in self.harness.offers:
            pytest.skip("no %s variables on the backend %s" % (need, self.target.backend))
        if need == "complex" and self.is_keras3:
            try:
                self.keras.backend.standardize_dtype("complex64")
            except ValueError:
                pytest.skip("no complex dtype in keras.backend.standardize_dtype of this Keras 3")

    # Variables and gradients

    def variable(self, value, dtype="float32", name="variable"):
        return self.harness.variable(np.asarray(value), dtype, name)

    def gradient(self, value, dtype="float32"):
        return self.harness.gradient(np.asarray(value), dtype)

    def rows(self, values, indices, shape, dtype="float32"):
        """A sparse gradient; skips where the backend has none."""
        if self.tf is None:
            pytest.skip("no sparse gradients: the %s backend has no tf.IndexedSlices" % self.target.backend)
        tf = self.tf
        return tf.IndexedSlices(tf.cast(tf.constant(values), dtype), tf.constant(indices), tf.constant(shape))

    def value(self, variable):
        return self.harness.numpy(variable)

    def step(self, optimizer, *pairs):
        """One eager step with (gradient, variable) pairs; arrays become tensors."""
        return optimizer.apply_gradients(
            [(self.gradient(g, v.dtype) if isinstance(g, (list, float, np.ndarray)) else g, v) for g, v in pairs]
        )

    def assert_value(self, variable, expected, tolerance=1e-6):
        assert_close(self.value(variable), np.asarray(expected), tolerance, "the variable")

    # Models

    def has(self, path):
        """Whether the target's Keras has this attribute, such as "optimizers.legacy"."""
        found = self.keras
        for name in path.split("."):
            found = getattr(found, name, None)
        return found is not None

    def linear(self, inputs=2, name=None):
        """A model with one Dense layer, from fixed weights."""
        layers = self.keras.layers
        given = self.keras.Input((inputs,))
        model = self.keras.Model(given, layers.Dense(1, name=name)(given))
        model.set_weights([np.linspace(-0.5, 0.5, inputs).reshape(inputs, 1).astype("float32"), np.ones(1, "float32")])
        return model

    def compile(self, model, optimizer, **kwargs):
        model.compile(optimizer=optimizer, loss=self.keras.losses.MeanSquaredError(), **kwargs)
        return model

    def fit(self, model, x, y, **kwargs):
        kwargs = dict(dict(epochs=1, batch_size=len(x), shuffle=False, verbose=0), **kwargs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(x, y, **kwargs)


def regression(rows=8, inputs=2, seed=0):
    """(x, y) of a linear problem with noise, float32."""
    random = np.random.RandomState(seed)
    x = random.normal(size=(rows, inputs)).astype("float32")
    return x, (x.sum(axis=1, keepdims=True) * 2 + 1 + 0.1 * random.normal(size=(rows, 1))).astype("float32")


def mse_gradients(weights, x, y):
    """Gradients of the mean squared error of a Dense(1) layer."""
    error = np.asarray(x, "float64") @ weights[0] + weights[1] - y
    return [2 * x.T.astype("float64") @ error / len(x), 2 * error.mean(axis=0)]


def reference_fit(rule, weights, batches, **hypers):
    """Weights of a Dense(1) layer after a step on each (x, y) batch, by the NumPy reference."""
    first = [np.asarray(w, "float64") for w in weights]
    now, gradients = first, []
    for x, y in batches:
        gradients.append(mse_gradients(now, x, y))
        now = run_reference(rule, first, gradients, **hypers)[-1]
    return now


def own_weights(model):
    """The values of a model's weights; TF 2.9 has those of an experimental optimizer in get_weights(), too."""
    return [np.array(value) for value in model.get_weights()[: len(model.trainable_variables)]]


def assert_weights(model, expected, tolerance=2e-5):
    for number, (actual, wanted) in enumerate(zip(model.get_weights(), expected)):
        assert_close(actual, wanted, tolerance, "weight %d" % number)


@pytest.fixture
def on(compat_opt_target):
    """`OnTarget` for each target of this environment."""
    return OnTarget(compat_opt_target)


def file_holds_state(path):
    """Whether a saved model, unless it is an H5 file of TensorFlow 2.9's or 2.10's Keras 2 optimizer, has its state."""
    if not path.endswith(".h5"):
        return True
    import h5py

    with h5py.File(path, "r") as file:
        return "optimizer_weights" in file


def other_targets(target):
    """Targets of this environment other than `target`."""
    return [other for other in co.targets() if other != target]
