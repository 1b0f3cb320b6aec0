"""Optimizers of TensorFlow Addons around another one: they add a slot and a few numbers to what is inside.

The class of both together is written with brackets: "Addons>Lookahead(Adam)".
"""

import collections
import re

from compat_opt import transforms
from compat_opt.errors import StateError

#: `transform` makes the rule out of that of the optimizer inside, `slots` are as of `Native`, and `child` is what a
#: checkpoint calls the optimizer inside.
Wrapper = collections.namedtuple("Wrapper", "transform slots child")

WRAPPERS = {
    "Addons>Lookahead": Wrapper("lookahead", {"slow": "slow"}, "lh_base_optimizer"),
    "Addons>MovingAverage": Wrapper("moving_average", {"average": "running_mean"}, "awg_optimizer"),
    "Addons>SWA": Wrapper("swa", {"average": "snapshot_mean"}, "awg_optimizer"),
}


def around(outer, inner):
    """The `Native` of a wrapper.

    Args:
        outer: a name in `WRAPPERS`.
        inner: the `Native` of the class inside.
    """
    wrapper = WRAPPERS[outer]
    rule = getattr(transforms, wrapper.transform)(inner.rule_class())
    return inner.replaced(rule=rule, slots=dict(wrapper.slots, **inner.slots), order=[list(wrapper.slots)] + inner.order)


def name_of(outer, inner):
    """The name of both together.

    Raises:
        StateError: there is a wrapper inside a wrapper.
    """
    if inner in WRAPPERS or split(inner) is not None:
        raise StateError(
            "%s around %s can't be moved: the optimizer inside of two wrappers of TensorFlow Addons counts no "
            "steps, and what it does belongs to no rule." % (outer, inner),
            "one wrapper",
            remedy="Start the optimizer anew, compiled from the rule with both transforms.",
        )
    return "%s(%s)" % (outer, inner)


def split(name):
    """(name of the wrapper, name of the class inside), or None for any other name."""
    match = re.match(r"(.+?)\((.+)\)$", name)
    return match.groups() if match and match.group(1) in WRAPPERS else None


def described(class_name, config):
    """(name, config) of both together, from what get_config() says; as they are where it is no wrapper."""
    if class_name not in WRAPPERS:
        return class_name, dict(config)
    inner = config.get("optimizer") or {}
    own = {name: value for name, value in config.items() if name != "optimizer" and value is not None}
    inside = inner.get("registered_name") or inner.get("class_name") or "?"
    return name_of(class_name, inside), dict(inner.get("config") or {}, **own)
