"""Schedules for any hyperparameter, on every generation: ``AdamW(learning_rate=schedules.Cosine(1e-3, 10000))``.

Each is a pure function of the number of finished updates t (0 first). In a compiled optimizer it is a
LearningRateSchedule of that Keras; its config reads the same on all of them.
"""

import math

from compat_opt.errors import HyperError
from compat_opt.schedules._schedule import Schedule, value_of


def names():
    """The names of the schedules, sorted."""
    return sorted(n for n, v in globals().items() if isinstance(v, type) and issubclass(v, Schedule) and v is not Schedule)


class Linear(Schedule):
    """A straight line from `initial` to `final`, which stays.

    initial + (final - initial) * min(t / steps, 1)
    """

    nested = ()

    def __init__(self, initial, final, steps):
        super().__init__(initial=initial, final=final, steps=steps)

    def value(self, step, ops):
        return self.initial + (self.final - self.initial) * ops.minimum(step / self.steps, 1.0)


class Cosine(Schedule):
    """Half a period of a cosine from `initial` to `final`, which stays.

    final + (initial - final) * (1 + cos(pi * min(t / steps, 1))) / 2

    Differs from:
        Keras: CosineDecay's alpha is final / initial; its warm-up is LinearWarmup here.

    Source:
        Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2016,
        https://arxiv.org/abs/1608.03983
    """

    nested = ()

    def __init__(self, initial, steps, final=0.0):
        super().__init__(initial=initial, steps=steps, final=final)

    def value(self, step, ops):
        return _cosine(self.initial, self.final, ops.minimum(step / self.steps, 1.0), ops)


class WarmRestarts(Schedule):
    """Cosines one after the other: cycle n has steps * growth^n steps and starts at initial * shrink^n.

    final + (initial * shrink^n - final) * (1 + cos(pi * (t - start of cycle n) / (its length - shortened))) / 2

    Args:
        initial, final: the value at the start of the first cycle, and the one at the end of each.
        steps: length of the first cycle.
        growth: a cycle's length divided by that of the one before, >= 1. Default 1.
        shrink: likewise for its first value. Default 1.
        shortened: 1 if a cycle's last step is to have `final` itself. Default 0 (paper).

    Differs from:
        paper: no difference; shrink is this package's and Keras's, shortened=1 keras-adamw's.
        Keras: CosineDecayRestarts's alpha is final / initial, and its m_mul shrinks final too.

    Source:
        Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2016,
        https://arxiv.org/abs/1608.03983
    """

    nested = ()

    def __init__(self, initial, steps, growth=1.0, shrink=1.0, final=0.0, shortened=0):
        super().__init__(
            initial=initial, steps=steps, growth=growth, shrink=shrink, final=final, shortened=shortened
        )
        if not 0 <= shortened < steps:
            raise HyperError("A cosine has a length.", "0 <= shortened < steps", "shortened=%r" % (shortened,))
        if growth < 1:
            raise HyperError("Cycles can't become shorter for ever.", "growth >= 1", "growth=%r" % (growth,))

    def value(self, step, ops):
        rounds = step / self.steps
        if self.growth == 1:
            cycle = ops.floor(rounds)
            done = (rounds - cycle) * (self.steps / (self.steps - self.shortened))
        else:
            # Cycle n starts after (growth^n - 1) / (growth - 1) times `steps`. The logarithm may be off by
            # one at a start, where it has to be exact.
            grown = 1.0 + rounds * (self.growth - 1.0)
            cycle = ops.floor(ops.log(grown) / math.log(self.growth))
            cycle = ops.where(rounds >= self._start(cycle + 1.0), cycle + 1.0, cycle)
            cycle = ops.where(rounds < self._start(cycle), cycle - 1.0, cycle)
            done = (rounds - self._start(cycle)) / (self.growth**cycle - self.shortened / self.steps)
        return _cosine(self.initial * self.shrink**cycle, self.final, done, ops)

    def _start(self, cycle):
        return (self.growth**cycle - 1.0) / (self.growth - 1.0)


class OneCycle(Schedule):
    """Cosines from `start` up to `peak` during the share `rise` of the steps, then down to `end`, which stays.

    Momentum is cycled the other way round: OneCycle(0.85, steps, start=0.95, end=0.95).

    Args:
        peak: the value at rise * steps.
        steps: length of the cycle.
        start: first value. Default peak / 25 (fastai and PyTorch).
        end: last value. Default start / 10000 (PyTorch).
        rise: share of the steps before the peak. Default 0.3 (PyTorch).

    Differs from:
        paper: straight lines there, and a third phase of decay.
        PyTorch: its cycle ends at step steps - 1: OneCycleLR(total_steps=n) is OneCycle(steps=n - 1) with
            rise = (0.3 * n - 1) / (n - 1).

    Source:
        Smith and Topin, "Super-Convergence: Very Fast Training of Neural Networks Using Large Learning
        Rates", 2017, https://arxiv.org/abs/1708.07120
    """

    nested = ()

    def __init__(self, peak, steps, start=None, end=None, rise=0.3):
        given = {name: value for name, value in (("start", start), ("end", end)) if value is not None}
        super().__init__(peak=peak, steps=steps, rise=rise, **given)
        if not 0 <= rise <= 1:
            raise HyperError("The peak lies in the cycle.", "0 <= rise <= 1", "rise=%r" % (rise,))
        self.parameters.setdefault("start", peak / 25.0)
        self.parameters.setdefault("end", self.start / 1e4)

    def value(self, step, ops):
        top = self.rise * self.steps
        up = _cosine(self.start, self.peak, ops.minimum(step / max(top, 1e-300), 1.0), ops)
        gone = ops.minimum((step - top) / max(self.steps - top, 1e-300), 1.0)
        return ops.where(step < top, up, _cosine(self.peak, self.end, gone, ops))


class InverseSquareRoot(Schedule):
    """A straight line up to `peak` at update number `steps`, then as 1 / sqrt(update number).

    peak * min(n / steps, sqrt(steps / n)), n = t + 1

    Differs from:
        paper: no difference for peak = d_model^-0.5 * steps^-0.5.

    Source:
        Vaswani et al., "Attention Is All You Need", 2017, https://arxiv.org/abs/1706.03762
    """

    nested = ()

    def __init__(self, peak, steps):
        super().__init__(peak=peak, steps=steps)

    def value(self, step, ops):
        number = step + 1.0
        return self.peak * ops.minimum(number / self.steps, ops.sqrt(self.steps / number))


class LinearWarmup(Schedule):
    """A straight line from `start` to the first value of `after` during `steps`; then `after`, from its step 0.

    Args:
        after: a number or a schedule.
        steps: length of the line.
        start: the first value. Default 0.

    Source:
        Goyal et al., "Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour", 2017,
        https://arxiv.org/abs/1706.02677
    """

    nested = ("after",)

    def __init__(self, after, steps, start=0.0):
        super().__init__(after=after, steps=steps, start=start)

    def value(self, step, ops):
        first = value_of(self.after, ops.scalar(0), ops)
        line = self.start + (first - self.start) * (step / self.steps)
        return ops.where(step < self.steps, line, value_of(self.after, ops.maximum(step - self.steps, 0.0), ops))


class Product(Schedule):
    """The product of two: numbers or schedules."""

    def __init__(self, first, second):
        super().__init__(first=first, second=second)

    def value(self, step, ops):
        return value_of(self.first, step, ops) * value_of(self.second, step, ops)


def _cosine(begin, end, done, ops):
    """From `begin` to `end` along half a cosine, of which the share `done` is done."""
    return end + (begin - end) * (1.0 + ops.cos(math.pi * done)) / 2.0
