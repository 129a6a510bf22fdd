"""A report as one HTML page that needs nothing else."""

from __future__ import annotations

from html import escape

from evalspan.conformance.suite.matrix import word
from evalspan.conformance.suite.report import Column, Report, differences

__all__ = ["html_page"]

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em; color: #1b1f24; background: #fff }
table { border-collapse: collapse } th, td { padding: .25em .7em; text-align: left; border-bottom: 1px solid #d0d7de }
th { position: sticky; top: 0; background: #fff } code { white-space: nowrap }
td.pass { color: #116329 } td.FAIL { color: #fff; background: #a40e26; font-weight: bold } td.known { color: #7d4e00 }
td.none { color: #6e7781 } li { margin: .3em 0; overflow-wrap: anywhere }
"""


def html_page(report: Report) -> str:
    """The page. Everything that comes from a run is escaped; there is no script in it."""
    heads = "".join(f"<th>{escape(name)}</th>" for name in report.backends)
    rows = "\n".join(
        f"<tr><td><code>{escape(row.id)}</code></td><td>{escape(row.statement)}</td>"
        + "".join(_cell(column, row.id) for column in report.backends.values())
        + "</tr>"
        for row in report.requirements
    )
    notes = "\n".join(_notes(name, column) for name, column in report.backends.items())
    different = "".join(f"<li>{escape(str(one))}</li>" for one in differences(report))
    apart = f"<h2>Backends that differ</h2><ul>{different}</ul>" if different else ""
    return f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>evalspan conformance</title><style>{_STYLE}</style></head>
<body>
<h1>evalspan {escape(report.evalspan)}: conformance</h1>
<table>
<thead><tr><th>requirement</th><th>what must hold</th>{heads}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
{apart}
{notes}
</body>
</html>
"""


def _cell(column: Column, requirement: str) -> str:
    cell = column.outcomes[requirement]
    said = word(column, requirement)
    title = f' title="{escape(cell.detail)}"' if cell.detail else ""
    return f'<td class="{"none" if said == "-" else said}"{title}>{said}</td>'


def _notes(name: str, column: Column) -> str:
    lines = [
        f"<li><code>{escape(requirement)}</code> {word(column, requirement)}: "
        f"{escape(column.known.get(requirement) or cell.detail)}</li>"
        for requirement, cell in column.outcomes.items()
        if cell.status != "pass"
    ]
    counts = ", ".join(f"{column.count(status)} {status}" for status in ("pass", "fail", "unsupported"))
    return f"<h2>{escape(name)}</h2>\n<p>{escape(column.model)}: {counts}</p>\n<ul>\n{chr(10).join(lines)}\n</ul>"
