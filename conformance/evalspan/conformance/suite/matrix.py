"""The matrix for people: requirements down, backends across; what failed and what could not be asked is said below."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from evalspan.conformance.suite.report import Column, Report, differences

__all__ = ["print_matrix", "word"]

_STATEMENT = 84
"""Columns of text for a statement where the output is no terminal: nearly all are on one line."""

_STYLES = {"pass": "green", "known": "yellow", "FAIL": "bold red", "-": "dim"}


def word(column: Column, requirement: str) -> str:
    """What stands in a cell: `pass`, `FAIL`, `known` (fails, as the baseline says), `-` (unsupported)."""
    status = column.outcomes[requirement].status
    if status == "fail":
        return "known" if requirement in column.known else "FAIL"
    return "pass" if status == "pass" else "-"


def print_matrix(report: Report, console: Console | None = None) -> None:
    """Print the matrix, then what needs words."""
    console = console or Console(highlight=False)
    heads = [name.replace(":", ":\n") for name in report.backends]
    if not console.is_terminal:
        ids = max(len(row.id) for row in report.requirements)
        console.width = ids + _STATEMENT + sum(2 + max(map(len, head.split("\n"))) for head in heads) + 4
    table = Table(box=None, padding=(0, 1), header_style="bold")
    table.add_column("requirement", no_wrap=True)
    table.add_column("what must hold", min_width=_STATEMENT // 2)
    for head in heads:
        table.add_column(escape(head), no_wrap=True)
    for row in report.requirements:
        cells = (word(column, row.id) for column in report.backends.values())
        table.add_row(row.id, escape(row.statement), *(f"[{_STYLES[cell]}]{cell}[/]" for cell in cells))
    console.print(table)
    for name, column in report.backends.items():
        console.print()
        console.print(f"{name}: {_counts(column)}; {column.model}", markup=False)
        for line in _notes(column):
            console.print(line, markup=False)
    for difference in differences(report):
        console.print(f"DIFFERENT {difference}", markup=False)


def _counts(column: Column) -> str:
    failed = column.count("fail")
    known = failed - len(column.regressions)
    told = f" ({known} known)" if known else ""
    return f"{column.count('pass')} passed, {failed} failed{told}, {column.count('unsupported')} unsupported"


def _notes(column: Column) -> Iterator[str]:
    for name in column.regressions:
        yield f"  FAIL {name}: {column.outcomes[name].detail}"
    for name, reason in column.known.items():
        if name in column.improvements:
            yield f"  IMPROVED {name} holds now; the baseline says: {reason}"
        elif column.outcomes[name].status == "fail":
            yield f"  known {name}: {reason}"
    reasons: dict[str, list[str]] = {}
    for name, cell in column.outcomes.items():
        if cell.status == "unsupported":
            reasons.setdefault(cell.detail, []).append(name)
    for reason, names in reasons.items():
        yield f"  unsupported, {reason}: {', '.join(names)}"
