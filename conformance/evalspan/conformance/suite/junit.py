"""A report as JUnit XML: a suite for each backend, a case for each requirement."""

from __future__ import annotations

from xml.etree import ElementTree

from evalspan.conformance.suite.report import Report

__all__ = ["junit_xml"]


def junit_xml(report: Report) -> bytes:
    """The document. What is unsupported is `skipped` with its reason, and so is a failure that a baseline lists."""
    root = ElementTree.Element("testsuites", name="evalspan conformance")
    statements = {row.id: row.statement for row in report.requirements}
    for name, column in report.backends.items():
        skipped = column.count("unsupported") + column.count("fail") - len(column.regressions)
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=_text(name),
            tests=str(len(column.outcomes)),
            failures=str(len(column.regressions)),
            errors="0",
            skipped=str(skipped),
            time=f"{sum(cell.seconds for cell in column.outcomes.values()):.3f}",
        )
        for requirement, cell in column.outcomes.items():
            case = ElementTree.SubElement(
                suite,
                "testcase",
                classname=_text(f"evalspan.conformance.{name}"),
                name=_text(f"{requirement} {statements[requirement]}"),
                time=f"{cell.seconds:.3f}",
            )
            if cell.status == "unsupported":
                ElementTree.SubElement(case, "skipped", message=_text(cell.detail))
            elif cell.status == "fail" and requirement in column.known:
                ElementTree.SubElement(case, "skipped", message=_text(f"known: {column.known[requirement]}"))
            elif cell.status == "fail":
                failure = ElementTree.SubElement(case, "failure", message=_text(cell.detail.partition("\n")[0]))
                failure.text = _text(cell.detail)
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _text(text: str) -> str:
    """The text without what XML 1.0 cannot hold."""
    return "".join(
        c if c in "\t\n" or (c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff") else "\ufffd"
        for c in text
    )
