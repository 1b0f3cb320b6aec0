"""Rows without gradient stay."""

from compat_opt.transforms._transform import transform


@transform
def lazy_rows(rule):
    """Leave rows (along the first axis) whose gradient is all 0 alone, and their slots.

    where a row of grad is not all 0: var, slots = what the rule returns; elsewhere: no change

    Args:
        rule: an UpdateRule subclass. Slots of another shape than the variable's are not held.

    Differs from:
        TF: OptimizerV2 was lazy for IndexedSlices, differently for each optimizer, and never for
            dense gradients. Weight decay, which comes before the rule, acts on all rows.

    Source:
        TensorFlow Addons authors, "tfa.optimizers.LazyAdam", 2019,
        https://www.tensorflow.org/addons/api_docs/python/tfa/optimizers/LazyAdam
    """

    class LazyRows(rule):
        def update(self, grad, var, slots, hyper, ops):
            new_var, new_slots = super().update(grad, var, slots, hyper, ops)
            touched = grad != 0
            if grad.ndim > 1:
                touched = ops.any(touched, axis=tuple(range(1, grad.ndim)), keepdims=True)
            for name, value in new_slots.items():
                if slots[name].shape == var.shape:
                    new_slots[name] = ops.where(touched, value, slots[name])
            return ops.where(touched, new_var, var), new_slots

    return LazyRows
