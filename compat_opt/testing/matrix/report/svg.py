"""Line plots as inline SVG: no script, colours from the page's style sheet."""

import html
import math

WIDTH, HEIGHT = 640, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 12, 14, 48

#: Distances below this are drawn there: zero has no logarithm.
FLOOR = 1e-17


class Line:
    """One line of a plot.

    Attributes:
        values: numbers by step.
        colour: the number of a colour class.
        title: what a pointer that rests on it is told.
    """

    def __init__(self, values, colour, title):
        self.values, self.colour, self.title = list(values), colour, title


def distance_plot(lines, tolerance, caption):
    """Distance against step, logarithmic; a dashed line at the tolerance. Zero is drawn at the bottom."""
    logs = [Line([_log(v) for v in line.values], line.colour, line.title) for line in lines]
    shown = [v for line in logs for v in line.values if v > math.log10(FLOOR)] + [_log(tolerance)]
    low, high = math.floor(min(shown)) - 1, math.ceil(max(shown))
    ticks = [(low, "0")] + [(k, "1e%d" % k) for k in _every(low, max(high, low + 2)) if k > low]
    return _plot(logs, (low, max(high, low + 2)), ticks, caption, "step", [(_log(tolerance), "tolerance")])


def loss_plot(lines, caption):
    """Loss against step."""
    finite = [v for line in lines for v in line.values if math.isfinite(v)]
    if not finite:
        return ""
    low, high = min(finite + [0.0]), max(finite) or 1.0
    ticks = [(low + (high - low) * k / 4, "%.3g" % (low + (high - low) * k / 4)) for k in range(5)]
    return _plot(lines, (low, high), ticks, caption, "step", [])


def _log(value):
    return math.log10(min(max(float(value), FLOOR), 1e6)) if not math.isnan(value) else 6.0


def _every(low, high):
    """Whole numbers from `high` down, at most seven, none too near to the bottom."""
    step = max(1, int(math.ceil((high - low) / 6.0)))
    return [k for k in range(high, low - 1, -step) if k == low or k - low > step / 2.0 or step == 1]


def _plot(lines, span, ticks, caption, x_name, marks):
    low, high = span
    longest = max([len(line.values) for line in lines] + [2])

    def x(step):
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * step / float(longest - 1)

    def y(value):
        value = min(max(value, low), high)
        return HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * (value - low) / float(high - low or 1)

    parts = ['<svg viewBox="0 0 %d %d" role="img" aria-label="%s">' % (WIDTH, HEIGHT, html.escape(caption, True))]
    for value, text in ticks:
        parts.append('<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>' % (_LEFT, WIDTH - _RIGHT, y(value), y(value)))
        parts.append('<text x="%d" y="%.1f" text-anchor="end">%s</text>' % (_LEFT - 6, y(value) + 4, html.escape(text)))
    stride = max(1, int(math.ceil((longest - 1) / 10.0)))
    for step in range(0, longest, stride):
        parts.append('<text x="%.1f" y="%d" text-anchor="middle">%d</text>' % (x(step), HEIGHT - _BOTTOM + 20, step))
    parts.append('<text x="%d" y="%d" text-anchor="end">%s</text>' % (WIDTH - _RIGHT, HEIGHT - 4, x_name))
    for value, text in marks:
        parts.append('<line class="mark" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>' % (_LEFT, WIDTH - _RIGHT, y(value), y(value)))
        parts.append('<text x="%d" y="%.1f" text-anchor="end">%s</text>' % (WIDTH - _RIGHT - 4, y(value) - 4, text))
    for points, colour, title in _distinct(lines, x, y):
        parts.append(
            '<polyline class="line k%d" points="%s"><title>%s</title></polyline>' % (colour, points, html.escape(title))
        )
    return "".join(parts) + "</svg>"


def _distinct(lines, x, y):
    """(points, colour, title): lines that look alike are drawn once, with all their titles."""
    found = {}
    for line in lines:
        points = " ".join("%.1f,%.1f" % (x(i), y(v)) for i, v in enumerate(line.values) if math.isfinite(v))
        found.setdefault((points, line.colour), []).append(line.title)
    return [(points, colour, ", ".join(titles)) for (points, colour), titles in found.items()]
