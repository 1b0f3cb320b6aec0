"""docs/export.md shows what the command prints; run as a script, this file writes it there."""

import re
import shlex
from pathlib import Path

from compat_opt.cli.export import find_rule, read_settings
from compat_opt.export import export_rule

PATH = Path(__file__).resolve().parents[2] / "docs" / "export.md"
SHOWN = re.compile(r"^`compat-opt export ([^`]*)`\n\n```python\n(.*?)```$", re.M | re.S)


def printed(command):
    """The output of ``compat-opt export <command>``."""
    words = shlex.split(command)
    rule = find_rule(words[0])
    settings = read_settings(rule, words[words.index("--set") + 1 :] if "--set" in words else [])
    return export_rule(rule, words[words.index("--target") + 1], settings)


def written(text):
    """The document with every shown file as the command prints it now."""
    return SHOWN.sub(lambda m: "`compat-opt export %s`\n\n```python\n%s```" % (m.group(1), printed(m.group(1))), text)


def test_the_document_shows_what_the_command_prints():
    text = PATH.read_text(encoding="utf-8")
    assert len(SHOWN.findall(text)) == 3
    assert written(text) == text


if __name__ == "__main__":
    PATH.write_text(written(PATH.read_text(encoding="utf-8")), encoding="utf-8")
