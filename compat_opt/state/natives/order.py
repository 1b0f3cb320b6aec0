"""In which order a native optimizer's state stands in its lists of variables, H5 and .keras files."""

from compat_opt.state import natives
from compat_opt.state.raw import RawEntry, RawState


def skeleton(generation, class_name, config, variables, dialect=""):
    """A `RawState` with all entries in the order of the optimizer's own list, and no values.

    Args:
        generation, dialect: as for `natives.find`.
        class_name: of the native class.
        config: its get_config().
        variables: [(path, shape, dtype name)] of the model's trainable variables, in order.

    Returns:
        A `RawState`; `variable` of its entries is the position in `variables`, `index` that in
        the list (iteration first; the learning rate only where the generation counts it, as a
        number).
    """
    native = natives.find(generation, class_name, dialect)
    entries = []

    def add(role, variable, name):
        entries.append(RawEntry(role, variable, name, len(entries), None))

    add("iteration", None, "iter" if generation == "optimizer_v2" else "iteration")
    if generation == "keras3" and not isinstance(config.get("learning_rate"), dict):
        add("hyper", None, "learning_rate")
    if generation == "optimizer_v2":
        for name in native.shared:
            add("shared", None, name)
    positions = range(len(variables))
    if config.get("use_ema"):
        for position in positions:
            add("average", position, "average")
    if generation == "keras3" and config.get("gradient_accumulation_steps"):
        for position in positions:
            add("accumulator", position, "gradient_accumulator")
    slots = [
        [name for name, own in native.slots_for(config, tuple(v[1])) if own or name not in native.unlisted]
        for v in variables
    ]
    for group in native.order:
        for position in positions:
            for name in group:
                if name in slots[position]:
                    add("slot", position, name)
    if generation == "keras3":
        for name in native.shared:
            add("shared", None, name)
    return RawState(
        generation, class_name, config, entries, variables=variables, dialect=dialect
    )
