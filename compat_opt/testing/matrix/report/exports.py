"""The results for programs: JSON and JUnit XML."""

import math
import xml.etree.ElementTree as ElementTree

from compat_opt.testing.matrix.cache import write_json


def number(value):
    """A number for JSON, which has no infinity: None then, and where there is none."""
    return None if value is None or not math.isfinite(value) else float(value)


def cell_dict(row, analysis):
    """One cell as plain JSON.

    ``max_difference`` is the larger of ``distance_to_reference`` and ``distance_to_cells``, each the
    largest of all runs; None where there is nothing to compare, or where it is infinite
    (``finite`` is then False). ``groups`` is {run: labels of the cells that agree with this one}.
    """
    distances = [value for value in (row.to_reference, row.to_cells) if value is not None]
    largest = max(distances) if distances else None
    result = row.result
    return {
        "tf": row.cell.release.name,
        "target": row.target,
        "label": row.label,
        "status": row.status,
        "message": result.get("message", ""),
        "laws": result.get("laws") or {},
        "max_difference": number(largest),
        "finite": largest is None or math.isfinite(largest),
        "distance_to_reference": number(row.to_reference),
        "distance_to_cells": number(row.to_cells),
        "groups": analysis.companions(row),
        "group": dict(row.letters),
        "baseline": row.baseline._asdict() if row.baseline else None,
        "times": result.get("times") or {},
        "metrics": result.get("metrics") or {},
        "environment": result.get("environment") or {},
        "dtype": result.get("dtype"),
        "seconds": result.get("seconds"),
        "reused": row.reused,
    }


def write(path, run, analysis):
    """Write the JSON file: a list of cells."""
    write_json(path, [cell_dict(row, analysis) for row in run.rows])


def write_junit(path, run, analysis):
    """Write JUnit XML: a test suite a cell, a test case a law; a cell that could not run is an error."""
    root = ElementTree.Element("testsuites", name="compat-opt matrix %s" % run.subject.title)
    for row in run.rows:
        laws = row.result.get("laws") or {}
        suite = ElementTree.SubElement(root, "testsuite", name=row.label, tests=str(1 + len(laws)))
        counts = {"failures": 0, "errors": 0, "skipped": 0}
        case = ElementTree.SubElement(suite, "testcase", classname=row.label, name="cell")
        case.set("time", str(row.result.get("seconds", 0)))
        if row.status not in ("passed", "failed"):
            counts["skipped" if row.status == "absent" else "errors"] += 1
            kind = "skipped" if row.status == "absent" else "error"
            ElementTree.SubElement(case, kind, message="%s: %s" % (row.status, row.result.get("message", "")))
        elif row.baseline and row.baseline.status != "same":
            counts["failures"] += 1
            ElementTree.SubElement(case, "failure", message="baseline: %s" % row.baseline.text)
        for name, law in laws.items():
            case = ElementTree.SubElement(suite, "testcase", classname=row.label, name=name)
            case.set("time", str(law.get("seconds", 0)))
            if law["status"] == "broken":
                counts["failures"] += 1
                ElementTree.SubElement(case, "failure", message=law["detail"])
            elif law["status"] != "kept":
                counts["skipped"] += 1
                ElementTree.SubElement(case, "skipped", message=law["detail"])
        for key, value in counts.items():
            suite.set(key, str(value))
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
