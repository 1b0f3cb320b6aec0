"""The weights to evaluate with, where they are not the trained ones: averages, Schedule-Free's x.

`Evaluation` is the part of a compiled optimizer that exchanges them.
"""

import contextlib
import importlib

from compat_opt.adapters import sections
from compat_opt.adapters.namespace import Namespace
from compat_opt.errors import UnsupportedError
from compat_opt.ops import Ops, Value, dtypes


class Evaluation:
    """What a compiled optimizer offers for evaluation."""

    def evaluation_values(self):
        """{position among the optimizer's variables: value to evaluate with}, as NumPy arrays.

        With use_ema it is the moving average, else what the rule's `evaluate` computes; variables for which
        that is the trained value are left out.
        """
        core, executor = self._core, self.engine.EXECUTOR
        layout, found = core.layout, {}
        if core.options.use_ema:
            return {index: _copied(layout.to_numpy(slots["average"])) for index, slots in enumerate(core.slots)}
        numbers = None
        for index, variable in enumerate(core.variables):
            rule = core.section_of(index).rule
            if not rule.overrides("evaluate"):
                continue
            if numbers is None:
                numbers = _numbers_of_last_step(core)
            storage = layout.dtype(variable)
            ops = Ops(executor, dtypes.compute_dtype(storage))
            hyper = Namespace(type(rule).__name__, "hyper", {"step": ops.scalar(layout.read_scalar(core.iterations))})
            for name, declared in rule.hypers().items():
                number = getattr(rule, name) if declared.static else numbers[core.homes[index]][name]
                hyper.add(name, number if declared.static or number is None else ops.scalar(number))
            slots = {n: Value(layout.read(s), ops) for n, s in core.slots[index].items() if n in rule.slots()}
            value = ops.astype(Value(layout.read(variable), ops), ops.compute_dtype)
            value = rule.for_step().evaluate(value, Namespace(type(rule).__name__, "slots", slots), hyper, ops)
            found[index] = _copied(ops.unwrap(value, storage))
        return found

    def use_evaluation_weights(self):
        """Give the model the weights to evaluate with; the trained ones are kept aside.

        Until `use_training_weights` a step is refused. Without averages nothing changes.
        """
        core = self._core
        if core.trained is not None:
            return
        values = self.evaluation_values()
        core.trained = {index: _copied(core.layout.to_numpy(core.variables[index])) for index in values}
        for index, value in values.items():
            core.layout.restore(core.variables[index], value)

    def use_training_weights(self):
        """Give the model its trained weights back."""
        core = self._core
        kept, core.trained = core.trained, None
        for index, value in (kept or {}).items():
            core.layout.restore(core.variables[index], value)

    @contextlib.contextmanager
    def evaluation_weights(self):
        """``with optimizer.evaluation_weights(): model.evaluate(...)``; also on an error the trained ones return."""
        already = self._core.trained is not None
        self.use_evaluation_weights()
        try:
            yield self
        finally:
            if not already:
                self.use_training_weights()

    def evaluation_callback(self, finalize=False):
        """A callback for ``Model.fit`` and ``Model.evaluate`` that evaluates with the weights for that.

        Args:
            finalize: whether the model keeps them when training ends. (fit of TensorFlow 2.0 to 2.10 does
                not finalize moving averages; Keras since then does, with use_ema.)
        """
        return _callback_class(type(self).target)(self, finalize)


def refuse_step(core):
    """Refuse a step on weights for evaluation.

    Raises:
        UnsupportedError: the model has weights for evaluation now.
    """
    if core.trained is not None:
        raise UnsupportedError(
            "The model has its weights for evaluation; a step would train those.",
            "use_training_weights() before the next step",
            environment=core.layout.describe(),
        )


def _copied(tensor):
    """A NumPy array of its own: JAX gives away the buffers of variables, and a slot must not share them."""
    import numpy as np

    return np.array(tensor.detach().cpu() if hasattr(tensor, "detach") else tensor)


def _numbers_of_last_step(core):
    """The hyperparameters of each section as at the last step."""
    done = core.layout.read_scalar(core.iterations)
    first = not core.layout.to_float(core.iterations)
    return sections.evaluate(core.sections, done if first else done - 1)


def _callback_class(target):
    package = target.namespace.split(".")[0]
    keras = importlib.import_module("tensorflow").keras if package == "tf" else importlib.import_module(package)

    class EvaluationWeights(keras.callbacks.Callback):
        """Evaluates and validates with the optimizer's weights for evaluation."""

        def __init__(self, optimizer, finalize):
            super().__init__()
            self.optimizer = optimizer
            self.finalize = finalize

        def on_test_begin(self, logs=None):
            self.optimizer.use_evaluation_weights()

        def on_test_end(self, logs=None):
            self.optimizer.use_training_weights()

        on_predict_begin, on_predict_end = on_test_begin, on_test_end

        def on_train_end(self, logs=None):
            if self.finalize:
                self.optimizer.use_evaluation_weights()
                self.optimizer._core.trained = None

    return EvaluationWeights
