"""The pytest plugin: ``@pytest.mark.laws(Rule)`` runs a rule through all laws on all targets.

::

    @pytest.mark.laws(MyRule, beta_1=0.8)
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
        "markers", "laws(rule, **hypers): run the test for each law and target; use the fixture law_case"
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
    if len(mark.args) != 1:
        raise pytest.UsageError("the marker laws takes one rule: @pytest.mark.laws(MyRule, **hypers)")
    from compat_opt.env import targets
    from compat_opt.testing.laws import Subject, applicable

    rule, cases = mark.args[0], []
    for target in targets():
        for law in applicable(Subject(rule, target, **mark.kwargs)):
            case = LawCase(law.name, rule, target, mark.kwargs)
            case.label = "%s-%s-%s" % (rule.__name__, target.key, law.name)
            cases.append(case)
    return cases
