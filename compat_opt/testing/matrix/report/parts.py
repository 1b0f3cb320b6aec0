"""Pieces that the report's parts share."""

import html

from compat_opt.testing.matrix.report import svg

_PLOTTED = {
    True: "Distance of each cell to the NumPy reference, as a part of the way moved",
    False: "Distance of each cell to the first cell, as a part of the way moved",
}


def escape(text):
    """Text for HTML, also in attributes."""
    return html.escape(str(text), quote=True)


def breakable(text):
    """Text for HTML that a narrow column may break after its separators."""
    return "".join(escape(c) + ("<wbr>" if c in ".:_-" and not text[i + 1 : i + 2].isdigit() else "") for i, c in enumerate(text))


def letter_badge(row, run):
    """The coloured letter of a row's group in a run."""
    letter = row.letters.get(run)
    if letter is None:
        return '<span class="soft">·</span>'
    return '<span class="g g%d" title="%s">%s</span>' % (colour(letter), escape(run), letter)


def colour(letter):
    """The number of a group's colour; there are eight."""
    number = 0
    for character in letter:
        number = number * 26 + ord(character) - ord("A") + 1
    return (number - 1) % 8


def plot(analysis, run, rows):
    """Distance against step for rows, or "" without any."""
    if not rows:
        return ""
    lines = [svg.Line(row.curves[run], colour(row.letters[run]), row.label) for row in rows]
    caption = _PLOTTED[analysis.is_rule and any("reference." + run in row.traces for row in rows)]
    drawn = svg.distance_plot(lines, analysis.tolerance(*rows), "%s, run %s" % (caption, run))
    return "<figure>%s<figcaption>%s.</figcaption></figure>" % (drawn, escape(caption))
