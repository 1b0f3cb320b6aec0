"""The only place that edits text: by tokens, so that everything else keeps its form.

Positions are (line from 1, column in characters), as ``tokenize`` gives them; ends of nodes are found by tokens,
since Python 3.7 does not know them.
"""

import collections
import io
import token as kinds
import tokenize

#: Text between two positions, and what stands there afterwards.
Edit = collections.namedtuple("Edit", "start end text")

_QUIET = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


class Source:
    """A text and its tokens."""

    def __init__(self, text):
        self.text = text
        self.lines = io.StringIO(text, newline="").readlines()  # splitlines() ends lines at form feeds too
        self.tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
        self._at = {t.start: i for i, t in enumerate(self.tokens) if t.type not in _QUIET}

    def position(self, node):
        """Where a node starts: ast counts bytes, tokens count characters."""
        line = self.lines[node.lineno - 1].encode()
        return node.lineno, len(line[: node.col_offset].decode())

    def indentation(self, node):
        """The white space at the start of the line on which a node starts."""
        line = self.lines[node.lineno - 1]
        return line[: len(line) - len(line.lstrip())]

    def index(self, node):
        """The number of the token with which a node starts."""
        return self._at[self.position(node)]

    def find(self, start, text):
        """The number of the next token with this text, from token number `start`."""
        for i in range(start, len(self.tokens)):
            if self.tokens[i].string == text:
                return i
        raise ValueError("no %r" % text)

    def closing(self, opening):
        """The number of the bracket that closes the one at token number `opening`."""
        depth = 0
        for i in range(opening, len(self.tokens)):
            if self.tokens[i].type == kinds.OP and self.tokens[i].string in "([{":
                depth += 1
            elif self.tokens[i].type == kinds.OP and self.tokens[i].string in ")]}":
                depth -= 1
                if depth == 0:
                    return i
        raise ValueError("no closing bracket")

    def arguments(self, call):
        """``[(first token, token after the last)]`` of the arguments of a call, in order."""
        opening = self._opening(call)
        end = self.closing(opening)
        spans, start, depth = [], opening + 1, 0
        for i in range(opening + 1, end + 1):
            string = self.tokens[i].string
            if i == end or (string == "," and depth == 0):
                inner = [j for j in range(start, i) if self.tokens[j].type not in _QUIET]
                if inner:
                    spans.append((inner[0], inner[-1] + 1))
                start = i + 1
            elif self.tokens[i].type == kinds.OP and string in "([{":
                depth += 1
            elif self.tokens[i].type == kinds.OP and string in ")]}":
                depth -= 1
        return spans

    def _opening(self, call):
        """The parenthesis that opens a call's arguments: the one after its function."""
        i = self.index(call.func)
        if self.tokens[i].string in "([{":
            i = self.closing(i) + 1
        while self.tokens[i].string != "(":
            i += 1
        return i

    def keyword(self, call, name):
        """The (first, after the last) tokens of ``name=value`` in a call, or None."""
        for first, end in self.arguments(call):
            if self.tokens[first].string == name and self.tokens[first + 1].string == "=":
                return first, end
        return None

    def string(self, first, end):
        """The text from token number `first` up to before `end`."""
        return self.between(self.tokens[first].start, self.tokens[end - 1].end)

    def between(self, start, end):
        """The text between two positions."""
        if start[0] == end[0]:
            return self.lines[start[0] - 1][start[1] : end[1]]
        middle = self.lines[start[0] : end[0] - 1]
        return self.lines[start[0] - 1][start[1] :] + "".join(middle) + self.lines[end[0] - 1][: end[1]]

    def replace(self, first, end, text):
        """An edit of the tokens from `first` up to before `end`."""
        return Edit(self.tokens[first].start, self.tokens[end - 1].end, text)

    def without_argument(self, call, name):
        """An edit that takes ``name=value`` and its comma out of a call."""
        spans = self.arguments(call)
        place = self.keyword(call, name)
        number = spans.index(place)
        if number > 0:
            before = self.tokens[spans[number - 1][1] - 1].end
            between = self.between(before, self.tokens[place[0]].start)
            kept = between.replace(",", "", 1) if "#" in between else ""
            return Edit(before, self.tokens[place[1] - 1].end, kept)
        if len(spans) > 1:
            return Edit(self.tokens[place[0]].start, self.tokens[spans[1][0]].start, "")
        return self.replace(place[0], place[1], "")

    def end_of_block(self, node):
        """The last line of a class or function."""
        i, depth, last = self.index(node), 0, node.lineno
        opened = False
        for t in self.tokens[i:]:
            if t.type == tokenize.INDENT:
                depth, opened = depth + 1, True
            elif t.type == tokenize.DEDENT:
                depth -= 1
                if opened and depth <= 0:
                    return last
            elif t.type == tokenize.NEWLINE:
                last = t.end[0]
                if not opened and depth == 0 and t.line.rstrip() and not t.line.rstrip().endswith(":"):
                    return last
        return last


def edited(text, edits):
    """`text` after the edits; one that overlaps an earlier one is left out."""
    source = Source(text) if not isinstance(text, Source) else text
    lines = list(source.lines)
    done = (len(lines) + 1, 0)
    for edit in sorted(set(edits), key=lambda e: (e.start, e.end), reverse=True):
        if edit.end > done:
            continue
        done = edit.start
        (first, left), (last, right) = edit.start, edit.end
        tail = lines[last - 1][right:] if last <= len(lines) else ""
        lines[first - 1 : last] = [lines[first - 1][:left] + edit.text + tail]
    return "".join(lines)
