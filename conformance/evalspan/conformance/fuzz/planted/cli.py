"""`evalspan fuzz --planted`: the fuzzer measured with faults that are known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click

from evalspan.conformance.fuzz.errors import FuzzError
from evalspan.conformance.fuzz.files import write_whole
from evalspan.conformance.fuzz.findings import Finding
from evalspan.conformance.fuzz.planted.bugs import bugs
from evalspan.conformance.fuzz.planted.run import Caught, caught

__all__ = ["run_planted"]


def run_planted(name: str | None, seconds: float, seed: int, report: Path | None, corpus: Path | None = None) -> int:
    """Look for each planted bug, or for those of one name or operator; the status is 1 if one is not found in time.

    What was found is saved into `corpus`, in a folder of the operator, as a finding that a sound module must not have.

    Raises:
        FuzzError: there is no such bug, or it cannot be built.
    """
    chosen = [bug for bug in bugs() if name in (None, bug.name, bug.operator)]
    if not chosen:
        raise FuzzError(f"there is no planted bug {name!r}; there are {', '.join(bug.name for bug in bugs())}")
    rows: list[Caught] = []
    quiet = str(report) == "-"
    if not quiet:
        click.echo(f"{'bug':20} {'operator':11} {'oracle':18} {'CPU s':>8} {'inputs':>8}  input")
    for bug in chosen:
        row = caught(bug, seconds, seed)
        rows.append(row)
        if corpus is not None and row.finding is not None:
            _keep(corpus, row, row.finding)
        if not quiet:
            _show(row)
    missed = [row for row in rows if row.finding is None]
    text = json.dumps({"seed": seed, "seconds": seconds, "rows": [row.as_json() for row in rows]}, indent=2) + "\n"
    if quiet:
        click.echo(text, nl=False)
    elif report is not None:
        write_whole(report, text.encode())
    if not quiet:
        click.echo(f"{len(rows) - len(missed)} of {len(rows)} found within {seconds:g} s of one core each")
    return 1 if missed else 0


def _keep(corpus: Path, row: Caught, finding: Finding) -> None:
    """Save a finding as one of the operator: the module that had it is gone."""
    table = replace(finding, target=row.bug.operator, detail=f"{row.bug.fault}: {finding.detail}").as_json()
    text = json.dumps(table, indent=2, ensure_ascii=True) + "\n"
    write_whole(corpus / row.bug.operator / f"planted-{row.bug.name}.json", text.encode())


def _show(row: Caught) -> None:
    found = row.finding
    oracle = "NOT FOUND" if found is None else found.oracle
    data = "" if found is None else repr(found.sample.data)[1:60]
    click.echo(f"{row.bug.name:20} {row.bug.operator:11} {oracle:18} {row.seconds:8.2f} {row.inputs:8}  {data}")
