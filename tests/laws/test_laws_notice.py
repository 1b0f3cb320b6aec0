"""Each law is shown to fail: a compiled class with one typical fault breaks it, and without the fault keeps it."""

import textwrap

import numpy as np
import pytest

import compat_opt as co
from compat_opt.adapters import slots as slot_plans
from compat_opt.testing.laws import LAWS, LawBroken, run_law
from compat_opt.testing.subject import Subject

pytest_plugins = ["pytester"]
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not co.targets(), reason="no framework is installed here, so there is no target"),
]

CALLS = []


def make_rule(impure=False):
    """A rule with momentum; a new class each time, so that its compiled class can be spoiled."""

    class Heavy(co.UpdateRule):
        capabilities = ("complex",)
        learning_rate = co.Hyper(0.05)
        beta = co.Hyper(0.9)
        mean = co.Slot()

        def update(self, grad, var, slots, hyper, ops):
            if impure:
                CALLS.append(1)
            mean = hyper.beta * slots.mean + (1.0 + len(CALLS)) * grad
            return var - hyper.learning_rate * mean, {"mean": mean}

    Heavy.__qualname__ = "Heavy"
    globals()["Heavy"] = Heavy  # where pickle looks for it
    return Heavy


def spoil_gradients(change):
    """A fault in apply_gradients, also where Keras 3 calls apply: `change(self, gradient, variable)`."""

    def spoil(cls, monkeypatch):
        apply_gradients, apply = cls.apply_gradients, getattr(cls, "apply", None)

        def wrong(self, grads_and_vars, *args, **kwargs):
            pairs = [(change(self, g, v), v) for g, v in grads_and_vars]
            return apply_gradients(self, pairs, *args, **kwargs)

        def wrong_apply(self, grads, trainable_variables=None):
            variables = self._core.variables if trainable_variables is None else trainable_variables
            return apply(self, [change(self, g, v) for g, v in zip(grads, variables)], trainable_variables)

        cls.apply_gradients = wrong
        if apply is not None:
            cls.apply = wrong_apply

    return spoil


def spoil_method(name, make):
    """A fault in one method: `make(original)` is the wrong one."""

    def spoil(cls, monkeypatch):
        setattr(cls, name, make(getattr(cls, name)))

    return spoil


def spoil_constructor(change):
    """A fault in what the constructor makes of its arguments."""

    def make(original):
        def wrong(self, *args, **kwargs):
            original(self, *args, **change(dict(kwargs)))

        return wrong

    return spoil_method("__init__", make)


def is_sparse(gradient):
    return hasattr(gradient, "indices")


def is_traced(optimizer):
    if type(optimizer).target.backend == "jax":
        import jax

        return isinstance(optimizer.iterations.value, jax.core.Tracer)
    import tensorflow as tf

    return not tf.executing_eagerly()


def in_compiled_steps_only(self, gradient, variable):
    return gradient * 1.01 if gradient is not None and is_traced(self) else gradient


def negated_where_sparse(self, gradient, variable):
    if not is_sparse(gradient):
        return gradient
    import tensorflow as tf

    return tf.IndexedSlices(-gradient.values, gradient.indices, gradient.dense_shape)


def rows_clipped_before_they_are_summed(cls, monkeypatch):
    def clipped(self, gradient, variable):
        import tensorflow as tf

        if not is_sparse(gradient):
            return tf.clip_by_norm(gradient, 0.7)
        return tf.IndexedSlices(tf.clip_by_norm(gradient.values, 0.7), gradient.indices, gradient.dense_shape)

    spoil_constructor(lambda kwargs: {k: v for k, v in kwargs.items() if k != "clipnorm"})(cls, monkeypatch)
    spoil_gradients(clipped)(cls, monkeypatch)


def last_repeated_row_wins(self, gradient, variable):
    if not is_sparse(gradient):
        return gradient
    import tensorflow as tf

    return tf.IndexedSlices(gradient.values[1:], gradient.indices[1:], gradient.dense_shape)


def wrong_phase(self, gradient, variable):
    import tensorflow as tf

    return tf.math.conj(gradient) if gradient.dtype.is_complex else gradient


def rounded_config(original):
    def get_config(self):
        config = original(self)
        return {k: float(np.float32(v)) if isinstance(v, float) else v for k, v in config.items()}

    return get_config


def without_the_last(original):
    def get_weights(self):
        weights = original(self)
        return weights[:-1] + [np.zeros_like(weights[-1])]

    return get_weights


def fresh_copy(original):
    def deepcopy(self, memo):
        return type(self).from_config(self.get_config())

    return deepcopy


def forgets_when_it_grows(self, gradient, variable):
    core = self._core
    if core.variables and core.index_of(variable) is None:
        for slots in core.slots:
            for slot in slots.values():
                core.layout.assign(slot, np.zeros(core.layout.shape(slot)))
    return gradient


def zeros_for_none(self, gradient, variable):
    return self._core.layout.read(variable) * 0 if gradient is None else gradient


def average_from_zeros(cls, monkeypatch):
    from compat_opt.adapters import core

    def plan_slots(*args):
        plans = slot_plans.plan_slots(*args)
        return [p._replace(start="fill", value=0) if p.name == "average" else p for p in plans]

    monkeypatch.setattr(core, "plan_slots", plan_slots)


def half_precision_state(cls, monkeypatch):
    from compat_opt.ops import dtypes

    monkeypatch.setattr(dtypes, "compute_dtype", lambda storage: storage)


def baked_in(cls, monkeypatch):
    from compat_opt.adapters.core import Core

    monkeypatch.setattr(Core, "set_hyper", lambda self, name, value: None)


def late_schedule(kwargs):
    schedule = kwargs.get("learning_rate")
    return dict(kwargs, learning_rate=lambda step: schedule((step + 5) % 6)) if callable(schedule) else kwargs


def sum_instead_of_mean(kwargs):
    steps = kwargs.get("gradient_accumulation_steps")
    return dict(kwargs, loss_scale_factor=1.0 / steps) if steps else kwargs


def clipped_together(kwargs):
    norm = kwargs.pop("clipnorm", None)
    return dict(kwargs, global_clipnorm=norm) if norm else kwargs


def nothing_excluded(original):
    return lambda self, var_list=None, var_names=None: None


#: (law, what is wrong, how the compiled class is spoiled)
FAULTS = [
    ("dense", "a gradient 1 % too long", spoil_gradients(lambda self, g, v: g * 1.01)),
    ("dense", "a hyperparameter that is ignored", spoil_constructor(lambda k: dict(k, beta=0.89))),
    ("dense_compiled", "another factor in compiled steps", spoil_gradients(in_compiled_steps_only)),
    ("sparse", "wrong sign of sparse gradients", spoil_gradients(negated_where_sparse)),
    ("sparse", "a repeated row is dropped", spoil_gradients(last_repeated_row_wins)),
    ("sparse_clipped", "clipped before rows are summed", rows_clipped_before_they_are_summed),
    ("half_precision", "slots in half precision", half_precision_state),
    ("complex_variables", "conjugated gradients", spoil_gradients(wrong_phase)),
    ("config_round_trip", "numbers rounded to float32", spoil_method("get_config", rounded_config)),
    ("save_and_continue", "one slot is not saved", spoil_method("get_weights", without_the_last)),
    ("copies", "a copy without state", spoil_method("__deepcopy__", fresh_copy)),
    ("accumulation", "the sum instead of the mean", spoil_constructor(sum_instead_of_mean)),
    ("accumulation_compiled", "another factor in compiled steps", spoil_gradients(in_compiled_steps_only)),
    ("clipping", "clipnorm over all variables together", spoil_constructor(clipped_together)),
    ("weight_decay", "exclusions are ignored", spoil_method("exclude_from_weight_decay", nothing_excluded)),
    ("moving_average", "the average starts from zeros", average_from_zeros),
    ("schedule", "the schedule is one step behind", spoil_constructor(late_schedule)),
    ("live_change", "the learning rate is baked in", baked_in),
    ("late_variable", "a late variable resets the others", spoil_gradients(forgets_when_it_grows)),
    ("missing_gradient", "zeros where there is no gradient", spoil_gradients(zeros_for_none)),
]


def test_every_law_is_shown_to_fail():
    assert {law for law, _, _ in FAULTS} | {"pure"} == set(LAWS)


@pytest.mark.parametrize("law, what, spoil", FAULTS, ids=["%s: %s" % fault[:2] for fault in FAULTS])
def test_a_fault_breaks_its_law(law, what, spoil, monkeypatch):
    subject = Subject(make_rule(), co.default_target())
    reason = subject.lacking(LAWS[law].needs)
    if reason:
        pytest.skip("does not apply: " + reason)
    run_law(law, subject)
    spoil(subject.optimizer_class, monkeypatch)
    with pytest.raises(LawBroken) as broken:
        run_law(law, subject)
    assert broken.value.law == law
    assert broken.value.rule == "Heavy"
    assert broken.value.target == co.default_target().key
    assert isinstance(broken.value.__cause__, AssertionError), "the law noticed; the fault did not just crash"


def test_an_impure_rule_breaks_pure():
    del CALLS[:]
    with pytest.raises(LawBroken) as broken:
        run_law("pure", Subject(make_rule(impure=True), co.default_target()))
    assert broken.value.largest_error > 0


def test_a_step_that_raises_breaks_the_law():
    subject = Subject(make_rule(), co.default_target())

    def crash(self, *args, **kwargs):
        raise OSError("no more of this")

    subject.optimizer_class.apply_gradients = crash
    with pytest.raises(LawBroken) as broken:
        run_law("dense", subject)
    assert broken.value.detail == "OSError: no more of this"


def test_the_plugin_runs_laws(pytester):
    """One test function becomes a case a law and target; a broken law is a failure that says where."""
    pytester.makepyfile(
        textwrap.dedent(
            """
            import pytest
            import compat_opt as co

            CALLS = []

            class Plain(co.UpdateRule):
                learning_rate = co.Hyper(0.1)

                def update(self, grad, var, slots, hyper, ops):
                    return var - hyper.learning_rate * grad, {}

            class Counting(Plain):
                def update(self, grad, var, slots, hyper, ops):
                    CALLS.append(1)
                    return var - hyper.learning_rate * len(CALLS) * grad, {}

            @pytest.mark.laws(Plain, learning_rate=0.2)
            def test_plain(law_case):
                law_case.run()

            @pytest.mark.laws(rule=Counting)
            def test_counting(law_case):
                law_case.run()

            def test_targets(compat_opt_target):
                assert compat_opt_target in co.targets()
            """
        )
    )
    plugin = [] if pytester.plugins or _is_entry_point() else ["-p", "compat_opt.testing.plugin"]
    target = co.default_target().key
    chosen = "pure or test_targets or (test_plain and dense and not compiled)"
    result = pytester.runpytest_subprocess("-v", "-k", chosen, *plugin)
    count = len(co.targets())
    result.assert_outcomes(passed=3 * count, failed=count, deselected=_any(result))
    result.stdout.fnmatch_lines(
        ["*test_plain[[]Plain-%s-dense[]] PASSED*" % target, "*Counting breaks the law pure on %s*" % target]
    )


def _is_entry_point():
    """Whether pytest finds the plugin by itself: compat_opt is installed here."""
    try:
        from importlib import metadata
    except ImportError:  # Python 3.7
        import pkg_resources

        return any(point.name == "compat_opt" for point in pkg_resources.iter_entry_points("pytest11"))
    points = metadata.entry_points()
    points = points.select(group="pytest11") if hasattr(points, "select") else points.get("pytest11", ())
    return any(point.name == "compat_opt" for point in points)


def _any(result):
    return result.parseoutcomes().get("deselected", 0)
