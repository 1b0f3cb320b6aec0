"""What a Keras file says about its optimizer: the class and the arguments, out of a wrapper where there is one."""

from compat_opt.state.files.compiled import PACKAGE

#: Keys under which a LossScaleOptimizer's config has the optimizer inside.
_INNER = ("inner_optimizer", "optimizer")


def unwrapped(described):
    """({"class_name", "config", "module", "registered_name"} of the optimizer itself, whether it was wrapped)."""
    if "LossScaleOptimizer" in str(described.get("class_name")):
        config = described.get("config") or {}
        for key in _INNER:
            if isinstance(config.get(key), dict):
                return unwrapped(config[key])[0], True
    return described, False


def compiled_name(described):
    """The name of the rule of an optimizer that was compiled from one, or None."""
    for key in ("registered_name", "class_name"):
        name = described.get(key) or ""
        if name.startswith(PACKAGE):
            return name[len(PACKAGE) :].split("@")[0]  # the target follows, where there are several
    return None


def set_config(optimizer, hypers):
    """Set numbers in the config of what a file says about its optimizer; `optimizer` is changed."""
    inner, _ = unwrapped(optimizer)
    inner.setdefault("config", {}).update(hypers)
