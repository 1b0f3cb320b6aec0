"""Exception classes, and the one form in which they speak.

Every message says what is wrong, what was expected and what was received, and what to do
next; the same facts are attributes of the exception, so that callers can act on them.
"""

import difflib


class CompatOptError(Exception):
    """Base class of everything this package raises on purpose.

    Attributes:
        problem: what is wrong, one sentence.
        expected: what would have been right, or "".
        received: what came instead (``name=value``), or "".
        remedy: what to do next, or "".
        environment: TensorFlow, Keras and target, where one is involved, or "".
    """

    def __init__(self, problem, expected="", received="", remedy="", environment=""):
        self.problem = problem
        self.expected = expected
        self.received = received
        self.remedy = remedy
        self.environment = environment
        super().__init__(self._message())

    def _message(self):
        text = self.problem
        if self.expected:
            text += " Expected: %s." % self.expected.rstrip(".")
        if self.received:
            text += " Received: %s." % self.received
        if self.remedy:
            text += " %s" % self.remedy
        if self.environment:
            text += " [%s]" % self.environment
        return text

    def __reduce__(self):
        return type(self), (
            self.problem,
            self.expected,
            self.received,
            self.remedy,
            self.environment,
        )


class RuleError(CompatOptError, TypeError):
    """A rule is declared wrongly, or returned something that the contract does not allow."""


class ArgumentError(CompatOptError, TypeError):
    """A call has an unknown or a clashing argument."""


class HyperError(CompatOptError, ValueError):
    """A hyperparameter has a value, or is given in a form, that can't be used."""


class GradientError(CompatOptError, ValueError):
    """A gradient does not fit its variable, or there is none at all."""


class StateError(CompatOptError, ValueError):
    """Optimizer state does not fit the optimizer that is to take it."""


class TargetError(CompatOptError, ImportError):
    """The environment does not offer the optimizer API that was asked for."""


class UnsupportedError(CompatOptError, NotImplementedError):
    """What was asked for can't be done on this target."""


class ExportError(CompatOptError, NotImplementedError):
    """A rule has something that the exported source of this API can't say; names the reason and the line."""


class CommandError(CompatOptError):
    """A command can't do what it was asked for: its exit code is 2."""


def closest(name, candidates):
    """`` Did you mean 'x'?`` for the candidate nearest to `name`, or an empty string."""
    match = difflib.get_close_matches(name, [str(c) for c in candidates], n=1, cutoff=0.5)
    return "Did you mean %r?" % match[0] if match else ""
