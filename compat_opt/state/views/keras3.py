"""Native optimizers of Keras 3, as `read` and `write` see them."""

import contextlib

from compat_opt.errors import StateError
from compat_opt.state.views.by_attribute import ByAttribute
from compat_opt.state.views.native import scope_of


class Keras3View(ByAttribute):
    """keras.Variables; the optimizer knows its model's variables."""

    generation = "keras3"

    def _provenance(self):
        import keras

        return dict(super()._provenance(), backend=keras.backend.backend())

    def _is_built(self):
        return bool(self.optimizer.built)

    def _variables(self):
        known = list(self.optimizer._trainable_variables) if self.built else []
        if self.built and self.given:
            unmet = [v for v in self.given if not any(v is k or getattr(v, "value", None) is k for k in known)]
            if unmet:
                raise StateError(
                    "The optimizer was built without %s." % self._named(unmet[0])[0],
                    "the variables that it was built with",
                    remedy="An optimizer of this generation can't meet new ones: make a new one.",
                    environment=self.describe(),
                )
        self._positions = list(range(len(known)))
        self.given = known or self.given
        return [self._named(v) for v in self.given]

    def build(self, variables):
        """Make the variables."""
        import keras

        with scope_of(variables) if keras.backend.backend() == "tensorflow" else contextlib.nullcontext():
            self.optimizer.build(list(variables))

    def _array(self, variable):
        import keras

        return keras.ops.convert_to_numpy(variable).copy()

    def assign(self, place, array):
        """Write one array."""
        import keras

        place.assign(keras.ops.convert_to_tensor(array, place.dtype))

    def _entries(self):
        optimizer = self.optimizer
        entries = [("iteration", None, "iteration", optimizer._iterations, None)]
        if hasattr(optimizer._learning_rate, "assign"):
            entries.append(("hyper", None, "learning_rate", optimizer._learning_rate, None))
        for name in self.native.shared:
            if getattr(optimizer, name, None) is not None:
                entries.append(("shared", None, name, getattr(optimizer, name), None))
        entries.extend(self._listed("_model_variables_moving_average", "average", "average"))
        entries.extend(self._listed("_accumulated_gradients", "accumulator", "gradient_accumulator"))
        entries.extend(self._slots(self._positions))
        self._check_covered(entries)
        return entries
