"""Reports of the suite: merged, as JUnit XML, as HTML; and what is no report."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from evalspan.conformance.cli import conformance
from evalspan.conformance.suite.baseline import SuiteError
from evalspan.conformance.suite.junit import junit_xml
from evalspan.conformance.suite.page import html_page
from evalspan.conformance.suite.report import Cell, Column, Report, Row, differences, merged, read_report

HOSTILE = '<script>alert("1")</script> & \x00\x1b \ud800 "quoted" ]]>'


def column(status: Any = "pass", *, detail: str = "", fuel: int = 7, vocabulary: str = "v", **more: Any) -> Column:
    observed = {
        "calc": {"input": "1+1", "value": "2", "block": "<r>2</r>", "fuel": fuel, "tokens": more.pop("tokens", [1])}
    }
    cells = {"EVS-A-01": Cell(status=status, detail=detail, seconds=0.5), "EVS-A-02": Cell(status="pass")}
    return Column(model="m", level="step", vocabulary=vocabulary, outcomes=cells, observed=observed, **more)


def report(**columns: Column) -> Report:
    rows = (Row(id="EVS-A-01", statement="something <holds>"), Row(id="EVS-A-02", statement="another thing"))
    return Report(evalspan="0.1.0", requirements=rows, backends=columns)


def written(path: Path, value: Report) -> Path:
    path.write_text(json.dumps(value.as_json()))
    return path


def test_reports_of_several_environments_are_one(tmp_path: Path) -> None:
    one = written(tmp_path / "one.json", report(first=column()))
    other = written(tmp_path / "other.json", report(second=column("unsupported", detail="it has none")))
    whole = tmp_path / "whole.json"
    result = CliRunner().invoke(
        conformance, ["merge", str(one), str(other), "--json", str(whole)], standalone_mode=False
    )
    assert result.return_value == 0
    assert "first" in result.stdout and "second" in result.stdout
    assert "unsupported, it has none: EVS-A-01" in result.stdout
    summary = json.loads(whole.read_text())["summary"]
    assert summary["second"] == {"passed": 1, "failed": 0, "unsupported": 1}
    assert read_report(whole).backends.keys() == {"first", "second"}


def test_a_regression_in_a_merged_report_fails(tmp_path: Path) -> None:
    path = written(tmp_path / "one.json", report(first=column("fail", detail="seen")))
    result = CliRunner().invoke(conformance, ["merge", str(path)], standalone_mode=False)
    assert result.return_value == 1
    assert "FAIL EVS-A-01: seen" in result.stdout


def test_backends_that_answer_one_script_differently_are_named() -> None:
    assert not differences(report(first=column(), second=column()))
    found = differences(report(first=column(), second=column(fuel=8)))
    assert [str(one) for one in found] == ["fuel of calc: 7 on first, 8 on second"]
    assert not report(first=column(), second=column(fuel=8)).passed


def test_ids_are_compared_where_vocabularies_are_the_same() -> None:
    assert differences(report(first=column(), second=column(tokens=[2])))
    assert not differences(report(first=column(), second=column(tokens=[2], vocabulary="w")))
    assert not differences(report(first=column(), second=column(tokens=[]))), "one that shows none has none to compare"


def test_the_same_backend_twice_and_other_requirements_are_refused() -> None:
    with pytest.raises(SuiteError, match="in another report too"):
        merged([("a", report(first=column())), ("b", report(first=column()))])
    other = Report(evalspan="0.1.0", requirements=(Row(id="EVS-B-01", statement="else"),), backends={})
    with pytest.raises(SuiteError, match="other requirements"):
        merged([("a", report(first=column())), ("b", other)])


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value.pop("summary"),
        lambda value: value["backends"]["first"]["outcomes"].pop("EVS-A-01"),
        lambda value: value["backends"]["first"]["outcomes"]["EVS-A-01"].update(status="fine"),
        lambda value: value["backends"]["first"].update(known={"EVS-Z-01": "why"}),
        lambda value: value.update(more=1),
    ],
)
def test_what_is_no_report_is_refused(tmp_path: Path, change: Any) -> None:
    value = report(first=column()).as_json()
    change(value)
    path = tmp_path / "one.json"
    path.write_text(json.dumps(value))
    with pytest.raises(SuiteError, match=r"one\.json"):
        read_report(path)
    path.write_bytes(b"\xff{")
    with pytest.raises(SuiteError, match="is no report"):
        read_report(path)
    with pytest.raises(SuiteError, match="cannot be read"):
        read_report(tmp_path / "none.json")


def test_junit_has_a_case_for_each_requirement_and_holds_any_text() -> None:
    value = report(
        first=column("fail", detail=f"{HOSTILE}\nsecond line"),
        second=column("unsupported", detail="why"),
        third=column("fail", detail="old", known={"EVS-A-01": "known for long"}),
    )
    root = ElementTree.fromstring(junit_xml(value))  # noqa: S314  it is our own
    assert root.tag == "testsuites"
    suites = {suite.get("name"): suite for suite in root}
    assert {
        name: (s.get("tests"), s.get("failures"), s.get("errors"), s.get("skipped")) for name, s in suites.items()
    } == {
        "first": ("2", "1", "0", "0"),
        "second": ("2", "0", "0", "1"),
        "third": ("2", "0", "0", "1"),
    }
    failure = suites["first"].find("testcase/failure")
    assert failure is not None and failure.text is not None
    assert '<script>alert("1")</script>' in failure.text and "second line" in failure.text
    assert failure.get("message", "").startswith("<script>")
    for suite in root:
        for case in suite:
            assert set(case.attrib) == {"classname", "name", "time"}
            assert [child.tag for child in case] in ([], ["failure"], ["skipped"])


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]


def test_the_page_is_one_file_without_scripts_and_escapes_all_of_a_run() -> None:
    value = report(**{'<img src="x">': column("fail", detail=HOSTILE)})
    page = html_page(value)
    reader = _Tags()
    reader.feed(page)
    assert {"script", "img", "link", "iframe"}.isdisjoint(reader.tags)
    assert {"src", "href", "onload"}.isdisjoint(reader.attributes)
    assert "&lt;script&gt;" in page and "something &lt;holds&gt;" in page


def test_files_that_cannot_be_written_are_errors(tmp_path: Path) -> None:
    path = written(tmp_path / "one.json", report(first=column()))
    for option in ("--json", "--junit", "--html"):
        arguments = ["merge", str(path), option, str(tmp_path / "none" / "x")]
        result = CliRunner().invoke(conformance, arguments)
        assert result.exit_code == 2
        assert "cannot be written" in result.output
