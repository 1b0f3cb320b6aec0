"""What users are told: class, attributes and full text of each error, and that nothing was changed."""

import inspect
import pickle

import numpy as np
import pytest

import compat_opt as co
from compat_opt import errors
from compat_opt.adapters.options import Options
from compat_opt.adapters.reference import run_reference
from compat_opt.spec.rule import RESERVED

needs_target = pytest.mark.skipif(not co.targets(), reason="no framework is installed here, so there is no target")


class Heavy(co.UpdateRule):
    learning_rate = co.Hyper(0.1, check=co.checks.non_negative)
    beta = co.Hyper(0.9, check=co.checks.unit_interval)
    nesterov = co.Hyper(False, static=True)
    mean = co.Slot()

    def update(self, grad, var, slots, hyper, ops):
        mean = hyper.beta * slots.mean + grad
        return var - hyper.learning_rate * mean, {"mean": mean}


class NoPair(Heavy):
    def update(self, grad, var, slots, hyper, ops):
        return var - hyper.learning_rate * grad


class Undeclared(Heavy):
    def update(self, grad, var, slots, hyper, ops):
        return var - hyper.learning_rate * grad, {"meam": grad}


class WrongShape(Heavy):
    def update(self, grad, var, slots, hyper, ops):
        return ops.sum(var), {}


class Typo(Heavy):
    def update(self, grad, var, slots, hyper, ops):
        return var - hyper.learning_rat * grad, {}


class Assigns(Heavy):
    def update(self, grad, var, slots, hyper, ops):
        slots.mean = grad
        return var, {}


def told(kind, text, call):
    """The error of `call`, after comparing its class and its whole text."""
    with pytest.raises(errors.CompatOptError) as caught:
        call()
    error = caught.value
    assert str(error) == text
    assert type(error) is kind
    assert error.problem and text.startswith(error.problem)
    for fact in (error.expected.rstrip("."), error.received, error.remedy, error.environment):
        assert fact in text
    return error


def one_reference_step(rule, gradient=(1.0, 2.0), **hypers):
    return run_reference(rule, [[1.0, 2.0]], [[list(gradient)]], **hypers)


class Live:
    """An optimizer on the default target after one good step."""

    def __init__(self, rule, **arguments):
        from compat_opt.testing.harness import harness_for

        self.target = co.default_target()
        self.harness = harness_for(self.target)
        self.optimizer = co.compile_rule(rule, self.target)(**arguments)
        self.variable = self.harness.variable([1.0, 2.0], "float32", name="kernel")

    def step(self, gradient):
        self.optimizer.apply_gradients([(self.harness.gradient(gradient, "float32"), self.variable)])

    def state(self):
        return [self.harness.numpy(self.variable).tolist()] + [repr(w.tolist()) for w in self.optimizer.get_weights()]


# A rule's return value, in the reference and compiled

NO_PAIR = (
    "NoPair.update() for variable {} returned something else than a pair. Expected: (new_var, {{slot name: new "
    "value}}). Received: a Value. Without slots, return new_var, {{}}."
)
UNDECLARED = (
    "Undeclared.update() for variable {} returned the slot 'meam', which is not declared. Expected: some of mean. "
    "Received: {{'meam': ...}}. Declare it in the class: meam = Slot()."
)
WRONG_SHAPE = "WrongShape.update() for variable {} returned new_var with another shape. Expected: shape (2,). Received: shape ()."
TYPO = (
    "Typo reads hyper.learning_rat, which is not there. Expected: one of beta, learning_rate, nesterov, step, "
    "weight_decay. Received: hyper.learning_rat. Did you mean 'learning_rate'?"
)
ASSIGNS = (
    "Assigns assigns to slots.mean; a rule is a pure function. Return the new value from update() or prepare()."
)
RETURNED = [(NoPair, NO_PAIR), (Undeclared, UNDECLARED), (WrongShape, WRONG_SHAPE), (Typo, TYPO), (Assigns, ASSIGNS)]
IDS = [rule.__name__ for rule, _ in RETURNED]


@pytest.mark.parametrize("rule, text", RETURNED, ids=IDS)
def test_a_wrong_update_in_the_reference(rule, text):
    told(errors.RuleError, text.format("variables[0]"), lambda: one_reference_step(rule))


@needs_target
@pytest.mark.parametrize("rule, text", RETURNED, ids=IDS)
def test_a_wrong_update_when_compiled(rule, text):
    live = Live(rule)
    live.optimizer.build([live.variable])
    before = live.state()
    told(errors.RuleError, text.format("kernel"), lambda: live.step([1.0, 2.0]))
    assert live.state() == before


# A rule's declarations

def test_a_name_clash():
    def declare():
        class Clash(co.UpdateRule):
            variables = co.Slot()

            def update(self, grad, var, slots, hyper, ops):
                return var, {}

    text = (
        "Clash declares 'variables', a name that every compiled optimizer uses itself. Expected: a name without "
        "leading underscore, and none of %s. Rename the declaration." % ", ".join(sorted(RESERVED))
    )
    told(errors.RuleError, text, declare)


def test_a_name_clash_with_a_base_class():
    def declare():
        class Clash(Heavy):
            beta = co.Slot()

    text = "Clash declares 'beta' as Slot, but a base class declares it as Hyper. Rename one of the two."
    told(errors.RuleError, text, declare)


def test_a_wrong_signature():
    def declare():
        class Signature(co.UpdateRule):
            def update(self, gradient, var, slots, hyper):
                return var, {}

    text = (
        "Signature.update has the wrong arguments. Expected: def update(self, grad, var, slots, hyper, ops). "
        "Received: def update(self, gradient, var, slots, hyper)."
    )
    told(errors.RuleError, text, declare)


def test_no_update():
    def declare():
        class Empty(co.UpdateRule):
            learning_rate = co.Hyper(0.1)

    text = (
        "Empty has no update(). Expected: def update(self, grad, var, slots, hyper, ops). A base class that leaves "
        "it to its subclasses has a name that starts with _."
    )
    told(errors.RuleError, text, declare)


# Arguments

def test_an_unknown_keyword_of_a_rule():
    text = (
        "Heavy has no hyperparameter 'learning_rat'. Expected: one of learning_rate, beta, nesterov, weight_decay. "
        "Received: learning_rat=0.1. Did you mean 'learning_rate'?"
    )
    told(errors.ArgumentError, text, lambda: Heavy(learning_rat=0.1))
    told(errors.ArgumentError, text, lambda: one_reference_step(Heavy, learning_rat=0.1))


@needs_target
def test_an_unknown_keyword_of_an_optimizer():
    text = (
        "Heavy has no argument 'learning_rat'. Expected: some of learning_rate, beta, nesterov, weight_decay, name, groups, "
        "%s. Received: learning_rat=0.1. Did you mean 'learning_rate'?" % ", ".join(Options.names())
    )
    told(errors.ArgumentError, text, lambda: Live(Heavy, learning_rat=0.1))


TWO_CLIPPINGS = (
    "Gradients are clipped in one way. Expected: at most one of clipnorm, clipvalue, global_clipnorm. Received: "
    "clipnorm=1.0, clipvalue=0.5. Set the others to None first."
)


def test_two_clippings_in_the_reference():
    told(errors.ArgumentError, TWO_CLIPPINGS, lambda: one_reference_step(Heavy, clipnorm=1.0, clipvalue=0.5))


@needs_target
def test_two_clippings_of_an_optimizer():
    told(errors.ArgumentError, TWO_CLIPPINGS, lambda: Live(Heavy, clipnorm=1.0, clipvalue=0.5))
    live = Live(Heavy, clipnorm=1.0)
    told(errors.ArgumentError, TWO_CLIPPINGS, lambda: setattr(live.optimizer, "clipvalue", 0.5))
    config = live.optimizer.get_config()
    assert (config["clipnorm"], config["clipvalue"]) == (1.0, None)


OUT_OF_RANGE = "Heavy.beta is out of range. Expected: a number in [0, 1). Received: beta=1.5."


def test_a_hyper_out_of_range_in_the_reference():
    told(errors.HyperError, OUT_OF_RANGE, lambda: one_reference_step(Heavy, beta=1.5))


@needs_target
def test_a_hyper_out_of_range_of_an_optimizer():
    told(errors.HyperError, OUT_OF_RANGE, lambda: Live(Heavy, beta=1.5))
    live = Live(Heavy)
    told(errors.HyperError, OUT_OF_RANGE, lambda: setattr(live.optimizer, "beta", 1.5))
    assert live.optimizer.get_config()["beta"] == 0.9


@needs_target
def test_a_static_hyper_is_fixed():
    live = Live(Heavy)
    text = (
        "Heavy.nesterov is fixed when the optimizer is made. Expected: the value False. Received: nesterov=True. "
        "Make a new optimizer with it."
    )
    told(errors.UnsupportedError, text, lambda: setattr(live.optimizer, "nesterov", True))
    assert live.optimizer.nesterov is False


def test_a_rule_keeps_no_attributes():
    rule = Heavy()
    text = (
        "'beta' is a hyperparameter; a rule is a pure function and can't assign to it. Return new state from "
        "update(), or set it on the optimizer."
    )
    told(errors.RuleError, text, lambda: setattr(rule, "beta", 0.5))
    text = (
        "A rule keeps no attributes of its own: it is a pure function. Declare count = Slot() for state per "
        "variable, or Shared() for one scalar."
    )
    told(errors.RuleError, text, lambda: setattr(rule, "count", 1))
    assert rule.beta == 0.9


# Gradients

def test_a_gradient_that_is_not_finite_in_the_reference():
    text = (
        "gradients[0][0] is not finite. Expected: finite numbers. Received: 1 NaN or infinite elements of 2. "
        "The update of Heavy would carry it into the variable and its slots."
    )
    told(errors.GradientError, text, lambda: one_reference_step(Heavy, (1.0, np.nan)))


@needs_target
def test_a_gradient_that_is_not_finite_of_an_optimizer():
    live = Live(Heavy, check_numerics=True)
    live.step([1.0, 2.0])
    before = live.state()
    text = (
        "The gradient of variable kernel is not finite. Expected: finite numbers. Received: NaN or infinite elements. "
        "Nothing was changed. [%s]" % live.target.describe()
    )
    error = told(errors.GradientError, text, lambda: live.step([1.0, np.nan]))
    assert error.environment == live.target.describe()
    assert live.state() == before
    live.step([1.0, 2.0])


def test_a_gradient_of_another_shape_in_the_reference():
    text = "gradients[0][0] has another shape than its variable. Expected: shape (2,). Received: shape (3,)."
    told(errors.GradientError, text, lambda: one_reference_step(Heavy, (1.0, 2.0, 3.0)))


@needs_target
def test_a_gradient_of_another_shape_of_an_optimizer():
    live = Live(Heavy)
    live.step([1.0, 2.0])
    before = live.state()
    text = (
        "The gradient of variable kernel has another shape than the variable. Expected: shape (2,). "
        "Received: shape (3,). [%s]" % live.target.describe()
    )
    told(errors.GradientError, text, lambda: live.step([1.0, 2.0, 3.0]))
    assert live.state() == before


@needs_target
def test_no_gradient_at_all():
    live = Live(Heavy)
    text = (
        "No gradients provided for any variable: kernel. Is the loss computed from these variables, inside the tape?"
    )
    told(errors.GradientError, text, lambda: live.optimizer.apply_gradients([(None, live.variable)]))


# Targets and operations

def test_an_unknown_target():
    error = _caught(lambda: co.compile_rule(Heavy, "keras9"))
    assert type(error) is errors.TargetError
    assert error.problem == "This environment has no target 'keras9'."
    assert error.received == "target='keras9'"
    if co.targets():
        assert error.expected == "one of %s" % ", ".join(target.key for target in co.targets())


def test_an_unknown_operation():
    class Operation(Heavy):
        def update(self, grad, var, slots, hyper, ops):
            return var - ops.squrt(grad), {}

    text = (
        "There is no operation ops.squrt. Expected: an operation of the table in compat_opt.ops.table. "
        "Received: ops.squrt. Did you mean 'sqrt'?"
    )
    told(errors.RuleError, text, lambda: one_reference_step(Operation))


# The form itself

CLASSES = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and issubclass(value, errors.CompatOptError)
]


@pytest.mark.parametrize("kind", CLASSES, ids=[kind.__name__ for kind in CLASSES])
def test_the_form(kind):
    error = kind("A is wrong.", "b", "c=1", "Do d.", "here")
    assert str(error) == "A is wrong. Expected: b. Received: c=1. Do d. [here]"
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.__dict__) == (kind, str(error), error.__dict__)
    assert kind.__doc__
    assert str(kind("A is wrong.")) == "A is wrong."


def test_errors_are_what_python_calls_them():
    """Code that catches TypeError, ValueError, ImportError and NotImplementedError goes on working."""
    kinds = {kind.__name__: kind.__mro__ for kind in CLASSES}
    for name, base in (
        ("RuleError", TypeError),
        ("ArgumentError", TypeError),
        ("HyperError", ValueError),
        ("GradientError", ValueError),
        ("StateError", ValueError),
        ("TargetError", ImportError),
        ("UnsupportedError", NotImplementedError),
    ):
        assert base in kinds[name]


def _caught(call):
    with pytest.raises(errors.CompatOptError) as caught:
        call()
    return caught.value
