"""Writes docs/gallery.md and docs/gallery.svg: every algorithm on two surfaces and on the digits.

    python ci/make_gallery.py

All of it in NumPy float64, with one seed. Learning rates are the best of a grid, for each picture alone: the one with the
lowest value at the end. It needs NumPy and scikit-learn, and takes about three minutes.
"""

import os
import sys
import time

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from compat_opt import rules  # noqa: E402
from compat_opt.adapters.options import Options  # noqa: E402
from compat_opt.adapters.slots import first_array, plan_slots  # noqa: E402
from compat_opt.adapters.step import Item  # noqa: E402
from compat_opt.adapters.update import Lowering, Setting, update_all  # noqa: E402
from compat_opt.errors import HyperError  # noqa: E402
from compat_opt.ops import Ops  # noqa: E402
from compat_opt.ops.numpy_executor import NumpyExecutor  # noqa: E402
from compat_opt.testing.digits import BATCH, digits  # noqa: E402

RATES = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0]
STEPS = 120
COLUMNS, WIDTH, HEIGHT, GAP = 4, 84, 66, 6


class Rosenbrock:
    """The bent valley (1 - x)^2 + 100 (y - x^2)^2."""

    name, start, best, box = "Rosenbrock", (-1.5, 1.8), (1.0, 1.0), (-2.0, 2.0, -0.8, 2.8)

    def value(self, x, y):
        return (1 - x) ** 2 + 100 * (y - x * x) ** 2

    def gradient(self, x, y):
        return -2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)


class Beale:
    """A flat floor between steep walls, with the minimum at (3, 0.5)."""

    name, start, best, box = "Beale", (0.8, 1.6), (3.0, 0.5), (-0.5, 4.2, -1.0, 2.0)

    def value(self, x, y):
        return (1.5 - x + x * y) ** 2 + (2.25 - x + x * y**2) ** 2 + (2.625 - x + x * y**3) ** 2

    def gradient(self, x, y):
        a, b, c = 1.5 - x + x * y, 2.25 - x + x * y**2, 2.625 - x + x * y**3
        return (
            2 * a * (y - 1) + 2 * b * (y**2 - 1) + 2 * c * (y**3 - 1),
            2 * a * x + 4 * b * x * y + 6 * c * x * y**2,
        )


class Digits:
    """The net of compat_opt.testing.digits: 64 inputs, 32 hidden units, 10 classes, softmax."""

    def __init__(self):
        self.x, self.y, self.test_x, self.test_y = (a.astype("float64") if a.dtype.kind == "f" else a for a in digits())
        random = np.random.RandomState(0)
        self.first = []
        for rows, columns in ((64, 32), (32, 10)):
            limit = np.sqrt(6.0 / (rows + columns))
            self.first += [random.uniform(-limit, limit, (rows, columns)), np.zeros(columns)]

    def loss_and_gradients(self, weights, step):
        """(loss, gradients) on the step's batch."""
        batches = len(self.x) // BATCH
        part = slice(step % batches * BATCH, step % batches * BATCH + BATCH)
        x, y = self.x[part], self.y[part]
        hidden = np.maximum(x @ weights[0] + weights[1], 0)
        scores = hidden @ weights[2] + weights[3]
        scores = scores - scores.max(axis=1, keepdims=True)
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        error = np.exp(logs)
        error[np.arange(len(y)), y] -= 1
        error /= len(y)
        back = (error @ weights[2].T) * (hidden > 0)
        gradients = [x.T @ back, back.sum(axis=0), hidden.T @ error, error.sum(axis=0)]
        return -np.mean(logs[np.arange(len(y)), y]), gradients

    def accuracy(self, weights):
        """On the images that were held out."""
        hidden = np.maximum(self.test_x @ weights[0] + weights[1], 0)
        return np.mean(np.argmax(hidden @ weights[2] + weights[3], axis=1) == self.test_y)


def walk(rule, first, gradients_of, steps):
    """(values after each step, seconds per step of the rule); stops where something is no longer finite."""
    executor, values = NumpyExecutor(), [np.array(value, dtype="float64") for value in first]
    slots = [
        {plan.name: first_array(np, plan, value) for plan in plan_slots(rule, Options(), value.shape, "float64")}
        for value in values
    ]
    shared = {name: np.float64(declared.init) for name, declared in rule.shared().items()}
    scalars = {name: getattr(rule, name) for name, hyper in rule.hypers().items() if not hyper.static}
    path, spent = [values], 0.0
    for step in range(steps):
        gradients = gradients_of(values, step)
        begin = time.perf_counter()
        items = [Item("v%d" % i, i, v, g, s) for i, (v, g, s) in enumerate(zip(values, gradients, slots))]
        outcome = update_all([Setting(rule, scalars, shared)], Options(), Ops(executor), items, step, Lowering())
        spent += time.perf_counter() - begin
        values = [np.asarray(outcome.variables[i]) for i in range(len(values))]
        for own, new in zip(slots, (outcome.slots[i] for i in range(len(values)))):
            own.update((name, np.asarray(value)) for name, value in new.items())
        shared.update(outcome.shared)
        if not all(np.all(np.isfinite(value)) for value in values):
            break
        path.append(values)
    return path, spent / steps


def with_rates(rule):
    """Instances of the rule with each rate of the grid."""
    if "learning_rate" not in rule.hypers():
        return [(1.0, rule(weight_decay=0.0))]
    arguments = {} if rule.__name__ == "SGDW" else {"weight_decay": 0.0}
    found = []
    for rate in RATES:
        try:
            found.append((rate, rule(learning_rate=rate, **arguments)))
        except HyperError:  # ConditionalGradient's rate is a share, at most 1
            pass
    return found


def on_surface(rule, surface):
    """The best path over the grid, an array of points."""
    best = None
    for _, instance in with_rates(rule):
        path, _ = walk(instance, [surface.start], lambda v, step: [np.array(surface.gradient(*v[0]))], STEPS)
        points = np.array([values[0] for values in path])
        if len(path) == STEPS + 1 and np.all(np.abs(points) < 50):
            end = surface.value(*points[-1])
            if best is None or end < best[0]:
                best = (end, points)
    return best


def on_digits(rule, workload):
    """(rate, losses smoothed over ten steps, accuracy, seconds per step) of the best rate."""
    best = None
    for rate, instance in with_rates(rule):
        losses = []

        def gradients_of(values, step):
            loss, gradients = workload.loss_and_gradients(values, step)
            losses.append(loss)
            return gradients

        path, seconds = walk(instance, workload.first, gradients_of, STEPS)
        smooth = np.convolve(losses, np.ones(10) / 10, mode="valid")
        if len(path) == STEPS + 1 and (best is None or smooth[-1] < best[1][-1]):
            best = (rate, smooth, workload.accuracy(path[-1]), seconds)
    return best


def background(surface, cells=(42, 33)):
    """Rectangles in shades: log of the value, dark is low."""
    left, right, bottom, top = surface.box
    made, (across, down) = ['<g id="%s">' % surface.name], cells
    x = left + (np.arange(across) + 0.5) * (right - left) / across
    y = top - (np.arange(down) + 0.5) * (top - bottom) / down
    values = np.log(surface.value(*np.meshgrid(x, y)) + 0.05)
    shades = np.clip((values - values.min()) / (values.max() - values.min()) * 12, 0, 11).astype(int)
    for row in range(down):
        column = 0
        while column < across:
            end = column
            while end < across and shades[row, end] == shades[row, column]:
                end += 1
            grey = 120 + shades[row, column] * 11
            made.append(
                '<path d="M%g %gh%gv%gh-%gz" fill="rgb(%d,%d,%d)"/>'
                % (column * WIDTH / across, row * HEIGHT / down, (end - column) * WIDTH / across, HEIGHT / down + 0.1,
                   (end - column) * WIDTH / across, grey - 20, grey, min(grey + 15, 255))
            )  # fmt: skip
            column = end
    best = place(surface, np.array([surface.best]))[0]
    made.append('<circle cx="%.1f" cy="%.1f" r="2" fill="none" stroke="#000"/></g>' % tuple(best))
    return "".join(made)


def place(surface, points):
    """Points of the surface as points of its picture."""
    left, right, bottom, top = surface.box
    x = (points[:, 0] - left) / (right - left) * WIDTH
    return np.stack([np.clip(x, 0, WIDTH), np.clip((top - points[:, 1]) / (top - bottom) * HEIGHT, 0, HEIGHT)], axis=1)


def line(points, colour):
    """A polyline through points of a picture."""
    return '<polyline points="%s" fill="none" stroke="%s"/>' % (" ".join("%.1f,%.1f" % tuple(p) for p in points), colour)


def curve(losses):
    """The training curve: the loss from 2.5 (top) to 0 (bottom)."""
    x = np.linspace(0, WIDTH, len(losses))
    return line(np.stack([x, HEIGHT * (1 - np.clip(losses, 0, 2.5) / 2.5)], axis=1)[::2], "#06c")


def main():
    surfaces, workload = [Rosenbrock(), Beale()], Digits()
    cell_width, cell_height = 3 * WIDTH + 4 * GAP, HEIGHT + 22
    rows = -(-len(rules.names()) // COLUMNS)
    svg = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="10">'
        % (COLUMNS * cell_width, rows * cell_height),
        '<rect width="100%" height="100%" fill="#fff"/><defs>',
    ] + [background(surface) for surface in surfaces] + ["</defs>"]
    table = []
    for number, name in enumerate(rules.names()):
        rule = getattr(rules, name)
        with np.errstate(all="ignore"):
            paths = [on_surface(rule, surface) for surface in surfaces]
            rate, losses, accuracy, seconds = on_digits(rule, workload)
        x, y = number % COLUMNS * cell_width + GAP, number // COLUMNS * cell_height
        svg.append('<g transform="translate(%d,%d)"><text y="13" font-weight="bold">%s</text>' % (x, y, name))
        for position, (surface, found) in enumerate(zip(surfaces, paths)):
            svg.append('<g transform="translate(%d,18)"><use href="#%s"/>' % (position * (WIDTH + GAP), surface.name))
            svg.append((line(place(surface, found[1]), "#d10") if found else "") + "</g>")
        svg.append(
            '<g transform="translate(%d,18)"><rect width="%d" height="%d" fill="#f4f4f4"/>%s</g></g>'
            % (2 * (WIDTH + GAP), WIDTH, HEIGHT, curve(losses))
        )
        ends = ["%.1e" % found[0] if found else "-" for found in paths]
        table.append("| %s | %s | %g | %.2f | %.1f%% | %.0f |" % (name, " | ".join(ends), rate, losses[-1], 100 * accuracy, 1e6 * seconds))
        print(table[-1])
    svg.append("</svg>")
    with open(os.path.join(ROOT, "docs", "gallery.svg"), "w", encoding="utf-8") as stream:
        stream.write("".join(svg) + "\n")
    text = [
        "# Gallery",
        "",
        "Written by `ci/make_gallery.py`; do not edit. For each algorithm the path of %d steps on Rosenbrock's and Beale's" % STEPS,
        "function (red; the circle is the minimum, dark is low) and the training loss of %d steps on scikit-learn's digits" % STEPS,
        "(blue, from 2.5 to 0). One seed; the learning rate is the best of %d for each picture, so that pictures show how an" % len(RATES),
        "algorithm moves, not which is best. Weight decay is off, but for SGDW.",
        "",
        "![Paths and training curves](gallery.svg)",
        "",
        "Values at the end of both paths; rate, loss and accuracy on the digits; microseconds per step of its four variables in",
        "NumPy (the reference, not a compiled optimizer). What stands out: ConditionalGradient's default keeps each variable in",
        "a ball of norm 0.01, SGLD draws noise made for large data sets, and DoG and COCOB find their step size in more steps.",
        "Paths that leave their picture follow its edge; a dash: with every rate of the grid one went far away.",
        "",
        "| algorithm | Rosenbrock | Beale | rate | loss | accuracy | µs per step |",
        "|---|---|---|---|---|---|---|",
    ]
    with open(os.path.join(ROOT, "docs", "gallery.md"), "w", encoding="utf-8") as stream:
        stream.write("\n".join(text + table) + "\n")


if __name__ == "__main__":
    main()
