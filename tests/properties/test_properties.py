"""Whatever shapes, dtypes, orders and missing gradients: the compiled rule follows the NumPy reference."""

import warnings

import numpy as np
import pytest

import compat_opt as co
from compat_opt import rules
from compat_opt.testing.compare import assert_close

pytestmark = pytest.mark.long

hypothesis = pytest.importorskip("hypothesis", reason="hypothesis is not installed: no property tests")
given, st = hypothesis.given, hypothesis.strategies

if not co.targets():
    pytest.skip("no framework is installed here, so there is no target", allow_module_level=True)

#: Each new set of shapes is one more traced step: few examples, chosen the same way each time.
settings = hypothesis.settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)

RULES = [("SGD", {"momentum": 0.9}), ("Adam", {"amsgrad": True}), ("Lion", {})]
by_rule = pytest.mark.parametrize("name, hypers", RULES, ids=[name for name, _ in RULES])

shapes = st.lists(
    st.lists(st.integers(0, 3), max_size=3).map(tuple),
    min_size=1,
    max_size=4,
)
seeds = st.integers(0, 2 ** 16)


def problem(shapes, seed, steps):
    random = np.random.RandomState(seed)
    values = [np.asarray(random.normal(size=shape)) for shape in shapes]
    gradients = [[np.asarray(random.normal(size=shape)) for shape in shapes] for _ in range(steps)]
    return values, gradients


class Compiled:
    """A rule on the default target, run beside the reference."""

    def __init__(self, name, hypers, dtype=None, **options):
        from compat_opt.testing.harness import harness_for

        self.rule = getattr(rules, name)
        self.target = co.default_target()
        self.harness = harness_for(self.target)
        self.dtype = dtype or ("float64" if "float64" in self.harness.offers else "float32")
        self.hypers = dict(hypers, learning_rate=0.01, **options)
        self.optimizer = co.compile_rule(self.rule, self.target)(**self.hypers)

    def follow(self, values, gradients, order=None, rounded=False):
        """Run all steps and compare each with the reference; `order`: in which pairs are given."""
        harness, order = self.harness, list(range(len(values))) if order is None else order
        variables = [harness.variable(value, self.dtype, "v%d" % i) for i, value in enumerate(values)]
        if rounded:
            values = [np.asarray(harness.numpy(v), "float64") for v in variables]
        expected = co.run_reference(self.rule, values, gradients, **self.hypers)
        self.optimizer.build(variables)
        for step, row in enumerate(gradients):
            pairs = [
                (None if row[i] is None else harness.gradient(row[i], self.dtype), variables[i]) for i in order
            ]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.optimizer.apply_gradients(pairs)
            for i, variable in enumerate(variables):
                tolerance = {"float64": 1e-9, "float32": 1e-4}.get(self.dtype, 0.05)
                what = "step %d, variable %d of shapes %s" % (step + 1, i, [v.shape for v in values])
                assert_close(harness.numpy(variable), expected[step][i], tolerance, what, smallest=1.0)


@by_rule
@settings
@given(shapes=shapes, seed=seeds)
def test_shapes(name, hypers, shapes, seed):
    """Scalars, vectors, arrays of up to three axes, and variables without elements."""
    Compiled(name, hypers).follow(*problem(shapes, seed, 2))


@by_rule
@settings
@given(data=st.data(), seed=seeds)
def test_order_does_not_matter(name, hypers, data, seed):
    """The order of the pairs in a call is no part of the result."""
    order = data.draw(st.permutations([0, 1, 2]))
    Compiled(name, hypers).follow(*problem([(2,), (), (2, 3)], seed, 2), order=order)


@by_rule
@settings
@given(data=st.data(), seed=seeds)
def test_missing_gradients(name, hypers, data, seed):
    """A variable that a call has no gradient for does not move, in any pattern of calls."""
    values, gradients = problem([(2,), (), (2, 3)], seed, 3)
    for row in gradients:
        missing = data.draw(st.sets(st.integers(0, 2), max_size=2))
        for i in missing:
            row[i] = None
    Compiled(name, hypers).follow(values, gradients)


@by_rule
@settings
@given(dtype=st.sampled_from(["float16", "bfloat16", "float32", "float64"]), seed=seeds)
def test_dtypes(name, hypers, dtype, seed):
    """Each floating dtype, up to its own rounding."""
    compiled = Compiled(name, hypers, dtype)
    if dtype == "float64" and "float64" not in compiled.harness.offers:
        return
    values, gradients = problem([(3,), (2, 2)], seed, 2)
    gradients = [[np.sign(g) * (np.abs(g) + 0.5) for g in row] for row in gradients]
    gradients = [[np.asarray(g, "float16").astype("float64") for g in row] for row in gradients]
    compiled.follow(values, gradients, rounded=True)


@settings
@given(
    seed=seeds,
    options=st.sampled_from(
        [{"clipnorm": 0.5}, {"clipvalue": 0.2}, {"global_clipnorm": 0.5}, {"weight_decay": 0.1}]
        + [{"use_ema": True, "ema_overwrite_frequency": 2}, {"gradient_accumulation_steps": 2}]
    ),
)
def test_options(seed, options):
    """Each option, with a scalar and with a variable without elements."""
    Compiled("Adam", {}, **options).follow(*problem([(3,), (), (0, 2)], seed, 4))


@by_rule
def test_an_empty_list_changes_nothing(name, hypers):
    compiled = Compiled(name, hypers)
    before = compiled.optimizer.get_weights()
    compiled.optimizer.apply_gradients([])
    compiled.optimizer.build([])
    after = compiled.optimizer.get_weights()
    assert [repr(a.tolist()) for a in after] == [repr(b.tolist()) for b in before]
