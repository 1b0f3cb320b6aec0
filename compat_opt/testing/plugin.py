"""The pytest plugin: ``@pytest.mark.laws(rule=Rule)`` runs a rule through all laws on all targets.

::

    @pytest.mark.laws(rule=MyRule, beta_1=0.8)
    def test_my_rule(law_case):
        law_case.run()

`law_case` is parametrized over laws and targets of this environment; the fixture
`compat_opt_target` alone is parametrized over the targets.
"""

import pytest


class LawCase:
    """One law for one rule on one target."""

    def __init__(self, law, rule, target, hypers):
        self.law = law
        self.rule = rule
        self.target = target
        self.hypers = hypers

    def run(self):
        """Run the law.

        Raises:
            LawBroken: names law, target, step and largest error.
        """
        from compat_opt.testing.laws import Subject, run_law

        run_law(self.law, Subject(self.rule, self.target, **self.hypers))


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "laws(rule=Rule, **hypers): run the test for each law and target; use the fixture law_case"
    )


def pytest_generate_tests(metafunc):
    if "compat_opt_target" in metafunc.fixturenames:
        from compat_opt.env import targets

        offered = targets()
        metafunc.parametrize("compat_opt_target", offered, ids=[t.key for t in offered])
    if "law_case" in metafunc.fixturenames:
        cases = [c for mark in metafunc.definition.iter_markers("laws") for c in _cases(mark)]
        metafunc.parametrize("law_case", cases, ids=[c.label for c in cases])


def _cases(mark):
    hypers = dict(mark.kwargs)
    # By keyword: pytest takes a class that is a mark's only argument for the thing to be marked.
    given = list(mark.args) + ([hypers.pop("rule")] if "rule" in hypers else [])
    if len(given) != 1:
        raise pytest.UsageError("the marker laws takes one rule: @pytest.mark.laws(rule=MyRule, **hypers)")
    from compat_opt.env import targets
    from compat_opt.testing.laws import Subject, applicable

    rule, cases = given[0], []
    for target in targets():
        for law in applicable(Subject(rule, target, **hypers)):
            case = LawCase(law.name, rule, target, hypers)
            case.label = "%s-%s-%s" % (rule.__name__, target.key, law.name)
            cases.append(case)
    return cases
