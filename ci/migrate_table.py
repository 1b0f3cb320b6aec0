"""Runs the migrator over a table of public classes, and their old code beside the new rule where it can run.

The table is tab-separated with the columns package_or_repo, version_or_commit, file and class; the sources lie
in FOLDER/<package>==<version>/, unpacked, such as ``pip download --no-deps`` brings them. Nothing of them enters
this project. Prints one row a class: converted, notes or refused, the verified difference, the reason.

    python ci/migrate_table.py classes.tsv FOLDER --python .../tf2.10/bin/python --python .../tf2.15/bin/python
"""

import argparse
import collections
import csv
import glob
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from compat_opt.codemod.migrate import migrate_class  # noqa: E402
from compat_opt.codemod.module import Module  # noqa: E402
from compat_opt.testing.migration.verify import job_of, verify_all  # noqa: E402


def find(folder, row):
    """The source file of a row, or None."""
    root = os.path.join(folder, "%s==%s" % (row["package_or_repo"], row["version_or_commit"]))
    found = glob.glob(os.path.join(root, row["file"])) + glob.glob(os.path.join(root, "*", row["file"]))
    return found[0] if found else None


def migrated(row, path):
    """(outcome, reason, what the worker is given or None)."""
    try:
        with open(path, encoding="utf-8") as stream:
            module = Module(stream.read(), path)
    except SyntaxError as error:
        return "refused", "no Python: %s" % error, None
    name = row["class"]
    if name.endswith("()"):  # the class that a function makes
        inside = [key for key, found in module.classes.items() if found.enclosing and found.enclosing.name == name[:-2]]
        name = inside[0] if inside else name
    if name not in module.classes:
        return "refused", "the file has no class of that name: it is made by a function", None
    result = migrate_class(module, name)
    if not result.text:
        return result.outcome, result.reason, None
    style = {"none": "optimizer_v2"}.get(module.style(name), module.style(name))
    return result.outcome, result.reason, job_of(path, name, style, result.text, result.hypers, result.beneath)


def words_of(found):
    """The column of the table that says how far old and new are apart."""
    if "error" in found:
        return "not run: " + found["error"]
    cases = [case for case in found["cases"] if "difference" in case]
    words = "%.1e%s" % (found["largest"], "" if found["within"] else " DIFFERS")
    sparse = (found.get("sparse") or {}).get("is", "-")
    return "%s in %d of %d cases, sparse %s, TF %s" % (words, len(cases), len(found["cases"]), sparse, found["tensorflow"])


def chosen(arguments):
    """``{package and version: [(row, path)]}`` of the rows whose source lies in the folder."""
    groups = collections.OrderedDict()
    with open(arguments.table) as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            path = find(arguments.folder, row)
            wanted = arguments.only in "%s==%s" % (row["package_or_repo"], row["version_or_commit"])
            if path and wanted and row.get("convertible", "").startswith(arguments.convertible):
                groups.setdefault((row["package_or_repo"], row["version_or_commit"]), []).append((row, path))
    return groups


def main():
    """Print the table and its sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("folder")
    parser.add_argument("--python", action="append", default=[], help="an interpreter in which old classes may run")
    parser.add_argument("--path", action="append", default=[], help="a folder with what the packages import")
    parser.add_argument("--only", default="", help="packages whose name==version has this in it")
    parser.add_argument("--convertible", default="", help="rows whose column `convertible` starts so, e.g. yes")
    arguments = parser.parse_args()
    sums = collections.Counter()
    for package, rows in chosen(arguments).items():
        made = [migrated(row, path) for row, path in rows]
        verified = {}
        if arguments.python:  # one process a package: its classes share what it imports
            places = [i for i, (_, _, job) in enumerate(made) if job is not None]
            found = verify_all([made[i][2] for i in places], arguments.python, arguments.path)
            verified = dict(zip(places, map(words_of, found)))
        for i, ((row, _), (outcome, reason, _)) in enumerate(zip(rows, made)):
            words = verified.get(i, "-")
            sums[outcome] += 1
            sums["verified"] += words[:1].isdigit()
            sums["differs"] += "DIFFERS" in words
            name = "%s %s %s" % (package + (row["class"],))
            print("\t".join([outcome, name, row.get("convertible", "-"), words.replace("\n", " "), reason]), flush=True)
    print("  ".join("%s %d" % item for item in sorted(sums.items())))


if __name__ == "__main__":
    main()
