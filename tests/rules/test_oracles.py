"""Every shipped rule against its independent float64 recurrence."""

import pytest

from compat_opt import rules
from oracle_comparison import PROBLEMS, compare, load_oracle, oracle_names

#: The problems that every cell of the matrix runs; the others run in the long suites. Rules meet no
#: framework here, and ci/mutate_rules.py runs all of them on each mutant.
EVERYWHERE = ("ordinary", "zeros among others", "steady")

CASES = [
    pytest.param(name, position, problem, marks=() if problem in EVERYWHERE else pytest.mark.long)
    for name in rules.names()
    for position in range(len(load_oracle(name.lower()).CASES))
    for problem in PROBLEMS
]


def test_every_rule_has_an_oracle_and_every_oracle_a_rule():
    assert oracle_names() == sorted(name.lower() for name in rules.names())


@pytest.mark.parametrize("name", rules.names())
def test_cases_cover_the_defaults_and_both_ways_of_each_flag(name):
    rule, cases = getattr(rules, name), load_oracle(name.lower()).CASES
    assert {} in cases, "one case has the defaults"
    for hyper_name, hyper in rule.hypers().items():
        if hyper.static and isinstance(hyper.default, bool):
            seen = {case.get(hyper_name, hyper.default) for case in cases}
            assert seen == {True, False}, "%s both ways" % hyper_name
        elif hyper_name not in ("weight_decay",):
            seen = [case.get(hyper_name, hyper.default) for case in cases]
            assert any(value != hyper.default for value in seen), "%s other than its default" % hyper_name


@pytest.mark.parametrize("name, position, problem", CASES)
def test_agrees_with_oracle(name, position, problem):
    oracle = load_oracle(name.lower())
    compare(getattr(rules, name), oracle, oracle.CASES[position], problem)
