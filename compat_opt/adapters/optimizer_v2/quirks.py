"""What versions of OptimizerV2 do differently, as dated records."""

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
