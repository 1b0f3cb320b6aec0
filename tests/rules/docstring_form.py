"""Reads a rule's docstring: the form that STYLE asks of each, as data."""

import ast
import collections
import re

SECTIONS = ("Args", "Slots", "Differs from", "Source")

Form = collections.namedtuple("Form", "summary recurrence arguments slots differs source")


def parse(text):
    """The docstring's parts; AssertionError says what is missing.

    `arguments` is {name: (default, whose)}, `slots` {name: text}, `differs` {from: text}.
    """
    lines = text.split("\n")
    summary = lines[0]
    assert re.match(r"^[A-Z][\w-]*: \S.*\.$", summary), "one line, 'Name: what it does.': %r" % summary
    assert len(lines) > 2 and not lines[1].strip(), "an empty line after the first"
    parts, current = collections.OrderedDict([("recurrence", [])]), "recurrence"
    for line in lines[2:]:
        title = line.rstrip(":")
        if line.endswith(":") and title in SECTIONS:
            current = title
            parts[current] = []
        else:
            parts[current].append(line)
    assert tuple(parts)[1:] == SECTIONS, "sections in this order: %s; has %s" % (SECTIONS, tuple(parts)[1:])
    recurrence = "\n".join(parts["recurrence"]).strip()
    assert "=" in recurrence, "the recurrence"
    return Form(
        summary,
        recurrence,
        {name: _default(name, text) for name, text in _entries(parts["Args"]).items()},
        _entries(parts["Slots"]),
        _entries(parts["Differs from"]),
        _source(parts["Source"]),
    )


def _entries(lines):
    """{name: text} of ``    name: text`` lines with deeper continuation lines."""
    found, name = collections.OrderedDict(), None
    for line in lines:
        if not line.strip():
            continue
        start = re.match(r"^    (\S[^:]*): (.*)$", line)
        if start:
            name = start.group(1)
            assert name not in found, "%s twice" % name
            found[name] = start.group(2)
        else:
            assert name and line.startswith("        "), "an entry, or its continuation: %r" % line
            found[name] += " " + line.strip()
    assert found, "at least one entry"
    for name, text in found.items():
        assert text.strip().endswith("."), "%s ends with a full stop" % name
    return found


def _default(name, text):
    match = re.search(r"Default (\S+) \(([^()]+)\)\.$", text)
    assert match, "%s says 'Default <value> (<whose>).': %r" % (name, text)
    return ast.literal_eval(match.group(1)), match.group(2)


def _source(lines):
    text = " ".join(line.strip() for line in lines if line.strip())
    assert re.search(r"\b(19|20)\d\d\b", text), "a year"
    assert re.search(r"https?://\S+", text), "a link"
    assert '"' in text, "a quoted title"
    return text
