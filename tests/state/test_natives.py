"""The tables of native classes against the classes themselves, as this environment has them."""

import pytest
from actors import actors, gradients

from compat_opt.state import live, natives
from compat_opt.state.natives.order import skeleton

#: Hyperparameters with which a class makes all of its slots.
FULL = {
    "Adam": dict(amsgrad=True),
    "AdamW": dict(amsgrad=True),
    "SGD": dict(momentum=0.9),
    "RMSprop": dict(momentum=0.9, centered=True),
    "LAMB": {},
}
NAMES = ["Adam", "SGD", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam", "Ftrl", "AdamW", "Adafactor", "Lion", "LAMB", "Muon"]


def listed(optimizer):
    """The optimizer's own list of variables, or None where it is sorted by attribute (tf.Module, TF 2.9)."""
    found = optimizer.weights if hasattr(optimizer, "_slots") else optimizer.variables
    if isinstance(found, tuple):
        return None
    return list(found() if callable(found) else found)


@pytest.mark.parametrize("name", NAMES)
def test_state_stands_in_the_order_that_the_table_says(name):
    for actor in actors(name):
        if not actor.native:
            continue
        optimizer, variables = actor.make(**FULL.get(name, {})), actor.variables()
        actor.run(optimizer, variables, gradients(1))
        own = listed(optimizer)
        if own is None:
            continue
        view = live.view(optimizer, variables)
        raw = view.raw()
        places = {(e.role, e.variable, e.name): place for e, place in zip(raw.entries, view.places)}
        frame = skeleton(raw.generation, raw.class_name, raw.config, raw.variables, raw.dialect)
        entries = [e for e in frame.entries if raw.dialect != "experimental" or e.role != "iteration"]
        assert len(entries) == len(own), "%s: %s" % (actor, [(e.role, e.name, e.variable) for e in entries])
        for entry, variable in zip(entries, own):
            place = places.get((entry.role, entry.variable, entry.name))
            if place is not None:
                assert place is variable, "%s: %s stands where %s is" % (actor, variable.name, entry[:3])
            elif entry.role == "slot":  # what no rule has: a placeholder
                native = natives.find(raw.generation, raw.class_name, raw.dialect)
                assert entry.name in native.placeholders
            else:
                assert entry.name == "learning_rate" and "learning_rate" in variable.name


def test_every_shipped_class_is_in_a_table():
    """Whatever the optimizers module of a target offers can be read."""
    import inspect

    from actors import optimizers_of

    import compat_opt as co

    wrappers = ("Optimizer", "LossScaleOptimizer", "MultiOptimizer", "OptimizerMap")
    for target in co.targets():
        module = optimizers_of(target)
        offered = [n for n in dir(module) if inspect.isclass(getattr(module, n)) and co.generation_of(getattr(module, n))]
        known = natives.classes(target.generation)
        missing = [n for n in offered if n not in known and n not in wrappers]
        assert not missing, "%s: %s" % (target, missing)
        assert {"Adam", "SGD", "RMSprop"} <= set(offered)


@pytest.mark.parametrize("generation", sorted(natives.TABLES))
def test_tables_name_slots_that_the_rules_declare(generation):
    for dialect in ("", "experimental"):
        for name, native in natives.classes(generation, dialect).items():
            rule = native.rule_class()
            unread = {own for slot, own in native.slots.items() if own is None and slot in native.placeholders}
            assert set(native.slots.values()) - unread <= set(rule.slots()), name
            assert set(native.shared.values()) <= set(rule.shared()), name
            assert sorted(slot for group in native.order for slot in group) == sorted(native.slots), name
            assert set(native.attributes.values()) <= set(native.slots), name
            assert set(native.implied({})) <= set(rule.hypers()), name
            covered = set(native.slots.values()) | {n for n, s in rule.slots().items() if n not in native.rule_for({}).slots_for((2, 2))}
            assert set(rule.slots()) <= covered, name
            missing = set(rule.shared()) - set(native.shared.values()) - set(native.recomputed)
            assert not missing, "%s keeps no %s and no formula gives it" % (name, missing)
