"""Markdown of what benchmarks/run.py wrote: a row a workload, a column a target.

    python benchmarks/table.py FILE.json ... > table.md
"""

import json
import sys

#: The workload whose first step and graph have rows of their own.
TRACED = "Adam, 300 x 1k, graph"

#: Over the columns: what is installed, the target.
HEAD = {"tensorflow": "TF %s", "jax": "JAX", "torch": "torch"}


def main():
    columns, rows, cells = [], [], {}

    def fill(row, column, text):
        if row not in rows:
            rows.append(row)
        cells[row, column] = text

    for path in sys.argv[1:]:
        with open(path) as file:
            records = json.load(file)
        for record in records:
            where = HEAD[record["backend"]]
            if "%s" in where:
                where %= ".".join(record["tensorflow"].split(".")[:2])
            column = "%s %s" % (where, record["target"])
            if column not in columns:
                columns.append(column)
            low, high = record["ratio_quartiles"]
            spread = "" if low == high else " (%.2f-%.2f)" % (low, high)
            star = "" if record["against"] == "native" else "*"
            fill(record["workload"], column, "%.2f%s%s" % (record["ratio"], star, spread))
            if record["workload"] == TRACED:
                for row, key in (("its first step, with tracing", "first_step_seconds"), ("its graph's nodes", "nodes")):
                    ours, other = (record[key][label] for label in ("compat_opt", record["against"]))
                    fill(row, column, "%.2f" % (ours / other) if other else "")
    print("| workload | %s |" % " | ".join("%s `%s`" % tuple(c.rsplit(" ", 1)) for c in columns))
    print("|---" * (len(columns) + 1) + "|")
    for row in rows:
        print("| %s | %s |" % (row, " | ".join(cells.get((row, column), "") for column in columns)))


if __name__ == "__main__":
    main()
