"""Write the support table of README.md from the results of a matrix run.

    python3 ci/run_matrix.py --json results.json
    python3 ci/support_table.py results.json

The table stands between two comments, which stay: <!-- support table: begin --> and <!-- support table: end -->.
"""

import json
import sys
from pathlib import Path

BEGIN = "<!-- support table: begin -->"
END = "<!-- support table: end -->"
HEAD = "cell|Python|TensorFlow|Keras|tf_keras|targets, the default in bold|laws passed|tests passed".split("|")


def main(results_file, readme_file="README.md"):
    readme = Path(readme_file)
    summary = json.loads(Path(results_file).read_text(encoding="utf-8"))
    text = replace_table(readme.read_text(encoding="utf-8"), make_table(summary["cells"]))
    readme.write_text(text, encoding="utf-8")


def make_table(cells):
    """A markdown table, one line a cell; a cell that did not pass says so in place of its counts."""
    lines = [HEAD, ["---"] * len(HEAD)] + [make_line(cell) for cell in cells]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def make_line(cell):
    versions = [cell.get(name, "-") for name in ("python", "tensorflow", "keras", "tf_keras")]
    if cell["status"] != "passed":
        return [cell["cell"]] + versions + ["-", cell["status"], cell["status"]]
    targets = ["**{}**".format(name) if name == cell["default"] else name for name in cell["targets"]]
    counts = [str(cell["laws_passed"]), str(cell["passed"])]
    return [cell["cell"]] + versions + [", ".join(targets) or "none"] + counts


def replace_table(text, table):
    """`text` with `table` between the two comments. Raises ValueError where they are not there once, in order."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError("Expected: {} and then {}, once each, in the readme.".format(BEGIN, END))
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return "{}{}\n\n{}\n\n{}{}".format(before, BEGIN, table, END, after)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
