"""``optimizer/vars/0``, ``/1``, ... in an H5 file: how Keras 2.12 and newer, and Keras 3, store an optimizer."""

import re

from compat_opt import rules
from compat_opt.errors import StateError
from compat_opt.state.files import compiled, described, names, positions
from compat_opt.state.files.h5file import array_of, text_of

#: The group.
VARS = "optimizer/vars"


def read(file, hints, where, optimizer, generation):
    """The `RawState` of ``optimizer/vars`` in a file of Keras 2.12 or newer.

    Args:
        file: the h5py file.
        hints: the `Hints`.
        where: its name, for messages.
        optimizer: what config.json says about the optimizer, {} where there is none.
        generation: where known, else None: Keras 3 names its groups, Keras 2 does not.
    """
    group = file[VARS]
    if not len(group):
        raise StateError("%s holds no optimizer state: optimizer/vars is empty." % where)
    scale, wrapped = None, file.get("optimizer/inner_optimizer/vars")
    if wrapped is not None:
        scale, group = _loss_scale(group, wrapped, where), wrapped
    optimizer, _ = described.unwrapped(optimizer)
    arrays = [array_of(group, str(i), where) for i in range(len(group))]
    named = group.attrs.get("name")
    generation = generation or ("keras3" if named is not None else "keras2")
    config = dict(optimizer.get("config") or {}, **hints.config)
    shapes = _layer_shapes(file)
    called = text_of(named) if named is not None else ""
    rule_name = described.compiled_name(optimizer)
    if rule_name is None and not optimizer and not hints.class_name and called in rules.names():
        rule_name = called  # Keras 3 itself writes "adam"
    if rule_name is not None or hints.rule is not None:
        known = [v[1] for v in hints.variables] if hints.variables else shapes
        raw = compiled.from_order(generation, compiled.rule_class(hints, rule_name or ""), config, arrays, known, where)
    else:
        class_name = hints.class_name or optimizer.get("class_name")
        class_name = class_name or names.class_name(generation, called + "/", None, hints)
        raw = positions.raw_state(generation, class_name, config, arrays, hints, where, shapes)
    raw.loss_scale = scale
    if wrapped is None:  # a wrapper holds a second copy of everything
        raw.places = ["%s/%d" % (VARS, number) for number in range(len(arrays))]
    raw.provenance.update(file=where)
    return raw


def _loss_scale(outer, inner, where):
    """{"scale", "good_steps"} of Keras 3's LossScaleOptimizer; Keras 2's saves only what is inside.

    Keras 3's own are iteration, learning rate, count of steps, scale; those of the optimizer inside follow.
    """
    if len(outer) != len(inner) + 4:
        return None
    return {"scale": float(array_of(outer, "3", where)), "good_steps": int(array_of(outer, "2", where))}


def _layer_shapes(file):
    """Shapes of the weights of all layers, in the file's order."""
    shapes = []

    def visit(name, item):
        if re.match(r"(_?layers|_tracked).*/vars/\d+$", name) and hasattr(item, "shape"):
            shapes.append((name, tuple(item.shape)))

    file.visititems(visit)
    return [shape for _, shape in shapes]
