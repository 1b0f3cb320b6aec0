"""Live optimizers, as `read` and `write` see them: a view for compiled ones and one for each generation's own."""


def view(optimizer, variables=None):
    """The view of an optimizer, compiled or native."""
    from compat_opt.adapters import generation_of

    if getattr(type(optimizer), "rule_class", None) is not None:
        from compat_opt.state.views.compiled import CompiledView as View
    elif generation_of(optimizer) == "optimizer_v2":
        from compat_opt.state.views.optimizer_v2 import OptimizerV2View as View
    elif generation_of(optimizer) == "keras2":
        from compat_opt.state.views.keras2 import Keras2View as View
    else:
        from compat_opt.state.views.keras3 import Keras3View as View
    return View(optimizer, variables)
