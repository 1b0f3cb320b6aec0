"""What versions of OptimizerV2 do differently, as dated records."""

import functools

from compat_opt.adapters.quirks import Quirk

CLIPPING_IN_FIT = Quirk(
    "2.0-2.3",
    "gradients are clipped in minimize() or fit() only, under a strategy not at all (2.2, 2.3: ValueError)",
    "OptimizerV2._clip_gradients, training._minimize",
    "_clip_gradients is the identity; the step clips after aggregation",
)

HYPERS_OF_WRAPPED = Quirk(
    "2.4-2.15, tf_keras",
    "LossScaleOptimizer reads the inner optimizer's hyperparameters through its _hyper dict",
    "LossScaleOptimizer.__getattribute__",
    "_hyper holds the names; _get_hyper and _set_hyper ask the compiled optimizer",
)

CLIPPING_OF_WRAPPED = Quirk(
    "2.0-2.1",
    "LossScaleOptimizer refuses an optimizer that has an attribute clipnorm or clipvalue, even if it is None",
    "LossScaleOptimizer.__init__ asks hasattr; OptimizerV2 has the attributes only where they were given",
    "they are missing there while they are None; the probe is a native optimizer",
)

EMA_AFTER_FIT = Quirk(
    "2.0-2.15, tf_keras",
    "fit does not call finalize_variable_values at its end, as it does for the two newer generations",
    "Model.fit asks isinstance(self.optimizer, optimizer.Optimizer), which is the Keras 2 class",
    "none: call it after fit; a second call changes nothing",
)

SCALED_LOSS_IN_FIT = Quirk(
    "2.0-2.1",
    "fit computes gradients without asking the optimizer, so that loss_scale_factor divides what nobody multiplied",
    "training_eager._process_single_batch; there is no Model.train_step yet",
    "none: loss_scale_factor is for custom loops there, with scale_loss()",
)

STATE_IN_KERAS_FILES = Quirk(
    "2.12-2.15, tf_keras",
    "a .keras file holds no state of an OptimizerV2",
    "saving_lib._is_keras_trackable asks isinstance(child, optimizer.Optimizer), the Keras 2 class",
    "none: the loaded optimizer has its config; its state comes from set_weights() or a checkpoint",
)

SLOTS_OF_CHECKPOINTS = Quirk(
    "2.0-2.2",
    "a checkpoint takes every object with _create_or_restore_slot_variable for an owner of slots",
    "training/tracking/graph_view.py, _serialize_slot_variables; from 2.3 on it asks dir()",
    "the attribute is missing: slots are dependencies of the optimizer, the same in all generations",
)


@functools.lru_cache(maxsize=None)
def missing_when_none(base):
    """Names of options that native optimizers of this version only have where they were given."""
    native = type("Native", (base,), {"get_config": dict})("native")
    return tuple(name for name in ("clipnorm", "clipvalue") if not hasattr(native, name))
