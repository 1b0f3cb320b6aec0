"""The table, the report, JSON and JUnit XML."""

import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import numpy as np
import pytest

from compat_opt.testing.matrix import releases
from compat_opt.testing.matrix.analysis import Row
from compat_opt.testing.matrix.plan import make_cells
from compat_opt.testing.matrix.report import exports, html, svg, text
from compat_opt.testing.matrix.run import MatrixRun, Settings
from compat_opt.testing.matrix.subjects import Subject
from matrix_fakes import passed, trace

VOID = {"meta", "line", "br", "wbr"}


class Balanced(HTMLParser):
    """Fails on a tag that is not closed; collects ids and links."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links = [], [], []

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        found = dict(attributes)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if "href" in found else []

    def handle_endtag(self, tag):
        assert tag in VOID or self.open.pop() == tag


def made_up(count=None):
    """A finished run over all cells: three groups, a broken law, a missing and a killed cell, one with NaN."""
    cells = make_cells(releases.every())
    while count and len(cells) < count:
        cells = cells + cells
    matrix = MatrixRun(Subject("tf.keras.optimizers:Nadam"), cells[:count] if count else cells, Settings())
    for number, cell in enumerate(matrix.cells):
        if number == 3:
            matrix.rows.append(Row(cell, {"status": "missing", "message": "no Python 3.8 here"}))
        elif number == 4:
            matrix.rows.append(Row(cell, {"status": "killed", "message": "SIGKILL", "log": "<last words>"}))
        else:
            broken = {"status": "broken", "detail": "step 1: <kernel> is 2, expected 1"}
            result = passed(target=cell.target)
            if number % 7 == 6:
                result["laws"] = dict(result["laws"], sparse=broken)
                result.update(status="failed", message="broken: sparse")
            values = trace(0.5 * (number % 3))
            if number == 8:
                values["var/kernel"][3:] = np.nan
            matrix.rows.append(Row(cell, result, {"dense": values, "training": dict(values, loss=np.linspace(2, 1, 4))}))
    return matrix, matrix.analysis()


@pytest.mark.parametrize("count", [2, 60])
def test_the_page_is_whole_and_needs_no_network(count):
    matrix, analysis = made_up(count)
    page = html.page(matrix, analysis)
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    assert len(parser.ids) == len(set(parser.ids))
    assert {link[1:] for link in parser.links} <= set(parser.ids), "a link leads nowhere"
    assert all(link.startswith("#") for link in parser.links)
    assert not re.search(r"(src|href)=\"?(http|//)|url\(|@import|<script", page)
    assert page.count("<details") == count and "<svg" in page and 'name="viewport"' in page
    assert len(page) < 12000 * count + 40000


def test_what_users_wrote_is_escaped():
    matrix, analysis = made_up(10)
    page = html.page(matrix, analysis)
    assert "<kernel>" not in page and "&lt;kernel&gt;" in page and "&lt;last words&gt;" in page


def test_a_failing_law_leads_to_its_explanation():
    page = html.page(*made_up(10))
    assert '<a href="#law-sparse">sparse</a> <span class="broken">broken</span>' in page
    assert '<dt id="law-sparse">' in page and "Sparse &lt;gradients&gt; act." in page


def test_a_plot_of_nothing_but_zeros_and_of_infinity():
    for values in ([0.0] * 5, [0.0, 1e-8, float("inf"), float("nan")]):
        drawn = svg.distance_plot([svg.Line(values, 0, "cell")], 1e-6, "distance")
        assert "nan" not in drawn and "inf" not in drawn and "<polyline" in drawn


def test_the_table_has_a_line_for_every_cell():
    matrix, analysis = made_up()
    lines = text.table(matrix.rows, analysis.runs()).splitlines()
    assert len(lines) == 2 + len(matrix.rows)
    assert "missing" in text.table(matrix.rows, analysis.runs())
    assert "3 groups" in text.groups(analysis) or "4 groups" in text.groups(analysis)
    assert "broken sparse: step 1" in text.problems(matrix.rows)
    assert text.clock(185) == "3:05"
    assert "1 missing" in text.summary(matrix, 5)


def test_json_is_a_list_of_cells(tmp_path):
    matrix, analysis = made_up()
    exports.write(str(tmp_path / "cells.json"), matrix, analysis)
    written = (tmp_path / "cells.json").read_text()
    cells = json.loads(written, parse_constant=lambda name: pytest.fail("%s is no JSON" % name))
    assert len(cells) == len(matrix.rows)
    for found in cells:
        assert {"tf", "target", "status", "laws", "max_difference", "groups"} <= set(found)
    assert cells[0]["label"] in cells[0]["groups"]["dense"]
    assert cells[8]["max_difference"] is None and not cells[8]["finite"]
    assert cells[3]["status"] == "missing" and cells[3]["groups"] == {}


def test_junit_counts(tmp_path):
    matrix, analysis = made_up()
    exports.write_junit(str(tmp_path / "cells.xml"), matrix, analysis)
    suites = ElementTree.parse(str(tmp_path / "cells.xml")).getroot().findall("testsuite")
    assert len(suites) == len(matrix.rows)
    assert [s.get("errors") for s in suites[3:5]] == ["1", "1"]
    assert suites[6].get("failures") == "1"
